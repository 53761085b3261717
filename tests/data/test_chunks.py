"""Files and memory maps larger than memory: the estimators fit them as they fit arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from maxmargin import LinearSVC, LinearSVR, LogisticRegression, RidgeRegression
from maxmargin.data.chunks import ParquetChunks, SvmlightChunks
from maxmargin.estimators.linear import base as linear_base
from maxmargin.solvers.linear import ArrayChunks


def samples(n=3000, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0), 3)
    X[0] = 1.0
    return X, np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)


def mapped(X, folder, dtype="float64"):
    written = np.memmap(folder / "X.bin", dtype, "w+", shape=X.shape)
    written[:] = X
    written.flush()
    return np.memmap(folder / "X.bin", dtype, "r", shape=X.shape)


def as_svmlight(X, y, folder):
    path = folder / "data.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return SvmlightChunks(path, chunk_bytes=20_000)


def as_parquet(X, y, folder):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])})
    frame.with_columns(target=polars.Series(y)).write_parquet(
        folder / "data.parquet", row_group_size=700
    )
    return ParquetChunks(folder / "data.parquet", "target", rows=500)


def as_memmap(X, y, folder):
    source = ArrayChunks(mapped(X, folder), rows=450)
    source.y = y
    return source


MODELS = [
    LinearSVC(loss="hinge"),
    LinearSVC(),
    LinearSVC(penalty="l1", C=0.01, tol=1e-10),
    LogisticRegression(),
    LinearSVR(epsilon=0.1),
    RidgeRegression(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("opened", [as_memmap, as_parquet, as_svmlight])
def test_fit_of_a_file_equals_the_fit_in_memory(model, opened, tmp_path):
    X, y = samples()
    source = opened(X, y, tmp_path)
    kind = type(model)
    inside = kind(**model.get_params()).fit(X, y)
    outside = kind(**model.get_params()).fit(source, source.y)
    assert len(source.edges) > 4
    np.testing.assert_allclose(outside.coef_, inside.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(outside.intercept_, inside.intercept_, rtol=1e-6, atol=1e-7)
    assert outside.certificate_.relative_gap <= 1e-6
    np.testing.assert_allclose(outside.predict(source), inside.predict(X), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("large", [True, False])
def test_memory_map_is_fitted_as_it_is(dtype, large, tmp_path, monkeypatch):
    if large:
        monkeypatch.setattr(linear_base, "KEPT_BYTES", 1000)
    X, y = samples()
    X = np.round(10 * X)
    outside = LinearSVC().fit(mapped(X, tmp_path, dtype), y)
    np.testing.assert_allclose(outside.coef_, LinearSVC().fit(X, y).coef_, rtol=1e-6, atol=1e-8)


def test_weights_and_several_classes_work_on_chunks(tmp_path):
    X, y = samples()
    y = y + (X[:, 0] > 0.5)
    weight = np.random.default_rng(1).integers(0, 3, y.size)
    source = as_memmap(X, y, tmp_path)
    inside = LinearSVC().fit(X, y, sample_weight=weight)
    outside = LinearSVC().fit(source, y, sample_weight=weight)
    np.testing.assert_allclose(outside.coef_, inside.coef_, rtol=1e-6, atol=1e-7)


def test_svmlight_chunks_hold_every_line_once(tmp_path):
    X, y = samples(200)
    X[17] = 0.0
    source = as_svmlight(X, y, tmp_path)
    read = sp.vstack([source.read(k) for k in range(len(source.edges) - 1)])
    np.testing.assert_array_equal(read.toarray(), X)
    np.testing.assert_array_equal(source.y, y)


@pytest.mark.parametrize("zero_based", [True, False])
def test_indices_from_zero_and_from_one_are_told_apart(zero_based, tmp_path):
    X, y = samples(50)
    dump_svmlight_file(X, y, str(tmp_path / "data.svm"), zero_based=zero_based)
    source = SvmlightChunks(tmp_path / "data.svm", chunk_bytes=500)
    assert (source.n, source.d) == X.shape


def test_zero_may_be_the_index_of_any_chunk(tmp_path):
    (tmp_path / "data.svm").write_text("1 3:1\n-1 0:2 3:4\n1 1:5\n")
    source = SvmlightChunks(tmp_path / "data.svm", chunk_bytes=6)
    read = sp.vstack([source.read(k) for k in range(len(source.edges) - 1)])
    np.testing.assert_array_equal(read.toarray(), [[0, 0, 0, 1], [2, 0, 0, 4], [0, 5, 0, 0]])


def test_file_of_labels_alone_has_one_feature(tmp_path):
    (tmp_path / "data.svm").write_text("1\n-1\n")
    source = SvmlightChunks(tmp_path / "data.svm")
    np.testing.assert_array_equal(source.read(0).toarray(), [[0.0], [0.0]])


def test_too_few_features_are_refused(tmp_path):
    X, y = samples(50)
    dump_svmlight_file(X, y, str(tmp_path / "data.svm"), zero_based=False)
    with pytest.raises(ValueError, match="features must be at least 12"):
        SvmlightChunks(tmp_path / "data.svm", features=5)


def test_empty_files_and_unknown_columns_and_texts_are_refused(tmp_path):
    polars = pytest.importorskip("polars")
    (tmp_path / "empty.svm").write_text("")
    with pytest.raises(ValueError, match="has no samples"):
        SvmlightChunks(tmp_path / "empty.svm")
    path = tmp_path / "data.parquet"
    polars.DataFrame({"a": [1.0], "b": ["x"], "y": [1]}).write_parquet(path)
    with pytest.raises(ValueError, match="target must be one of"):
        ParquetChunks(path, "z")
    with pytest.raises(ValueError, match=r"'b' of .* not numeric"):
        ParquetChunks(path, "y")
    assert ParquetChunks(path, "y", columns=["a"]).read(0).tolist() == [[1.0]]


def test_names_of_columns_become_names_of_features(tmp_path):
    X, y = samples(100, 3)
    source = as_parquet(X, y, tmp_path)
    model = LinearSVC().fit(source, source.y)
    assert model.feature_names_in_.tolist() == ["f0", "f1", "f2"]


def test_missing_values_and_wrong_numbers_of_targets_are_refused():
    X, y = samples()
    with pytest.raises(ValueError, match="X has 3000, y has 2999"):
        LinearSVC().fit(ArrayChunks(X), y[1:])
    X[77, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        LinearSVC().fit(ArrayChunks(X, rows=50), y)
    with pytest.raises(ValueError, match="needs X in memory"):
        LinearSVC(multi_class="crammer_singer").fit(ArrayChunks(np.nan_to_num(X)), y)


def test_other_numbers_of_features_are_refused_in_prediction():
    X, y = samples(100)
    with pytest.raises(ValueError, match="X has 11 features, but LinearSVC is expecting 12"):
        LinearSVC().fit(X, y).predict(ArrayChunks(X[:, 1:]))
