"""Trees are those of the naive builder, node by node, on problems full of ties."""

import numpy as np
import pytest
from compiling import examples
from hypothesis import given
from hypothesis import strategies as st
from naive_tree import naive_nodes, naive_tree
from scipy import sparse

from maxmargin.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor


def drawn(seed):
    """A small problem with few distinct values, so that ties abound, and sometimes with NaN."""
    random = np.random.default_rng(seed)
    n, d = random.integers(2, 30), random.integers(1, 5)
    X = random.integers(-2, random.integers(0, 6), size=(n, d)) * random.choice([0.1, 1.0])
    if random.random() < 0.3:
        X = np.where(random.random(X.shape) < 0.8, 0.0, X)
    if random.random() < 0.4:
        X = np.where(random.random(X.shape) < 0.2, np.nan, X)
    y = random.integers(0, random.integers(2, 5), size=n)
    options = {}
    if random.random() < 0.3:
        options["max_depth"] = int(random.integers(1, 4))
    if random.random() < 0.3:
        options["min_samples_leaf"] = int(random.integers(1, 5))
    if random.random() < 0.3:
        options["min_samples_split"] = int(random.integers(2, 8))
    return X.astype(random.choice([np.float32, np.float64])), y, options


def model_for(criterion, **options):
    kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    return kind(criterion=criterion, **options)


def assert_same_tree(tree, X, naive):
    nodes = naive_nodes(naive)
    assert tree.feature.tolist() == [node.feature for node in nodes]
    assert tree.threshold.tolist() == [node.threshold for node in nodes]
    assert tree.n_node_samples.tolist() == [len(node.rows) for node in nodes]
    np.testing.assert_allclose(tree.cost, [node.cost for node in nodes], rtol=1e-12, atol=1e-12)
    for place, node in enumerate(nodes):
        if node.left is not None and np.isnan(X[list(node.rows), node.feature]).any():
            assert tree.missing_go_to_left[place] == node.missing_left


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@examples(150)
@given(seed=st.integers(0, 2**32 - 1))
def test_tree_is_that_of_the_definition(criterion, seed):
    X, y, options = drawn(seed)
    model = model_for(criterion, **options).fit(X, y)
    assert_same_tree(model.tree_, X, naive_tree(criterion, X, y, **options))


@examples(100)
@given(seed=st.integers(0, 2**32 - 1))
def test_sparse_inputs_give_the_tree_of_dense_ones(seed):
    X, y, options = drawn(seed)
    for criterion in ("entropy", "squared_error"):
        dense = model_for(criterion, **options).fit(X, y)
        for form in (sparse.csc_array, sparse.csr_matrix, sparse.coo_array):
            thin = model_for(criterion, **options).fit(form(X), y)
            for name in ("feature", "threshold", "cost", "missing_go_to_left", "value"):
                np.testing.assert_array_equal(getattr(thin.tree_, name), getattr(dense.tree_, name))
            np.testing.assert_array_equal(thin.apply(form(X)), dense.apply(X))


def exact_weights(random, n):
    return random.integers(0, 4, size=n) + (np.arange(n) == 0)


@examples(150)
@given(seed=st.integers(0, 2**32 - 1))
def test_weight_three_equals_three_copies_and_zero_absence(seed):
    X, y, options = drawn(seed)
    weight = exact_weights(np.random.default_rng(seed), len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for criterion in ("gini", "entropy", "squared_error"):
        weighted = model_for(criterion, **options).fit(X, y, sample_weight=weight)
        copied = model_for(criterion, **options).fit(X[rows], y[rows])
        names = ("feature", "threshold", "n_node_samples", "weighted_n_node_samples")
        for name in names:
            np.testing.assert_array_equal(
                getattr(weighted.tree_, name), getattr(copied.tree_, name)
            )
        np.testing.assert_allclose(weighted.tree_.cost, copied.tree_.cost, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(weighted.tree_.value, copied.tree_.value, rtol=1e-14, atol=1e-15)


@examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_samples_does_not_matter(seed):
    X, y, options = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    for criterion in ("gini", "squared_error"):
        one = model_for(criterion, **options).fit(X, y).tree_
        other = model_for(criterion, **options).fit(X[order], y[order]).tree_
        np.testing.assert_array_equal(one.feature, other.feature)
        np.testing.assert_array_equal(one.threshold, other.threshold)


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), leaves=st.integers(2, 8))
def test_best_first_splits_the_leaf_with_the_lowest_difference_next(seed, leaves):
    """A tree of k leaves is one of k − 1 whose leaf with the lowest difference was split."""
    X, y, _ = drawn(seed)
    for criterion in ("gini", "squared_error"):
        whole = model_for(criterion).fit(X, y).tree_
        limited = model_for(criterion, max_leaf_nodes=leaves).fit(X, y).tree_
        assert limited.n_leaves == min(leaves, whole.n_leaves)
        # Walk down the unlimited tree, always splitting the best of the present leaves.
        gain = whole.cost - whole.cost[whole.children_left] - whole.cost[whole.children_right]
        present, split = {0}, set()
        while len(present) < limited.n_leaves:
            inner = [node for node in present if whole.children_left[node] >= 0]
            best = max(inner, key=lambda node: (round(gain[node], 9), -node))
            present -= {best}
            present |= {int(whole.children_left[best]), int(whole.children_right[best])}
            split.add(best)
        reached = limited.cost[limited.children_left < 0].sum()
        assert reached == pytest.approx(whole.cost[list(present)].sum(), abs=1e-9)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_exclusive_or_is_split_without_gain(criterion):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    model = model_for(criterion).fit(X, y)
    assert model.tree_.feature.tolist() == [0, 1, -2, -2, 1, -2, -2]
    assert model.tree_.cost[0] == model.tree_.cost[1] + model.tree_.cost[4]
    np.testing.assert_array_equal(model.predict(X), y)


def test_ties_go_to_the_lowest_feature_then_the_lowest_value():
    X = np.array([[2.0, 0, 0], [1, 1, 1], [1, 2, 2], [1, 3, 3]])
    tree = DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 0, 1]).tree_
    assert (tree.feature[0], tree.threshold[0]) == (0, 1.5)
    alternating = np.arange(6.0)[:, None]
    tree = DecisionTreeClassifier(max_depth=1).fit(alternating, [0, 1, 1, 1, 1, 0]).tree_
    assert tree.threshold[0] == 0.5


def test_threshold_lies_between_neighbouring_numbers():
    low = 1.0
    high = np.nextafter(low, 2.0)
    model = DecisionTreeClassifier().fit([[low], [high]], [0, 1])
    np.testing.assert_array_equal(model.predict([[low], [high]]), [0, 1])
    huge = np.finfo(np.float64).max
    model = DecisionTreeClassifier().fit([[-huge], [huge]], [0, 1])
    assert model.tree_.threshold[0] == 0.0
    tiny = 5e-324
    model = DecisionTreeClassifier().fit([[0.0], [tiny]], [0, 1])
    np.testing.assert_array_equal(model.predict([[0.0], [tiny]]), [0, 1])


def test_negative_zero_is_zero():
    model = DecisionTreeClassifier().fit([[-0.0], [0.0], [1.0]], [0, 1, 1])
    assert model.tree_.threshold[0] == 0.5


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_scale_of_targets_does_not_change_the_tree(scale):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(60, 3)), random.integers(-9, 9, size=60) + 0.5
    tree = DecisionTreeRegressor().fit(X, y).tree_
    scaled = DecisionTreeRegressor().fit(X, y * scale)
    np.testing.assert_array_equal(scaled.tree_.threshold, tree.threshold)
    np.testing.assert_allclose(scaled.predict(X), y * scale, rtol=1e-14)


def test_large_offset_of_targets_does_not_hide_small_differences():
    """Sums of squares would lose them: 1e8 squared is 1e16."""
    X = np.arange(200.0)[:, None]
    y = 1e8 + (X[:, 0] >= 120)
    tree = DecisionTreeRegressor().fit(X, y).tree_
    assert (tree.node_count, tree.threshold[0]) == (3, 119.5)


def test_random_features_are_those_of_random_state():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 20)), random.integers(0, 2, size=200)

    def features(seed):
        model = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
        return model.fit(X, y).tree_.feature.tolist()

    assert features(3) == features(3) != features(4)
    model = DecisionTreeClassifier(max_features=2, random_state=0).fit(X, y)
    assert model.max_features_ == 2
    np.testing.assert_array_equal(model.predict(X), y)


def test_other_features_are_tried_where_those_drawn_do_not_separate():
    """A leaf needs five samples, which the first feature cannot give."""
    X = np.column_stack([np.arange(10) == 0, np.arange(10) >= 5]).astype(float)
    y = (np.arange(10) >= 5).astype(int)
    for seed in range(8):
        model = DecisionTreeClassifier(max_features=1, min_samples_leaf=5, random_state=seed)
        assert model.fit(X, y).tree_.feature[0] == 1


def test_every_feature_is_drawn_equally_often():
    X = np.tile(np.arange(8.0)[:, None], (1, 5))
    y = (np.arange(8) >= 4).astype(int)
    roots = [
        DecisionTreeClassifier(max_features=1, max_depth=1, random_state=seed).fit(X, y)
        for seed in range(500)
    ]
    counts = np.bincount([model.tree_.feature[0] for model in roots], minlength=5)
    assert counts.sum() == 500
    assert ((counts > 60) & (counts < 140)).all()
