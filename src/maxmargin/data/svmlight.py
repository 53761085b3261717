"""svmlight (LIBSVM) text to a sparse matrix, by a compiled parser over chunks of the file.

    line    = label [qid:number] {index:value} [# comment]
    value   = [+-] digits [. digits] [e [+-] digits]

A value w·10^q with w < 2⁵³ and |q| ≤ 22 is one product or quotient of numbers that float64 holds.
Else the product is formed in twice the precision, which tells on which side of the middle between
two neighbours the value lies; where it does not, Python decides. All values are those of ``float``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..runtime.jit import compiled_strict
from .sources import DataError

Bytes = NDArray[np.uint8]
Int = NDArray[Any]  # int32 or int64
Float = NDArray[np.float64]

# Bytes of text that are parsed at a time, unless a line is longer.
CHUNK = 1 << 20
# Indices are int32.
LARGEST_INDEX = 2**31 - 2
# Powers of ten in twice the precision of float64, 10^q = HIGH + LOW for |q| up to this.
FARTHEST = 60
_TENS = [Fraction(10) ** q for q in range(-FARTHEST, FARTHEST + 1)]
HIGH = np.array([float(ten) for ten in _TENS])
LOW = np.array([float(ten - Fraction(float(ten))) for ten in _TENS])

# Codes of bytes.
TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, DOT, ZERO, NINE, COLON = b"\t\n\r #+-.09:"
LETTERS, QUERY = tuple(b"eE"), tuple(b"qid:")

# How a number was read.
READ, FOR_PYTHON, BAD = range(3)
# What is wrong with a line.
FINE, BAD_LABEL, BAD_INDEX, BAD_VALUE, NOT_RISING, TOO_LARGE = range(6)
WRONG = {
    BAD_LABEL: "{token} is no label",
    BAD_INDEX: "{token} is no index:value",
    BAD_VALUE: "{token} has no number for a value",
    NOT_RISING: "the index of {token} is not larger than the one before",
    TOO_LARGE: f"the index of {{token}} is larger than {LARGEST_INDEX}",
}
# Where the parser stands: lines, samples and entries so far, the byte of the token at hand, and
# how many numbers are left to Python.
LINES, SAMPLES, ENTRIES, TOKEN, LEFT, STATES = range(6)


class SvmlightText(NamedTuple):
    """What a file holds, indices as they are written."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    labels: np.ndarray


def read_svmlight_text(stream: IO[bytes], name: str, features: int | None = None) -> Any:
    """Inputs as a CSR matrix and labels; the indices count from 1 unless one is 0.

    Parameters
    ----------
    stream : binary stream
    name : str
        Of the file, for errors.
    features : int, optional
        Their number; by default as many as the largest index says.
    """
    data, indices, indptr, labels = parsed(stream, name)
    if indices.size and indices.min() > 0:
        indices -= 1
    found = int(indices.max(initial=0)) + 1
    if features is not None and features < found:
        raise DataError(
            f"{name} cannot be read as svmlight text of {features} features: it has {found}"
        )
    shape = (labels.size, found if features is None else features)
    if data.size < 2**31:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=shape), labels


def parsed(stream: IO[bytes], name: str) -> SvmlightText:
    """All lines of a stream; `DataError` names the first that cannot be read."""
    data, indices = np.empty(0), np.empty(0, dtype=np.int32)
    indptr, labels = np.zeros(1, dtype=np.int64), np.empty(0)
    state = np.zeros(STATES, dtype=np.int64)
    for text, stop in chunks_of_lines(stream):
        marks, lines = counted(text, stop)
        grow(data, state[ENTRIES] + marks)
        grow(indices, state[ENTRIES] + marks)
        grow(indptr, state[SAMPLES] + lines + 1)
        grow(labels, state[SAMPLES] + lines)
        left = np.empty((marks + lines, 3), dtype=np.int64)
        state[LEFT] = 0
        wrong = parse(text, stop, state, data, indices, indptr, labels, left)
        for place, begin, end in left[: state[LEFT]].tolist():
            number = float(text[begin:end].tobytes())
            if not math.isfinite(number):
                state[LINES] -= int(np.count_nonzero(text[begin : state[TOKEN]] == NEWLINE))
                state[TOKEN], wrong = begin, BAD_VALUE
                break
            if place < 0:
                labels[-1 - place] = number
            else:
                data[place] = number
        if wrong != FINE:
            raise refusal(name, wrong, text[:stop], state)
    grow(data, state[ENTRIES])
    grow(indices, state[ENTRIES])
    grow(indptr, state[SAMPLES] + 1)
    grow(labels, state[SAMPLES])
    return SvmlightText(data, indices, indptr, labels)


def grow(array: np.ndarray, size: Any) -> None:
    """Change the length in place; large blocks of memory are moved without being copied."""
    array.resize(int(size), refcheck=False)


def chunks_of_lines(stream: IO[bytes]) -> Iterator[tuple[np.ndarray, int]]:
    """Whole lines in a reused buffer, and where they end."""
    buffer, filled = np.empty(CHUNK, dtype=np.uint8), 0
    while True:
        if filled == buffer.size:
            buffer = np.concatenate([buffer, np.empty(buffer.size, dtype=np.uint8)])
        got = stream.readinto(memoryview(buffer)[filled:])  # type: ignore[attr-defined]
        filled += got
        stop = after_last_line(buffer, filled)
        if not got and filled > stop:
            buffer = np.append(buffer[:filled], np.uint8(NEWLINE))
            filled = stop = filled + 1
        if stop:
            yield buffer, stop
            buffer[: filled - stop] = buffer[stop:filled].copy()
            filled -= stop
        if not got:
            return


def refusal(name: str, wrong: int, text: np.ndarray, state: np.ndarray) -> DataError:
    rest = text[state[TOKEN] : state[TOKEN] + 200].tobytes()
    token = (rest.split(maxsplit=1) or [b""])[0].decode(errors="replace")[:40]
    line = int(state[LINES])
    try:
        endless = not math.isfinite(float(token.rpartition(":")[2]))
    except ValueError:
        endless = False
    if endless:
        return DataError(
            f"{name} contains NaN or infinity ({token} in line {line}): remove or replace such "
            "values"
        )
    return DataError(
        f"{name} cannot be read as svmlight text (line {line}: {WRONG[wrong].format(token=token)}"
        "): each line must read `label index:value index:value …` with rising indices"
    )


@compiled_strict
def counted(text: Bytes, stop: int) -> tuple[int, int]:
    """How many colons there are, and how many lines."""
    colons, lines = 0, 0
    for place in range(stop):
        colons += text[place] == COLON
        lines += text[place] == NEWLINE
    return colons, lines


@compiled_strict
def after_last_line(text: Bytes, filled: int) -> int:
    for place in range(filled - 1, -1, -1):
        if text[place] == NEWLINE:
            return place + 1
    return 0


@compiled_strict
def is_blank(byte: int) -> bool:
    """Space, tab, carriage return, vertical tab, form feed."""
    return byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE)


@compiled_strict
def ends_token(byte: int) -> bool:
    return byte in (NEWLINE, HASH) or is_blank(byte)


@compiled_strict
def parse(
    text: Bytes,
    stop: int,
    state: Int,
    data: Float,
    indices: Int,
    indptr: Int,
    labels: Float,
    left: Int,
) -> int:
    """Read whole lines; returns the error code of the first that cannot be read."""
    place = 0
    while place < stop:
        state[LINES] += 1
        while is_blank(text[place]):
            place += 1
        if not ends_token(text[place]):
            place, wrong = parse_sample(text, place, state, data, indices, labels, left)
            if wrong != FINE:
                return wrong
            state[SAMPLES] += 1
            indptr[state[SAMPLES]] = state[ENTRIES]
        while text[place] != NEWLINE:
            place += 1
        place += 1
    state[TOKEN] = stop - 1
    return FINE


@compiled_strict
def parse_sample(
    text: Bytes, place: int, state: Int, data: Float, indices: Int, labels: Float, left: Int
) -> tuple[int, int]:
    """Read one line; returns where its entries end, and an error code."""
    state[TOKEN] = place
    number, end, how = parse_number(text, place)
    if how == BAD:
        return place, BAD_LABEL
    if how == FOR_PYTHON:
        leave(left, state, -1 - state[SAMPLES], place, end)
    labels[state[SAMPLES]] = number
    place, before, first = end, np.int64(-1), True
    while True:
        while is_blank(text[place]):
            place += 1
        if ends_token(text[place]):
            return place, FINE
        state[TOKEN] = place
        if first and is_query(text, place):
            while not ends_token(text[place]):
                place += 1
        else:
            begin, index = place, np.int64(0)
            while ZERO <= text[place] <= NINE and index <= LARGEST_INDEX:
                index = 10 * index + (np.int64(text[place]) - ZERO)
                place += 1
            if index > LARGEST_INDEX:
                return place, TOO_LARGE
            if place == begin or text[place] != COLON:
                return place, BAD_INDEX
            if index <= before:
                return place, NOT_RISING
            number, end, how = parse_number(text, place + 1)
            if how == BAD:
                return place, BAD_VALUE
            if how == FOR_PYTHON:
                leave(left, state, state[ENTRIES], place + 1, end)
            data[state[ENTRIES]], indices[state[ENTRIES]] = number, index
            state[ENTRIES] += 1
            place, before = end, index
        first = False


@compiled_strict
def is_query(text: Bytes, place: int) -> bool:
    """Whether ``qid:`` stands here; the line has not ended before it does."""
    result: bool = (
        text[place] == QUERY[0]
        and text[place + 1] == QUERY[1]
        and text[place + 2] == QUERY[2]
        and text[place + 3] == QUERY[3]
    )
    return result


@compiled_strict
def leave(left: Int, state: Int, slot: int, begin: int, end: int) -> None:
    """Let Python read a number."""
    left[state[LEFT], 0] = slot
    left[state[LEFT], 1] = begin
    left[state[LEFT], 2] = end
    state[LEFT] += 1


@compiled_strict
def parse_number(text: Bytes, place: int) -> tuple[float, int, int]:
    """A number that a blank, a comment or the line's end follows: its value, its end, and how."""
    negative = text[place] == MINUS
    if negative or text[place] == PLUS:
        place += 1
    w, q, digits = np.int64(0), np.int64(0), 0
    kept: Any = 0
    cut: Any = False
    fraction = False
    while True:
        if ZERO <= text[place] <= NINE:
            digits += 1
            digit = np.int64(text[place]) - ZERO
            if kept < 18:  # digits that int64 holds
                w = 10 * w + digit
                kept += w > 0
                q -= fraction
            else:
                cut |= digit > 0
                q += not fraction
        elif text[place] == DOT and not fraction:
            fraction = True
        else:
            break
        place += 1
    if digits == 0:
        return 0.0, place, BAD
    if text[place] == LETTERS[0] or text[place] == LETTERS[1]:
        exponent, place = parse_exponent(text, place + 1)
        if place < 0:
            return 0.0, -place, BAD
        q += exponent
    if not ends_token(text[place]):
        return 0.0, place, BAD
    value, known = scaled(w, q, cut)
    return -value if negative else value, place, READ if known else FOR_PYTHON


@compiled_strict
def parse_exponent(text: Bytes, place: int) -> tuple[Any, int]:
    """A whole number with or without sign; where it ends, negated if there is none."""
    down = text[place] == MINUS
    if down or text[place] == PLUS:
        place += 1
    if not ZERO <= text[place] <= NINE:
        return np.int64(0), -place
    exponent: Any = np.int64(0)
    while ZERO <= text[place] <= NINE:
        # Limited to a power of ten that exceeds all numbers, so that it does not overflow.
        exponent = min(10 * exponent + (np.int64(text[place]) - ZERO), 100_000)
        place += 1
    return -exponent if down else exponent, place


@compiled_strict
def scaled(w: Any, q: Any, cut: Any) -> tuple[float, bool]:
    """w·10^q rounded to float64, w being the first digits of a longer number where `cut` is true;
    and whether that is certain."""
    if w == 0 and not cut:
        return 0.0, True
    if not cut and w <= 2**53:
        # Powers of ten up to 10^22 are exact.
        if 0 <= q <= 22:
            return float(w) * HIGH[FARTHEST + q], True
        if -22 <= q < 0:
            return float(w) / HIGH[FARTHEST - q], True
    if not -FARTHEST <= q <= FARTHEST:
        return 0.0, False
    high, low = HIGH[FARTHEST + q], LOW[FARTHEST + q]
    first = float(w)
    second = float(w - np.int64(first))
    product = first * high
    rest = product_error(first, high, product) + (first * low + second * high)
    value = product + rest
    beyond = rest - (value - product)
    mantissa, exponent = math.frexp(value)
    middle = math.ldexp(1.0, exponent - 54)
    if mantissa == 0.5 and beyond < 0.0:
        middle *= 0.5
    doubt = 2.0**-98 * value + (1.001 * high if cut else 0.0)
    return value, middle - abs(beyond) > doubt


@compiled_strict
def product_error(a: float, b: float, product: float) -> float:
    """a·b − product, exactly (Dekker, 1971)."""
    split = 134217729.0 * a
    a_high = split - (split - a)
    a_low = a - a_high
    split = 134217729.0 * b
    b_high = split - (split - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
