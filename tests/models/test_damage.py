"""Damaged and forged files: every byte counts, and what loads is a complete model."""

import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from maxmargin import (
    SVC,
    LinearSVR,
    LogisticRegression,
    NuSVR,
    OneClassSVM,
    OnlineSVC,
    estimators,
)
from maxmargin import kernels as k
from maxmargin.archive import Contents, ModelFileError, read_archive, stored_zip, write_archive
from maxmargin.archive.container import array_bytes
from maxmargin.archive.stored_zip import StoredZipWriter, ZipError, read_content, read_members
from maxmargin.data import Column, Schema
from maxmargin.models import (
    HeldOut,
    SearchTable,
    Training,
    load,
    load_checkpoint,
    read_libsvm,
    save,
    save_checkpoint,
    write_libsvm,
)
from maxmargin.models.fitted import SCHEMAS

OLD = sorted((Path(__file__).parent / "old").iterdir())
READERS = {".mm": load, ".online": OnlineSVC.load, ".checkpoint": load_checkpoint}
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 3))
TWO = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def read(path):
    return READERS[path.suffix](path)


# ---- every byte -----------------------------------------------------------------------------


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.name)
def test_file_of_an_earlier_version_is_read_and_written_again(old, tmp_path):
    model, path = read(old), tmp_path / old.name
    if old.suffix == ".mm":
        save(model, path, resumable=old.stem == "lsvc3")
    elif old.suffix == ".online":
        model.save(path, rows=old.stem != "online_sparse")
    else:
        save_checkpoint(model, path)
    if path.read_bytes() != old.read_bytes():
        assert_holds_all_of(old, path)


def assert_holds_all_of(old, path):
    """Every array to the last byte, and all else that the old file says; parameters that are newer
    than it stand beside these."""
    with zipfile.ZipFile(old) as before, zipfile.ZipFile(path) as after:
        assert before.namelist() == after.namelist()
        for name in before.namelist():
            if name.endswith(".npy"):
                assert after.read(name) == before.read(name)
        assert_in(*(json.loads(file.read("model.json")) for file in (before, after)))


def assert_in(old, new):
    if not isinstance(old, dict):
        assert new == old
        return
    assert set(new) - set(old) <= {"fit_intercept", "gap", "penalty", "chosen"}
    for key in old:
        assert_in(old[key], new[key])


@pytest.mark.parametrize("name", ["ridge.mm", "online_begun.online", "linear.checkpoint"])
def test_no_byte_can_be_changed(name, tmp_path):
    whole = next(path for path in OLD if path.name == name).read_bytes()
    path = tmp_path / name
    # All that is not content, and a part of that.
    places = set(range(len(whole)))
    for member in read_members(io.BytesIO(whole), len(whole), 100).values():
        content = range(member.start, member.start + member.size)
        places -= {place for place in content if place % 8}
    accepted = []
    for place in sorted(places):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(RANDOM.integers(8))
        path.write_bytes(damaged)
        try:
            read(path)
        except ModelFileError:
            continue
        accepted.append(place)
    assert accepted == []


@pytest.mark.parametrize("old", OLD[::4], ids=lambda path: path.name)
def test_bytes_cut_out_or_added_anywhere_are_refused(old, tmp_path):
    whole, path = old.read_bytes(), tmp_path / old.name
    for _ in range(60):
        a, b = np.sort(RANDOM.integers(len(whole), size=2))
        more = RANDOM.bytes(int(b - a) + 1)
        for damaged in (whole[:a] + whole[b + 1 :], whole[:a] + more + whole[a:], whole + more):
            path.write_bytes(damaged)
            with pytest.raises(ModelFileError):
                read(path)


def test_container_is_what_python_writes():
    stream, ours = io.BytesIO(), io.BytesIO()
    writer = StoredZipWriter(ours)
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in (("a.npy", b"some"), ("model.json", b"")):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = stored_zip.System.UNIX
            archive.writestr(info, content)
            writer.add(name, content)
    writer.close()
    assert ours.getvalue() == stream.getvalue()


def test_contents_of_2_gib_are_as_python_writes_them(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    monkeypatch.setattr(stored_zip, "LARGEST", 1000)
    stream, ours = io.BytesIO(), io.BytesIO()
    writer = StoredZipWriter(ours)
    with zipfile.ZipFile(stream, "w") as archive:
        for name, size in (("small", 10), ("nearly", 990), ("large", 2000), ("after", 1)):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), bytes(size))
            writer.add(name, bytes(size))
    writer.close()
    assert ours.getvalue() == stream.getvalue()
    members = read_members(ours, len(ours.getvalue()), 10)
    assert read_content(ours, members["large"]) == bytes(2000)
    with pytest.raises(ZipError, match="more than 3 members"):
        read_members(ours, len(ours.getvalue()), 3)


def test_crc_must_be_right_even_where_header_and_directory_agree():
    stream = io.BytesIO()
    writer = StoredZipWriter(stream)
    writer.add("a", b"some")
    writer.close()
    crc = zlib.crc32(b"some").to_bytes(4, "little")
    forged = io.BytesIO(stream.getvalue().replace(crc, b"\x01\x02\x03\x04"))
    member = read_members(forged, len(forged.getvalue()), 10)["a"]
    with pytest.raises(ZipError, match="'a' does not match its CRC-32"):
        read_content(forged, member)


def test_file_written_on_windows_is_read(tmp_path):
    whole = OLD[0].read_bytes()
    start = whole.index(stored_zip.ENTRY_MARK)
    path = tmp_path / OLD[0].name
    mark = stored_zip.ENTRY_MARK + bytes([stored_zip.VERSION])
    unix, windows = (mark + bytes([system]) for system in stored_zip.System)
    path.write_bytes(whole[:start] + whole[start:].replace(unix, windows))
    read(path)
    path.write_bytes(whole[:start] + whole[start:].replace(unix, windows, 1))
    with pytest.raises(ModelFileError):
        read(path)


def packed(path, arrays, content=None, digests=None):
    """A file whose zip is right."""
    digests = (
        {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()}
        if digests is None
        else digests
    )
    head = {"format": "maxmargin model", "version": 1, "arrays": digests, "content": content}
    text = json.dumps(head).encode()
    with open(path, "wb") as stream:
        writer = StoredZipWriter(stream)
        for name, data in arrays.items():
            writer.add(name + ".npy", data)
        writer.add("model.json", text)
        writer.add("model.sha256", hashlib.sha256(text).hexdigest().encode())
        writer.close()
    return path


def test_array_must_match_its_sha256_even_if_its_crc_is_right(tmp_path):
    one, other = array_bytes("a", np.ones(3)), array_bytes("a", np.zeros(3))
    path = packed(tmp_path / "a.mm", {"a": other}, digests={"a": hashlib.sha256(one).hexdigest()})
    with pytest.raises(ModelFileError, match="array 'a' does not match its checksum"):
        read_archive(path)
    assert read_archive(packed(path, {"a": other})).arrays["a"].tolist() == [0.0, 0.0, 0.0]


def test_description_must_match_its_sha256_even_if_its_crc_is_right(tmp_path):
    with open(tmp_path / "a.mm", "wb") as stream:
        writer = StoredZipWriter(stream)
        text = json.dumps({"format": "maxmargin model", "version": 1, "arrays": {}, "content": 1})
        writer.add("model.json", text.encode())
        writer.add("model.sha256", b"0" * 64)
        writer.close()
    with pytest.raises(ModelFileError, match="description does not match its checksum"):
        read_archive(tmp_path / "a.mm")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1, }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }" + "-" * 5000,
        "-" * 9000,
    ],
)
def test_header_that_numpy_never_writes_is_refused(header, tmp_path):
    text = header.encode() + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(24)
    with pytest.raises(ModelFileError, match=r"header of NumPy's format|size that its header"):
        read_archive(packed(tmp_path / "a.mm", {"a": data}))


# ---- forged models --------------------------------------------------------------------------


def forged(model, folder, change, **details):
    """The file of a model with its description changed and all checksums right."""
    path = folder / "model.mm"
    save(model, path, **details)
    values, arrays = read_archive(path)
    change(values, arrays)
    write_archive(path, Contents(values, arrays))
    return path


def test_every_estimator_has_a_schema():
    others = {"Certificates", "OnlineSVC"}
    assert set(SCHEMAS) == set(estimators.__all__) - others


MODELS = {
    "SVC": lambda: SVC().fit(X, THREE),
    "OneClassSVM": lambda: OneClassSVM().fit(X),
    "NuSVR": lambda: NuSVR().fit(X, X[:, 0]),
    "LogisticRegression": lambda: LogisticRegression().fit(X, TWO),
    "LinearSVR": lambda: LinearSVR().fit(X, X[:, 0]),
}


# What may be in place of an attribute.
MEANINGFUL = {
    "classes_": ({"array": "text"},),
    "status_": ("text",),
    "_penalty_": (1.5,),
    "_cost_": (1.5,),
    "epsilon_": (1.5,),
}


def remove_arrays(arrays, attribute):
    place = f"attributes.{attribute}"
    for key in [key for key in arrays if key == place or key.startswith(place + ".")]:
        del arrays[key]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_model_without_one_of_its_attributes_is_complete_or_refused(name, tmp_path):
    model = MODELS[name]()
    optional = {
        "status_",
        "certificate_",
        "solution_",
        "n_iter_",
        "_penalty_",
        "_cost_",
        "epsilon_",
    }
    if isinstance(model, LinearSVR | LogisticRegression):
        optional.add("fit_status_")  # files of earlier versions have none
    required = set(read_archive(forged(model, tmp_path, lambda *_: None)).values["attributes"])
    for attribute in sorted(required - optional):

        def remove(values, arrays, attribute=attribute):
            del values["attributes"][attribute]
            remove_arrays(arrays, attribute)

        with pytest.raises(ModelFileError, match=f"'{attribute}' is missing"):
            load(forged(model, tmp_path, remove))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_text_in_place_of_any_attribute_is_refused(name, tmp_path):
    model = MODELS[name]()
    found = read_archive(forged(model, tmp_path, lambda *_: None)).values["attributes"]
    for attribute in found:
        for value in ("text", [1, "text"], {"array": "text"}, {"objects": [None]}, 1.5):

            def replace(values, arrays, attribute=attribute, value=value):
                values["attributes"][attribute] = value
                remove_arrays(arrays, attribute)
                if value == {"array": "text"}:
                    arrays["text"] = np.array(["1", "2"])

            if value in MEANINGFUL.get(attribute, ()):
                continue
            path = forged(model, tmp_path, replace)
            with pytest.raises(ModelFileError):
                load(path)


def change_array(name, change):
    return lambda _, arrays: arrays.update({name: change(arrays[name])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_array("attributes.classes_", lambda a: a[[0, 0, 1]]), "a label twice"),
        (change_array("attributes.support_", lambda a: a - 100), "support_ has negative"),
        (change_array("attributes.n_support_", lambda a: a + 1), "does not add up"),
        (change_array("attributes.intercept_", lambda a: a * np.inf), "NaN or infinity"),
        (change_array("attributes.dual_coef_", lambda a: a.astype("f2")), "must hold real numbers"),
        (change_array("attributes.dual_coef_", lambda a: a[:1]), "of 1 and 3 functions"),
        (change_array("attributes.dual_coef_", lambda a: a * 1e308), "kernel values overflow"),
        (change_array("attributes.support_vectors_", lambda a: a * 1e80), "are too large"),
        (
            change_array("attributes.class_weight_", lambda a: np.append(-a[:1], a[1:])),
            "class_weight_ has negative",
        ),
        (lambda _, arrays: arrays.update(more=np.ones(1)), "array 'more' belongs to nothing"),
        (lambda values, _: values["parameters"].update(kernel="precomputed"), "different inputs"),
        (lambda values, _: values["parameters"].update(tol="small"), "tol of SVC must be"),
        (lambda values, _: values["attributes"].update(n_features_in_=4), "there are 4 features"),
        (lambda values, _: values["attributes"].update(n_features_in_=True), "must be positive"),
        (lambda values, _: values.update(more=1), "must consist of"),
        (lambda values, _: values.update(schema="none"), "schema is of a wrong type"),
    ],
)
def test_attribute_out_of_its_range_is_refused(change, message, tmp_path):
    path = forged(SVC().fit(X, THREE), tmp_path, change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", lambda a: a + 1000),
        ("indices", lambda a: a - 1),
        ("indices", lambda a: a.astype(np.int16)),
        ("indptr", lambda a: a[::-1].copy()),
        ("indptr", lambda a: np.where(a == a[-1], 10**6, a).astype(a.dtype)),
        ("indptr", lambda a: a - 1),
        ("data", lambda a: a * np.nan),
    ],
)
@pytest.mark.parametrize("which", ["model", "online"])
def test_sparse_matrix_with_forged_parts_is_refused(which, part, value, tmp_path):
    inputs = sparse.csr_array(np.where(X > 0, X, 0.0))
    if which == "model":
        name = f"attributes.support_vectors_.{part}"
        path = forged(SVC().fit(inputs, TWO), tmp_path, change_array(name, value))
    else:
        path = tmp_path / "model.online"
        OnlineSVC().fit(inputs, TWO).save(path)
        contents = read_archive(path, "maxmargin online model")
        contents.arrays[f"0.inputs.{part}"] = value(contents.arrays[f"0.inputs.{part}"])
        write_archive(path, contents, "maxmargin online model")
    with pytest.raises(ModelFileError, match="sparse matrix"):
        read(path)


def set_field(place, record, name, value):
    def change(values, _):
        inner = values[place] if isinstance(place, str) else values[place[0]][place[1]]
        assert inner["record"] == record
        inner["fields"][name] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            set_field(("attributes", "certificate_"), "Certificate", "primal", "one"),
            "primal of a Certificate is of a wrong type: str",
        ),
        (
            set_field(("attributes", "solution_"), "Solution", "steps", 1.5),
            "steps of a Solution is of a wrong type: float",
        ),
        (
            set_field("training", "Training", "classes", {"items": [["a", "b"]]}),
            "classes of a Training is of a wrong type: dict",
        ),
        (
            set_field("training", "Training", "held_out", {"array": "attributes.support_"}),
            "held_out of a Training is of a wrong type",
        ),
        (
            set_field("schema", "Schema", "target", "a"),
            "names a column twice",
        ),
        (
            lambda values, _: values["schema"]["fields"].pop("scale"),
            "scale of a Schema is missing",
        ),
        (
            change_array("schema.scale", lambda a: a * 0.0),
            "scale of the schema must be positive",
        ),
        (
            change_array("training.held_out.predicted", lambda a: a[1:]),
            "predicted of held-out samples has shape",
        ),
        (
            change_array("training.search.value", lambda a: a.astype(str)),
            "SearchTable holds what are no real vectors",
        ),
    ],
)
def test_record_that_is_none_is_refused(change, message, tmp_path):
    columns = tuple(Column(name, "number") for name in "abc")
    tested = HeldOut(TWO[:4], TWO[1:5], np.zeros(4))
    table = SearchTable("tried", np.array(["a"]), np.ones(1), {"log_C": np.ones(1)})
    training = Training("1", "", "", "", 30, 3, {"no": 15}, search=table, held_out=tested)
    details = {
        "schema": Schema(columns, "class", np.zeros(3), np.ones(3)),
        "training": training,
    }
    path = forged(SVC().fit(X, TWO), tmp_path, change, **details)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_attribute_that_no_schema_declares_is_refused_when_saved(tmp_path):
    model = SVC().fit(X, TWO)
    model.extra_ = 1
    with pytest.raises(ValueError, match="'extra_' is no attribute of a fitted SVC"):
        save(model, tmp_path / "model.mm")


def test_kernel_for_other_inputs_is_refused(tmp_path):
    def change(values, _):
        values["attributes"]["kernel_"] = {"kernel": "Oligo", "fields": {"k": 2}}

    with pytest.raises(ModelFileError, match="different inputs"):
        load(forged(SVC(kernel=k.Gaussian(1.0)).fit(X, TWO), tmp_path, change))


def test_model_of_libsvm_has_all_that_its_schema_demands(tmp_path):
    for model in (SVC(probability="platt").fit(X, THREE), OneClassSVM().fit(X)):
        write_libsvm(model, tmp_path / "model.libsvm")
        save(read_libsvm(tmp_path / "model.libsvm"), tmp_path / "model.mm")
        again = load(tmp_path / "model.mm").estimator
        np.testing.assert_allclose(
            again.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9
        )
