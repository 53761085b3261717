"""What trees tell: costs, pruning, candidates, texts, missing values, errors."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from compiling import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from maxmargin.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    cost_of,
    mermaid,
)

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 3))
Y = (X[:, 0] + RANDOM.normal(size=60) > 0).astype(int) + (X[:, 1] > 0)


# ---- criteria -------------------------------------------------------------------------------


@examples(50)
@given(seed=st.integers(0, 2**32 - 1))
def test_gini_is_the_squared_error_of_one_hot_targets(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, size=random.integers(1, 20))
    weight = random.uniform(0.1, 3.0, size=labels.size)
    one_hot = np.eye(4)[labels]
    expected = sum(cost_of("squared_error", column, weight) for column in one_hot.T)
    assert cost_of("gini", labels, weight) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@examples(50)
@given(seed=st.integers(0, 2**32 - 1))
def test_entropy_is_the_negative_log_likelihood_of_the_shares(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, size=random.integers(1, 20))
    weight = random.uniform(0.1, 3.0, size=labels.size)
    shares = np.bincount(labels, weight) / weight.sum()
    expected = -(weight * np.log(shares[labels])).sum()
    assert cost_of("entropy", labels, weight) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_costs_of_nodes_are_sums_over_their_samples(criterion):
    weight = RANDOM.uniform(0.5, 2.0, size=60)
    model = DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(X, Y, weight)
    path = model.decision_path(X).toarray().astype(bool)
    for node in range(model.tree_.node_count):
        rows = path[:, node]
        expected = cost_of(criterion, Y[rows], weight[rows])
        assert model.tree_.cost[node] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        unit = np.log(2) if criterion == "entropy" else 1.0
        per_weight = expected / weight[rows].sum() / unit
        assert model.tree_.impurity[node] == pytest.approx(per_weight, rel=1e-12, abs=1e-12)


def test_log_loss_is_entropy():
    one = DecisionTreeClassifier(criterion="log_loss").fit(X, Y).tree_
    other = DecisionTreeClassifier(criterion="entropy").fit(X, Y).tree_
    np.testing.assert_array_equal(one.threshold, other.threshold)


def test_mean_of_equal_targets_is_exact():
    model = DecisionTreeRegressor().fit([[0], [0], [0], [1]], [0.1, 0.1, 0.1, 5.0])
    assert model.predict([[0]]) == 0.1


# ---- weights --------------------------------------------------------------------------------


def test_class_weights_multiply_sample_weights():
    weight = RANDOM.uniform(0.5, 2.0, size=60)
    factors = {0: 2.0, 1: 0.5, 2: 1.5}
    one = DecisionTreeClassifier(class_weight=factors, max_depth=3).fit(X, Y, weight)
    both = weight * np.array([2.0, 0.5, 1.5])[Y]
    other = DecisionTreeClassifier(max_depth=3).fit(X, Y, both)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-12)


def test_balanced_classes_have_equal_weight():
    root = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(X, Y).tree_
    np.testing.assert_allclose(root.value[0, 0], np.full(3, 1 / 3))


def test_class_without_weight_is_absent():
    model = DecisionTreeClassifier(class_weight={0: 1.0, 1: 1.0, 2: 0.0}).fit(X, Y)
    assert model.classes_.tolist() == [0, 1]
    weight = (Y != 1).astype(float)
    assert DecisionTreeClassifier().fit(X, Y, weight).classes_.tolist() == [0, 2]


def test_limits_count_copies_of_whole_weights_and_samples_otherwise():
    inputs, target = [[0.0], [1.0]], [0, 1]
    limited = DecisionTreeClassifier(min_samples_leaf=3)
    assert limited.fit(inputs, target, [3, 3]).get_n_leaves() == 2
    assert limited.fit(inputs, target, [3, 2]).get_n_leaves() == 1
    assert limited.fit(inputs, target, [3.5, 3.5]).get_n_leaves() == 1


def test_weights_that_sum_to_one_do_not_stop_growth():
    weight = np.full(60, 1 / 60)
    one = DecisionTreeClassifier().fit(X, Y, weight)
    np.testing.assert_array_equal(one.predict(X), Y)


# ---- pruning --------------------------------------------------------------------------------


def all_subtrees(tree, node=0):
    """All sets of leaves of trees with the same root."""
    yield (node,)
    left, right = tree.children_left[node], tree.children_right[node]
    if left >= 0:
        pairs = itertools.product(all_subtrees(tree, left), all_subtrees(tree, right))
        yield from (a + b for a, b in pairs)


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.floats(0.001, 0.3))
def test_pruned_tree_has_the_lowest_penalised_cost_of_all_subtrees(seed, alpha):
    random = np.random.default_rng(seed)
    inputs, target = random.normal(size=(25, 2)), random.integers(0, 3, size=25)
    whole = DecisionTreeClassifier(max_leaf_nodes=9).fit(inputs, target).tree_
    risk = whole.impurity * whole.weighted_n_node_samples / 25
    least = min(risk[list(leaves)].sum() + alpha * len(leaves) for leaves in all_subtrees(whole))
    model = DecisionTreeClassifier(max_leaf_nodes=9, ccp_alpha=alpha).fit(inputs, target)
    tree = model.tree_
    leaves = tree.children_left < 0
    reached = (tree.impurity * tree.weighted_n_node_samples / 25)[leaves].sum()
    assert reached + alpha * leaves.sum() == pytest.approx(least, rel=1e-12)
    assert tree.n_node_samples[leaves].sum() == 25
    assert np.bincount(model.apply(inputs), minlength=tree.node_count).tolist() == (
        np.where(leaves, tree.n_node_samples, 0).tolist()
    )


def test_pruning_path_ends_at_the_root():
    path = DecisionTreeClassifier().cost_complexity_pruning_path(X, Y)
    assert (np.diff(path.ccp_alphas) >= 0).all()
    root = DecisionTreeClassifier(ccp_alpha=path.ccp_alphas[-1]).fit(X, Y)
    assert root.get_n_leaves() == 1
    assert root.tree_.impurity[0] == pytest.approx(path.impurities[-1])


# ---- candidates -----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@examples(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_split_of_the_tree_is_the_first_of_the_best_candidates(criterion, seed):
    random = np.random.default_rng(seed)
    inputs = np.round(random.normal(size=(20, 3)), 1)
    inputs[random.random(inputs.shape) < 0.1] = np.nan
    target = random.integers(0, 3, size=20)
    kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    model = kind(criterion=criterion, min_samples_leaf=2, trace=True).fit(inputs, target)
    tree = model.tree_
    assert [split.node for split in model.splits_] == np.flatnonzero(tree.feature >= 0).tolist()
    for split in model.splits_:
        difference = np.where(split.allowed, split.difference, np.inf)
        first = np.flatnonzero(difference <= difference.min() + 1e-9)[0]
        assert split.chosen == first
        assert split.feature[first] == tree.feature[split.node]
        assert split.threshold[first] == tree.threshold[split.node]
        left, right = tree.children_left[split.node], tree.children_right[split.node]
        assert split.cost == pytest.approx(tree.cost[split.node], rel=1e-12)
        assert split.cost_left[first] == pytest.approx(tree.cost[left], rel=1e-9, abs=1e-12)
        assert split.cost_right[first] == pytest.approx(tree.cost[right], rel=1e-9, abs=1e-12)


def test_table_of_candidates_shows_the_best_first():
    model = DecisionTreeRegressor(trace=True, max_depth=1)
    model.fit([[1, 0], [2, 0], [3, 1], [4, 0]], [1.0, 1.0, 5.0, 7.0])
    (split,) = model.splits_
    assert split.table(["length", "mark"]).splitlines() == [
        "node 0: 4 samples, c_T = 27",
        "   split                                c_L         c_R   c_L+c_R-c_T",
        " * length <= 2.5                          0           2           -25",
        "   length <= 3.5                    10.6667           0      -16.3333",
        "   length <= 1.5                          0     18.6667      -8.33333",
        "   mark <= 0.5                           24           0            -3",
    ]
    assert split.table(rows=1).endswith("and 3 more")


def test_candidates_are_recorded_on_request_only_and_of_small_data():
    assert not hasattr(DecisionTreeClassifier().fit(X, Y), "splits_")
    model = DecisionTreeClassifier(trace=True).fit(X, Y)
    model.set_params(trace=False).fit(X, Y)
    assert not hasattr(model, "splits_")


def test_too_many_candidates_are_refused(monkeypatch):
    monkeypatch.setattr("maxmargin.estimators.tree.splits.MOST", 100)
    with pytest.raises(ValueError, match="more than 100 of them: take fewer samples"):
        DecisionTreeClassifier(trace=True).fit(X, Y)


# ---- missing values -------------------------------------------------------------------------


def test_missing_values_alone_make_a_split():
    model = DecisionTreeClassifier().fit([[np.nan], [np.nan], [1.0], [2.0]], [1, 1, 0, 0])
    assert model.tree_.threshold[0] == np.inf
    np.testing.assert_array_equal(model.predict([[np.nan], [1e300], [-5.0]]), [1, 0, 0])


def test_missing_values_go_where_they_cost_less():
    inputs, target = [[np.nan], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = DecisionTreeClassifier(max_depth=1).fit(inputs, target)
    assert model.tree_.threshold[0] == 1.5
    assert model.tree_.missing_go_to_left[0]
    np.testing.assert_array_equal(model.predict(inputs), target)


def test_missing_values_of_sparse_inputs_are_missing():
    inputs = sparse.csr_array(np.array([[np.nan], [1.0], [0.0], [0.0], [np.nan], [2.0]]))
    target = [1, 0, 0, 0, 1, 0]
    model = DecisionTreeClassifier().fit(inputs, target)
    np.testing.assert_array_equal(model.predict(inputs), target)
    np.testing.assert_array_equal(model.predict(inputs.toarray()), target)


def test_column_of_missing_values_is_never_split():
    inputs = np.column_stack([np.full(60, np.nan), X])
    tree = DecisionTreeClassifier().fit(inputs, Y).tree_
    assert 0 not in tree.feature
    assert DecisionTreeRegressor().fit(np.full((4, 1), np.nan), np.arange(4.0)).get_depth() == 0


# ---- what trees look like -------------------------------------------------------------------


def test_names_of_columns_are_those_of_the_text():
    frame = pd.DataFrame(X, columns=["width", "height", "depth"])
    text = DecisionTreeClassifier(max_depth=1).fit(frame, Y).export_text()
    assert text.splitlines()[0].split(" <=")[0] in ("|--- width", "|--- height")


def test_mermaid_draws_every_node_and_escapes_names():
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.array(["a<b", 'say "c"', "d"])[Y])
    text = mermaid(model, feature_names=["x & y", "u", "v"])
    lines = text.splitlines()
    tree = model.tree_
    assert sum(" -- " in line for line in lines) == tree.node_count - 1
    assert len(lines) == 1 + tree.node_count + tree.node_count - 1
    assert '"a<b' not in text
    assert "a&lt;b" in text or "say &quot;c&quot;" in text
    assert len(mermaid(model, max_depth=0).splitlines()) == 2


def test_wrong_number_of_names_is_refused():
    model = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    with pytest.raises(ValueError, match="feature_names must contain 3 names"):
        model.export_text(feature_names=["a"])
    with pytest.raises(ValueError, match="class_names must contain 3 names"):
        mermaid(model, class_names=["a"])
    with pytest.raises(ValueError, match="decimals must be a whole number of at least 0"):
        model.export_text(decimals=-1)


# ---- the rest -------------------------------------------------------------------------------


def test_pickled_tree_predicts_the_same():
    model = DecisionTreeClassifier().fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_small_integers_are_as_good_as_real_numbers():
    pixels = RANDOM.integers(0, 255, size=(80, 6))
    target = (pixels[:, 2] > 100).astype(int)
    plain = DecisionTreeClassifier().fit(pixels.astype(float), target).tree_
    for dtype in (np.uint8, np.int16, np.int64, np.float32):
        tree = DecisionTreeClassifier().fit(pixels.astype(dtype), target).tree_
        np.testing.assert_array_equal(tree.threshold, plain.threshold)


def test_large_integers_keep_all_their_digits():
    inputs = np.array([[2**53 - 2], [2**53 - 1]])
    model = DecisionTreeClassifier().fit(inputs, [0, 1])
    np.testing.assert_array_equal(model.predict(inputs), [0, 1])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("criterion", "mse", "criterion of DecisionTreeClassifier must be one of 'gini'"),
        ("max_depth", 0, "max_depth of DecisionTreeClassifier must be a whole number"),
        ("min_samples_split", 1, "whole number of at least 2, or a share in"),
        ("min_samples_leaf", 1.0, "whole number of at least 1, or a share in"),
        ("min_weight_fraction_leaf", 0.6, "must be a number in"),
        ("max_features", 0, "a whole number of at least 1, a share in"),
        ("max_features", "half", "a whole number of at least 1, a share in"),
        ("max_leaf_nodes", 1, "max_leaf_nodes of DecisionTreeClassifier must be"),
        ("min_impurity_decrease", -1.0, "min_impurity_decrease of DecisionTreeClassifier"),
        ("ccp_alpha", -0.1, "ccp_alpha of DecisionTreeClassifier must be a number"),
        ("class_weight", "even", "class_weight of DecisionTreeClassifier must be one of"),
        ("trace", 1, "trace of DecisionTreeClassifier must be one of"),
    ],
)
def test_bad_parameter_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(**{name: value}).fit(X, Y)


def test_classes_without_any_weight_are_refused():
    with pytest.raises(ValueError, match="class_weight leaves no sample"):
        DecisionTreeClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, Y)


def test_clone_keeps_parameters():
    model = DecisionTreeRegressor(max_depth=3, min_samples_leaf=0.1)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("options", [{}, {"max_depth": 1}, {"spacing": 1, "decimals": 4}], ids=str)
def test_rules_of_a_deep_tree_are_laid_out_as_by_scikit_learn(options):
    X = np.arange(20.0)[:, None]
    y = 1.1 ** X[:, 0]  # no two splits are equally good
    ours = DecisionTreeRegressor(max_depth=4).fit(X, y)
    other = sklearn.tree.DecisionTreeRegressor(max_depth=4).fit(X, y)
    assert ours.export_text(**options) == sklearn.tree.export_text(other, **options)
