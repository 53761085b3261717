"""scikit-learn's checks of an estimator, and its trees: the same but for ties."""

import numpy as np
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor

THEIRS = {
    DecisionTreeClassifier: sklearn.tree.DecisionTreeClassifier,
    DecisionTreeRegressor: sklearn.tree.DecisionTreeRegressor,
}


@parametrize_with_checks(
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="entropy"),
        DecisionTreeClassifier(max_leaf_nodes=5),
        DecisionTreeClassifier(max_features="sqrt", random_state=0),
        DecisionTreeClassifier(ccp_alpha=0.01, min_samples_leaf=2),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(max_leaf_nodes=5, min_samples_leaf=0.05),
        DecisionTreeRegressor(trace=True, max_depth=2),
    ]
)
def test_scikit_learns_check(estimator, check):
    check(estimator)


def drawn(seed):
    """A random problem and options that both libraries understand alike.

    Inputs are float32, to which scikit-learn rounds, and no two values are within its 1e-7.
    """
    random = np.random.default_rng(seed)
    n, d = int(random.integers(20, 250)), int(random.integers(1, 7))
    X = random.normal(size=(n, d))
    shape = seed % 4
    if shape == 1:
        X = np.round(X, 1)
    elif shape == 2:
        X = np.where(random.random(X.shape) < 0.7, 0.0, X)
    elif shape == 3:
        X = np.where(random.random(X.shape) < 0.1, np.nan, X)
    X = X.astype(np.float32)
    options = {}
    if random.random() < 0.3:
        options["max_depth"] = int(random.integers(1, 6))
    if random.random() < 0.3:
        options["min_samples_leaf"] = int(random.integers(2, 8))
    if random.random() < 0.2:
        options["min_weight_fraction_leaf"] = 0.03
    if random.random() < 0.2:
        options["min_samples_split"] = 0.1
    if random.random() < 0.2:
        options["min_impurity_decrease"] = 0.004
    classify = random.random() < 0.6
    signal = np.nan_to_num(X) @ random.normal(size=d) + 0.5 * random.normal(size=n)
    if classify:
        y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, random.integers(3, 6))[1:-1]))
        options["criterion"] = str(random.choice(["gini", "entropy"]))
        if random.random() < 0.2:
            options["class_weight"] = "balanced"
    else:
        y = signal
    # Not whole, so that limits count samples as scikit-learn's do.
    weighted = random.random() < 0.4 and "class_weight" not in options
    weight = random.uniform(0.5, 2.0, size=n) if weighted else None
    if weight is not None:
        # Of samples without weight, scikit-learn counts some as present.
        options.pop("min_samples_split", None)
        weight[random.random(n) < 0.1] = 0.0
    kind = DecisionTreeClassifier if classify else DecisionTreeRegressor
    return kind, options, X, y, weight


def stump_decrease(model, X, y, weight, rows):
    """The impurity of a node, and by how much scikit-learn's best split of it lowers that."""
    names = ("criterion", "min_samples_leaf")
    options = {name: getattr(model, name) for name in names}
    stump = THEIRS[type(model)](max_depth=1, random_state=0, **options)
    tree = stump.fit(X[rows], y[rows], sample_weight=weight[rows]).tree_
    if tree.node_count == 1:
        return tree.impurity[0], 0.0
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return tree.impurity[0], tree.impurity[0] - (share * tree.impurity)[1:].sum()


def assert_every_split_is_as_good(model, X, y, weight, nodes=None):
    """Every node has scikit-learn's impurity, and gains what its best split of the node gains."""
    tree = model.tree_
    path = model.decision_path(X).tocsc()
    for node in range(tree.node_count) if nodes is None else nodes:
        rows = path.indices[path.indptr[node] : path.indptr[node + 1]]
        rows = rows[weight[rows] > 0]
        impurity, decrease = stump_decrease(model, X, y, weight, rows)
        assert tree.impurity[node] == pytest.approx(impurity, rel=1e-9, abs=1e-12)
        left, right = tree.children_left[node], tree.children_right[node]
        if left >= 0:
            w = tree.weighted_n_node_samples
            ours = (w[left] * tree.impurity[left] + w[right] * tree.impurity[right]) / w[node]
            assert tree.impurity[node] - ours == pytest.approx(decrease, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("seed", range(200))
def test_splits_are_as_good_as_scikit_learns_and_ends_are_the_same(seed):
    kind, options, X, y, weight = drawn(seed)
    model = kind(**options).fit(X, y, sample_weight=weight)
    factor = np.ones(len(y)) if weight is None else weight
    if "class_weight" in options:
        totals = np.bincount(y, factor)
        factor = factor * (totals.sum() / (totals.size * totals))[y]
    if "min_weight_fraction_leaf" not in options:
        assert_every_split_is_as_good(model, X, y, factor)
    theirs = THEIRS[kind](random_state=0, **options).fit(X, y, sample_weight=weight)
    small = model.tree_.n_node_samples.min() < 4
    if kind is DecisionTreeRegressor and (X.shape[1] == 1 or not small):
        assert_same_nodes(model.tree_, theirs.tree_)


def assert_same_nodes(ours, theirs):
    for name in ("children_left", "children_right", "feature", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.threshold, theirs.threshold)
    split = ours.children_left >= 0
    np.testing.assert_array_equal(ours.missing_go_to_left[split], theirs.missing_go_to_left[split])
    for name in ("weighted_n_node_samples", "impurity", "value"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12
        )


def without_ties(seed, n=300, d=4):
    """Regression problems whose nodes have at least 5 samples have no ties."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)).astype(np.float32)
    return X, random.normal(size=n) + X[:, 0]


@pytest.mark.parametrize("seed", range(20))
def test_without_ties_nodes_are_scikit_learns_in_the_same_order(seed):
    X, y = without_ties(seed)
    limits = [{"min_samples_leaf": 5}, {"min_samples_leaf": 5, "max_leaf_nodes": 12}]
    limits.append({"min_samples_leaf": 5, "ccp_alpha": 0.01})
    for options in limits:
        ours = DecisionTreeRegressor(**options).fit(X, y)
        theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **options).fit(X, y)
        assert_same_nodes(ours.tree_, theirs.tree_)
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, atol=1e-12
        )
        np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
        paths = ours.decision_path(X), theirs.decision_path(X)
        assert (paths[0] != paths[1]).nnz == 0
        assert (ours.get_depth(), ours.get_n_leaves()) == (
            theirs.get_depth(),
            theirs.get_n_leaves(),
        )


@pytest.mark.parametrize("seed", range(20))
def test_pruning_path_is_scikit_learns(seed):
    X, y = without_ties(seed)
    ours = DecisionTreeRegressor(min_samples_leaf=5).cost_complexity_pruning_path(X, y)
    model = sklearn.tree.DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    theirs = model.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"show_weights": True}, {"max_depth": 2, "decimals": 4}])
def test_text_is_scikit_learns(options):
    X, y = without_ties(1)
    for kind, target in ((DecisionTreeRegressor, y), (DecisionTreeClassifier, np.sign(y) + 3)):
        limits = {"min_samples_leaf": 5, "max_depth": 5}
        ours = kind(**limits).fit(X, target)
        theirs = THEIRS[kind](random_state=0, **limits).fit(X, target)
        assert ours.export_text(**options) == sklearn.tree.export_text(theirs, **options)


@pytest.mark.parametrize(
    ("name", "kind", "rows"),
    [
        ("covtype-15120", DecisionTreeClassifier, 15_120),
        ("mnist", DecisionTreeClassifier, 3_000),
        ("a9a", DecisionTreeClassifier, 32_561),
        ("banana", DecisionTreeClassifier, 5_300),
        ("spambase", DecisionTreeClassifier, 4_601),
        ("cadata", DecisionTreeRegressor, 20_640),
        ("abalone", DecisionTreeRegressor, 4_177),
    ],
)
def test_splits_of_shared_data_are_as_good_as_scikit_learns(name, kind, rows, real_data):
    X, y = real_data(name, dtype=np.float32)
    X, y = X[:rows], y[:rows]
    model = kind(max_depth=4).fit(X, y)
    inner = np.flatnonzero(model.tree_.children_left >= 0)
    assert_every_split_is_as_good(model, X, y, np.ones(len(y)), nodes=inner)


def test_sparse_text_is_split_as_by_scikit_learn(real_data):
    X, y = real_data("sms-spam", dtype=np.float32)
    X = sparse.csc_matrix(X)
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    inner = np.flatnonzero(model.tree_.children_left >= 0)
    assert_every_split_is_as_good(model, sparse.csr_matrix(X), y, np.ones(len(y)), nodes=inner)


def test_prediction_agrees_with_scikit_learns_on_missing_values_of_the_future():
    """Where there were none in training, they go where more samples went."""
    X, y = without_ties(3)
    ours = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
