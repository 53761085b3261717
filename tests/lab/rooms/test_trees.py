"""The room of decision trees tells what the library's trees did."""

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code

from maxmargin.estimators.tree import LEAF, DecisionTreeClassifier
from maxmargin.estimators.tree.growth.loop import grow
from maxmargin.estimators.tree.pruning import pruned, weakest_links
from maxmargin.lab.rooms.fields import RequestError
from maxmargin.lab.rooms.trees import ROOM, answer

REQUESTS = [
    {"example": "moons", "size": 40, "max_depth": 4},
    {"example": "chess", "size": 60, "max_depth": 5, "criterion": "entropy"},
    {"example": "xor", "size": 50, "max_depth": 6, "max_leaves": 7, "min_leaf": 2},
]


def fitted(found, request):
    points = np.array(found["points"])
    model = DecisionTreeClassifier(
        criterion=request.get("criterion", "gini"),
        max_depth=request["max_depth"],
        max_leaf_nodes=request.get("max_leaves"),
        min_samples_leaf=request.get("min_leaf", 1),
        trace=True,
    )
    return model.fit(points[:, :2], points[:, 2]), points


@pytest.mark.parametrize("request_", REQUESTS)
def test_nodes_and_candidates_are_those_of_the_estimator(request_):
    found = as_json(answer(request_))
    model, _ = fitted(found, request_)
    tree = model.tree_
    for name, column in (
        ("cost", tree.cost),
        ("impurity", tree.impurity),
        ("left", tree.children_left),
    ):
        assert [node[name] for node in found["nodes"]] == column.tolist()
    for split in model.splits_:
        table = found["splits"][str(split.node)]
        assert sorted(table["gain"]) == sorted((-split.difference).tolist())
        assert table["threshold"][table["chosen"]] == tree.threshold[split.node]


@pytest.mark.parametrize("request_", REQUESTS)
def test_splits_come_in_the_order_in_which_the_compiled_loop_makes_them(request_, monkeypatch):
    found = answer(request_)
    seen = {}

    def watched(kind, classes, columns, targets, limits, seed, nodes):
        total, order = grow(kind, classes, columns, targets, limits, seed, nodes)
        seen["nodes"] = nodes[:total].copy()
        return total, order

    monkeypatch.setattr("maxmargin.estimators.tree.fitting.grow", watched)
    fitted(found, request_)
    made = seen["nodes"]
    splits = np.flatnonzero(made["left"] != LEAF)
    by_time = splits[np.argsort(made["left"][splits])]
    told = [frame["node"] for frame in found["frames"] if frame["kind"] == "split"]
    assert [found["nodes"][node]["cost"] for node in told] == made["cost"][by_time].tolist()
    assert [found["nodes"][node]["samples"] for node in told] == made["copies"][by_time].tolist()


@pytest.mark.parametrize("request_", REQUESTS)
def test_pruning_frames_are_the_best_subtrees(request_):
    found = answer(request_)
    model, points = fitted(found, request_)
    links = weakest_links(model.tree_)
    frames = [frame for frame in found["frames"] if frame["kind"] == "prune"]
    assert [frame["node"] for frame in frames] == [node for _, node, _ in links]
    for frame, (_, _, risk) in zip(frames, links):
        assert frame["risk"] == pytest.approx(risk, rel=1e-12, abs=1e-15)
    middle = (len(frames) - 1) // 2
    if len(frames) > 1 and frames[middle]["alpha"] < frames[middle + 1]["alpha"]:
        smaller = pruned(model.tree_, frames[middle]["alpha"])
        assert smaller.n_leaves == len(frames[middle]["leaves"])
        answers = model.classes_[smaller.value[:, 0].argmax(axis=1)]
        wrong = answers[smaller.apply(np.ascontiguousarray(points[:, :2]))] != points[:, 2]
        assert wrong.sum() == frames[middle]["errors"]


def test_boxes_of_leaves_hold_their_samples_and_nothing_else():
    found = answer(REQUESTS[0])
    model, points = fitted(found, REQUESTS[0])
    leaves = model.apply(points[:, :2])
    for number, node in enumerate(found["nodes"]):
        low1, high1, low2, high2 = (
            other if bound is None else bound
            for bound, other in zip(node["box"], (-np.inf, np.inf, -np.inf, np.inf))
        )
        x1, x2 = points[:, 0], points[:, 1]
        inside = (x1 > low1) & (x1 <= high1) & (x2 > low2) & (x2 <= high2)
        if node["left"] == LEAF:
            assert (inside == (leaves == number)).all()
        assert inside.sum() == node["samples"]


def test_one_point_is_a_tree_of_its_root():
    found = answer({"points": [[0.5, 1, -1]]})
    assert [frame["kind"] for frame in found["frames"]] == ["root"]
    assert found["nodes"][0]["label"] == -1.0


@pytest.mark.parametrize("request_", REQUESTS)
def test_code_runs_and_prints_the_tree(request_):
    printed = run_code(answer(request_)["code"])
    assert "|--- x" in printed
    assert "c_L+c_R-c_T" in printed


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"criterion": "best"}, "criterion must be one of gini, entropy"),
        ({"max_depth": 99}, "max_depth must be between 1 and 8"),
        ({"max_leaves": 1}, "max_leaves must be between 2 and 64"),
        ({"points": []}, "points must have 1 to 200 rows"),
        ({"points": [[0, 1, 2]]}, "class, -1 or 1"),
        ({"points": [[0, 1, 1]] * 201}, "points must have 1 to 200 rows"),
        ({"points": [[0, float("nan"), 1]]}, "numbers of points must be at most 1000"),
        ({"depth": 3}, "unknown field 'depth'"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)


def test_room_says_what_it_is():
    assert ROOM.name == "trees"
    assert ROOM.sentence.endswith(".")


def test_classes_0_and_1_are_taken_as_those_of_the_main_room():
    by_sign = answer({"points": [[0, 0, -1], [1, 0, 1]]})
    assert answer({"points": [[0, 0, 0], [1, 0, 1]]}) == by_sign
