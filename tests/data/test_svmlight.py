"""The parser of svmlight text: every number as Python reads it, every line as scikit-learn does."""

import io
import math
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from maxmargin.data import DataError
from maxmargin.data import svmlight as module
from maxmargin.data.svmlight import read_svmlight_text


def read(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_svmlight_text(io.BytesIO(content), "file", **options)


def read_number(text):
    X, y = read(f"{text} 1:{text}\n")
    assert same_bits(X.data[0], y[0])
    return y[0]


def same_bits(a, b):
    return struct.pack("d", a) == struct.pack("d", b)


# ---- numbers --------------------------------------------------------------------------------

DIGITS = st.text("0123456789", min_size=1, max_size=30)
EXPONENT = st.integers(-400, 400).map(lambda e: f"e{e}")
DECIMALS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.one_of(st.just(""), DIGITS.map(lambda digits: f".{digits}")),
    st.one_of(st.just(""), EXPONENT),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PRINTED = st.builds(lambda form, x: form % x, st.sampled_from(["%r", "%.6g", "%.18e"]), FLOATS)


@settings(max_examples=500)
@given(st.one_of(DECIMALS, PRINTED).filter(lambda text: math.isfinite(float(text))))
@example("9007199254740993")
@example("9007199254740992.9999999999999999999999")
@example("-0")
@example("5e-324")
@example("2.2250738585072011e-308")
@example("1.7976931348623157e308")
@example("0." + 400 * "0" + "1e401")
@example(400 * "0" + "1.5")
@example("1" + 300 * "0")
@example(".5")
@example("5.")
def test_numbers_are_those_of_python(text):
    assert same_bits(read_number(text), float(text))


@given(st.integers(2**52, 2**53 - 1), st.integers(-60, 60), st.integers(0, 40))
def test_middle_between_two_numbers_is_rounded_to_even(mantissa, power, tail):
    from fractions import Fraction

    middle = (Fraction(mantissa) + Fraction(1, 2)) * Fraction(2) ** power
    digits, places = middle.numerator, 0
    while middle.denominator >> places > 1:
        places += 1
        digits *= 5
    text = f"{digits}e-{places}" if not tail else f"{digits}{tail * '0'}1e-{places + tail + 1}"
    assert read_number(text) == float(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "Infinity", "1e400", "1:1e999"])
def test_numbers_that_are_not_finite_are_named_with_their_line(text):
    with pytest.raises(DataError, match=r"file contains NaN or infinity \(.* in line 3\)"):
        read(f"1 1:1\n# comment\n{text if ':' not in text else '1 ' + text}\n2 2:1\n")


@pytest.mark.parametrize(
    "text", ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x1", "1_0", "١", "1,2"]
)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(DataError, match=r"line 2: .* has no number for a value"):
        read(f"1 1:1\n1 1:{text} 2:1\n")


# ---- lines ----------------------------------------------------------------------------------


def test_lines_without_samples_are_passed_over():
    X, y = read("\n# comment\n   \n1 1:2 # more\n\n-1#2:3\n \t\r\n2 3:4")
    np.testing.assert_array_equal(X.toarray(), [[2, 0, 0], [0, 0, 0], [0, 0, 4]])
    np.testing.assert_array_equal(y, [1, -1, 2])


def test_query_is_passed_over():
    X, _ = read("1 qid:7 1:2\n")
    np.testing.assert_array_equal(X.toarray(), [[2]])


def test_query_is_the_first_entry_or_none():
    with pytest.raises(DataError, match="qid:7 is no index:value"):
        read("1 1:2 qid:7\n")


def test_indices_count_from_zero_where_one_is_zero():
    assert read("1 0:1 2:1\n")[0].shape == (1, 3)
    assert read("1 1:1 3:1\n")[0].shape == (1, 3)


def test_zero_may_be_the_index_of_any_line():
    X, _ = read("1 3:1\n-1 0:2 3:4\n1 1:5\n")
    np.testing.assert_array_equal(X.toarray(), [[0, 0, 0, 1], [2, 0, 0, 4], [0, 5, 0, 0]])


def test_number_of_features_may_be_larger():
    assert read("1 1:1\n", features=9)[0].shape == (1, 9)
    with pytest.raises(DataError, match="of 2 features: it has 3"):
        read("1 3:1\n", features=2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a 1:1", "line 2: a is no label"),
        ("1:2 3:4", "line 2: 1:2 is no label"),
        ("1 x:1", "line 2: x:1 is no index:value"),
        ("1 -1:1", "line 2: -1:1 is no index:value"),
        ("1 7", "line 2: 7 is no index:value"),
        ("1 :5", "line 2: :5 is no index:value"),
        ("1 1:a", "line 2: 1:a has no number for a value"),
        ("1 2:1 2:1", "line 2: the index of 2:1 is not larger"),
        ("1 2:1 1:1", "line 2: the index of 1:1 is not larger"),
        ("1 2147483647:1", "line 2: the index of 2147483647:1 is larger than 2147483646"),
        ("1 " + 40 * "9" + ":1", "line 2: the index of 9+ is larger than 2147483646"),
        ("\x00", "line 2: \x00 is no label"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line, message):
    with pytest.raises(DataError, match=message):
        read(f"1 1:1\n{line}\n1 1:1\n")


def test_largest_index_is_read():
    assert read("1 2147483646:1\n")[0].shape == (1, 2**31 - 2)


def test_chunks_of_any_size_hold_the_same_lines(monkeypatch):
    random = np.random.default_rng(0)
    lines = [
        " ".join(
            [str(i), *(f"{j}:{x!r}" for j, x in enumerate(random.normal(size=i % 7).tolist()))]
        )
        for i in range(50)
    ]
    text = "\n".join(lines)
    expected, labels = read(text)
    for size in (1, 2, 17, 100, 1000):
        monkeypatch.setattr(module, "CHUNK", size)
        X, y = read(text)
        np.testing.assert_array_equal(X.toarray(), expected.toarray())
        np.testing.assert_array_equal(y, labels)


def test_wrong_line_is_counted_over_chunks(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 20)
    with pytest.raises(DataError, match="line 31: x is no label"):
        read(30 * "1 1:1 2:1\n" + "x\n")
    with pytest.raises(DataError, match="1e999 in line 31"):
        read(30 * "1 1:1 2:1\n" + "1 1:1e999\n1 1:1\nx\n")


# ---- like scikit-learn ----------------------------------------------------------------------

SPACES = st.sampled_from([" ", "  ", "\t", " \r"])
PAIRS = st.dictionaries(st.integers(0, 12), st.one_of(PRINTED, DECIMALS), max_size=5)
ENDS = st.sampled_from(["", " ", " # 3:4", "#", "\r"])


@st.composite
def proper_lines(draw):
    pairs = [f"{index}:{value}" for index, value in sorted(draw(PAIRS).items())]
    query = draw(st.sampled_from([[], ["qid:3"]]))
    return draw(SPACES).join([draw(DECIMALS), *query, *pairs]) + draw(ENDS)


PIECES = st.sampled_from(
    ["1", "-2.5", "3:4", "4:1e3", "5:", ":6", "#", " ", "\n", "qid:1", "x", "."]
)
LINES = st.one_of(proper_lines(), st.lists(PIECES, max_size=8).map(" ".join), st.text(max_size=10))


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LINES, min_size=1, max_size=6))
def test_texts_are_read_as_scikit_learn_reads_them(lines):
    content = "\n".join(lines).encode()
    try:
        X, y = read(content)
    except DataError:
        X = None
    try:
        expected, labels = load_svmlight_file(io.BytesIO(content))
    except (ValueError, OverflowError, IndexError):
        assert X is None or not y.size
        return
    if X is None:
        # What Python takes for numbers and the format does not know.
        assert not np.isfinite(expected.data).all() or not np.isfinite(labels).all() or odd(content)
        return
    assert X.shape == expected.shape
    np.testing.assert_array_equal(X.toarray(), expected.toarray())
    np.testing.assert_array_equal(y, labels)


def odd(content):
    text = content.decode()
    return "_" in text or "+" in text or not text.isascii()
