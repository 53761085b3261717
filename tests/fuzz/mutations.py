"""What is done to a file: bytes, tokens or structure are changed at random."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.archive import MODEL, ONLINE, Contents, read_archive, write_archive

TOKENS = (
    *("", "nan", "inf", "-inf", "1e999", "-1", "0", "1e-400", "99999999999999999999", "2147483648"),
    *(
        "1_000",
        "0x10",
        "é",
        "\x00",
        "text",
        "1:1",
        "0:1",
        ":",
        "1:",
        "-1:2",
        "3:1:2",
        "#",
        '"',
        "+",
    ),
    *("4294967297:1", "33000000:1", "1e5", "NA", "true", "2020-13-45", "SV", "nr_class", "qid:x"),
)
LEAVES = (
    *(None, True, False, 0, -1, 1, 2, 10**6, 2**63, -(2**70), 0.5, -1.0, 1e300, 1e-300),
    *("", "text", "rbf", "linear", "precomputed", "balanced", "float32", "\ud800"),
    *([], {}, [1, 2], [[1], ["a"]], {"float": "nan"}, {"float": "inf"}, {"tuple": []}),
    *({"items": [[1, 2]]}, {"set": ["a"]}, {"objects": ["a", 1]}, {"array": "no such"}),
    *({"kernel": "Linear", "fields": {}}, {"kernel": "Precomputed", "fields": {}}),
    *({"kernel": "Gaussian", "fields": {"gamma": {"tuple": [1.0, -1.0]}}},),
    *({"kernel": "Oligo", "fields": {"k": 9}}, {"kernel": "FromFunction", "fields": {}}),
    *({"record": "Measure", "fields": {"name": 1, "value": 1, "low": 1, "high": 1}},),
)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-320, np.nan, np.inf, -np.inf, 2.0**53, 3.0)
WHOLE = (0, 1, -1, 2, 7, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63), 10**9)
DTYPES = ("f2", "f4", "f8", "i1", "i4", "i8", "u8", "?", "U3", "S3", "c16", "O", "M8[s]", ">f8")
ARCHIVES = {"mm": MODEL, "checkpoint": MODEL, "online": ONLINE}
TEXTS = ("svmlight", "csv", "libsvm model")


def change(source: Path, path: Path, family: str, random: Any, tracer: Path) -> str:
    """Write a changed copy; what was done."""
    content = source.read_bytes()
    choice = random.random()
    if family in ARCHIVES and choice < 0.75:
        return _forge(source, path, ARCHIVES[family], random)
    if family == "npz" and choice < 0.7:
        return _forge_npz(source, path, random, tracer)
    if family in TEXTS and choice < 0.7:
        did, content = _change_tokens(content, random)
    else:
        did, content = change_bytes(content, random)
    path.write_bytes(content)
    return did


def change_bytes(content: bytes, random: Any) -> tuple[str, bytes]:
    """Flip, cut out, insert, repeat or overwrite bytes."""
    data = bytearray(content)
    way = random.choice(["flip", "flips", "cut", "truncate", "insert", "repeat", "overwrite"])
    a, b = (int(place) for place in np.sort(random.integers(len(data) + 1, size=2)))
    b = min(b, a + int(random.choice([1, 4, 30, len(data)])))
    match way:
        case "flip" | "flips":
            for _ in range(1 if way == "flip" else int(random.integers(2, 9))):
                data[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
        case "cut":
            del data[a:b]
        case "truncate":
            del data[a:]
        case "insert":
            data[a:a] = random.bytes(int(random.integers(1, 40)))
        case "repeat":
            data[a:a] = data[a:b]
        case "overwrite":
            filling = random.choice([0, 255, 127, 128])
            data[a:b] = bytes([int(filling)]) * (b - a)
    return f"bytes: {way} at {a} to {b}", bytes(data)


def _change_tokens(content: bytes, random: Any) -> tuple[str, bytes]:
    """Replace, remove or repeat a token or a line of a text."""
    lines = content.decode(errors="replace").split("\n")
    way = random.choice(["token", "tokens", "line", "no line", "many lines", "long line"])
    place = int(random.integers(len(lines)))
    if way in ("token", "tokens"):
        for _ in range(1 if way == "token" else 4):
            place = int(random.integers(len(lines)))
            separator = "," if "," in lines[place] else " "
            cells = lines[place].split(separator)
            cells[int(random.integers(len(cells)))] = str(random.choice(TOKENS))
            lines[place] = separator.join(cells)
    elif way == "line":
        lines.insert(place, lines[int(random.integers(len(lines)))])
    elif way == "no line":
        del lines[place]
    elif way == "many lines":
        lines[place:place] = [lines[place]] * 300
    else:
        lines[place] = " ".join([lines[place]] * 300)
    return f"text: {way} in line {place + 1}", "\n".join(lines).encode()


# ---- structure -----------------------------------------------------------------------------


def _forge(source: Path, path: Path, format: str, random: Any) -> str:
    """An archive with right checksums whose description or arrays were changed."""
    values, arrays = read_archive(source, format)
    arrays = dict(arrays)
    done = []
    for _ in range(1 if random.random() < 0.7 else 3):
        if random.random() < 0.5 or not arrays:
            done.append(_change_leaf(values, random))
        else:
            done.append(_change_array(arrays, random))
    did = "forged: " + "; ".join(done)
    try:
        write_archive(path, Contents(values, arrays), format)
    except (ValueError, TypeError, UnicodeError):
        # What cannot even be written down.
        path.write_bytes(b"")
    return did


def _change_leaf(values: Any, random: Any) -> str:
    """Replace, remove or add a part of a JSON value."""
    places = list(_places(values))
    keys = places[int(random.integers(1, len(places)))] if len(places) > 1 else ()
    inner = values
    for key in keys[:-1]:
        inner = inner[key]
    where = ".".join(map(str, keys))
    if not keys:
        return "nothing"
    if random.random() < 0.15:
        del inner[keys[-1]]
        return f"no {where}"
    leaf = json.loads(json.dumps(LEAVES[int(random.integers(len(LEAVES)))]))
    if random.random() < 0.2:
        other = values
        for key in places[int(random.integers(len(places)))]:
            other = other[key]
        leaf = json.loads(json.dumps(other))
    inner[keys[-1]] = leaf
    return f"{where} = {str(leaf)[:60]}"


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from _places(child, (*path, key))


def _change_array(arrays: dict[str, np.ndarray], random: Any) -> str:
    """Change entries, type or shape of an array, exchange or remove it."""
    name = str(random.choice(sorted(arrays)))
    way = random.choice(["entries", "entries", "type", "shape", "cut", "exchange", "remove", "add"])
    if way == "remove":
        del arrays[name]
    elif way == "add":
        arrays[f"{name}.more"] = arrays[name]
    elif way == "exchange":
        other = str(random.choice(sorted(arrays)))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        arrays[name] = changed_array(arrays[name], str(way), random)
    return f"{way} of array {name}"


def changed_array(array: np.ndarray, way: str, random: Any) -> np.ndarray:
    array = array.copy()
    if way == "type":
        with np.errstate(all="ignore"):
            try:
                return array.astype(str(random.choice(DTYPES[:11])))
            except (ValueError, TypeError):
                return array.ravel()
    if way == "shape":
        shapes = [(-1,), (1, -1), (-1, 1), array.shape[::-1], (1, 1, -1)]
        return array.reshape(shapes[int(random.integers(len(shapes)))])
    if way == "cut":
        return array[: int(random.integers(len(array) + 1))] if array.ndim else array
    if array.size and array.dtype.kind in "iuf":
        flat = array.reshape(-1)
        count = int(random.choice([1, flat.size]))
        chosen = random.integers(flat.size, size=count)
        if array.dtype.kind == "f":
            flat[chosen] = random.choice(NUMBERS, size=count)
        else:
            new = [int(random.choice(np.array(WHOLE, dtype=object))) for _ in range(count)]
            limits = np.iinfo(array.dtype)
            flat[chosen] = [min(max(number, limits.min), limits.max) for number in new]
    elif array.size and array.dtype.kind in "US":
        array.reshape(-1)[0] = random.choice(["", "x", "nan", "~"])
    return array


class Unpickled:
    """Leaves a trace when it is unpickled."""

    def __init__(self, tracer: Path) -> None:
        self.tracer = tracer

    def __reduce__(self) -> Any:
        return (Path.touch, (self.tracer,))


def _forge_npz(source: Path, path: Path, random: Any, tracer: Path) -> str:
    """A NumPy archive with changed arrays, pickled ones, or headers that lie."""
    with np.load(source) as archive:
        arrays = dict(archive)
    if random.random() < 0.15:
        name = str(random.choice(sorted(arrays)))
        arrays[name] = np.array([Unpickled(tracer), None], dtype=object)
        np.savez(path, **arrays)
        return f"forged: pickled {name}"
    if random.random() < 0.25:
        return _lie(arrays, path, random)
    did = _change_array(arrays, random)
    np.savez(path, **arrays)
    return f"forged: {did}"


def _lie(arrays: dict[str, np.ndarray], path: Path, random: Any) -> str:
    """A header that tells another type or shape than the content has."""
    name = str(random.choice(sorted(arrays)))
    shapes = ((10**9, 10), (-1, 3), (2**62, 4), (0, 3), (3,), (2**31, 0))
    shape = shapes[int(random.integers(len(shapes)))]
    descr = str(random.choice(["<f8", "|O", "<U99999", "<f4", "<c16"]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            stream = io.BytesIO()
            if key == name:
                header = {"descr": descr, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
                stream.write(array.tobytes() if array.dtype.kind != "O" else b"")
            else:
                np.lib.format.write_array(stream, array, allow_pickle=False)
            archive.writestr(f"{key}.npy", stream.getvalue())
    return f"forged: {name} is said to be {descr}{shape}"
