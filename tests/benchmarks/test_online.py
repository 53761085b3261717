"""The benchmarks of online learning, on small parts of their data."""

import argparse

import numpy as np
import pytest

from benchmarks import online, online_gamma, online_labels
from benchmarks.online_gamma import Quality, cross_validated
from maxmargin.estimators.online.active import LabelCurve


@pytest.fixture
def toy(monkeypatch):
    """Clouds in place of pictures."""
    X = np.random.default_rng(0).normal(size=(900, 8)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    task = online.Task(X[:700], y[:700], X[700:], y[700:], {"C": 10.0, "gamma": 0.1})
    monkeypatch.setattr(online, "mnist_task", lambda: task)
    return task


@pytest.mark.usefixtures("toy")
def test_pass_is_compared_with_both_batch_machines():
    rows = list(online.mnist(argparse.Namespace(samples=300, peer=True)))
    assert [row["machine"] for row in rows] == ["OnlineSVC, one pass", "SVC", "sklearn.svm.SVC"]
    assert rows[1]["SV"] == rows[2]["SV"]
    assert all(row["seconds"] >= 0 and 50 < row["test %"] <= 100 for row in rows)


@pytest.mark.usefixtures("toy")
def test_stream_is_timed_where_it_has_seen_so_many(monkeypatch):
    monkeypatch.setattr(online, "SEEN", (100, 300, 10_000))
    monkeypatch.setattr(online, "BATCH", 100)
    monkeypatch.setattr(online, "SINGLE", 5)
    rows = list(online.stream(argparse.Namespace(samples=400)))
    assert [row["seen"] for row in rows] == [100, 300]
    assert all(0 < row["p50 ms"] <= row["p99 ms"] for row in rows)
    assert all(row["examples/s"] > 0 for row in rows)


def test_labels_are_counted_up_to_the_accuracy_asked_for():
    curve = LabelCurve(np.array([10, 20, 30]), np.array([0.5, 0.9, 0.8]), np.arange(30), "")
    assert online_labels.needed(curve, 0.85) == 20
    assert online_labels.needed(curve, 0.95) == np.inf
    assert online_labels.accuracy_at(curve, 29.9) == 0.9
    assert online_labels.accuracy_at(curve, 1.0) == 0.5
    assert online_labels.share(20, 80) == "25.0%"
    assert online_labels.share(np.inf, 80) == "more"


def test_label_curves_are_told_and_drawn(toy, monkeypatch, tmp_path):
    def load(_, samples):
        return toy.X[:samples], toy.y[:samples], (toy.X_test, toy.y_test), toy.parameters

    monkeypatch.setattr(online_labels, "load", load)
    figure = tmp_path / "labels.png"
    given = argparse.Namespace(sets=["usps"], samples=400, plot=str(figure))
    rows = list(online_labels.label_curves(given))
    assert [row["querying"] for row in rows] == ["margin", "auto", "random"]
    assert all(row["ended by"] == "max_labels at 25.0%" for row in rows)
    assert figure.stat().st_size > 10_000


def test_fewest_errors_choose_gamma_and_then_the_area():
    few, many = Quality(1.0, np.array([2, 3]), 0.9, 0.8), Quality(2.0, np.array([3, 3]), 0.9, 0.99)
    wide = Quality(3.0, np.array([1, 4]), 0.9, 0.81)
    assert min([few, many, wide], key=Quality.rank) is wide


def test_every_sample_is_predicted_once_in_each_division(toy):
    quality = cross_validated(toy.X[:100], toy.y[:100], 0.1, repeats=2)
    assert quality.errors.shape == (2,)
    assert (quality.errors < 50).all()
    assert 0.5 < quality.area <= 1.0


def test_rule_for_gamma_is_told_with_other_choices(toy, monkeypatch):
    monkeypatch.setattr(
        online_gamma.realdata, "load", lambda _: (toy.X.astype(float), np.where(toy.y > 0, 0, 7))
    )
    given = argparse.Namespace(samples=120, repeats=1, max_seconds=1.0)
    rows = list(online_gamma.choose_gamma(given))
    found = [row for row in rows if "errors" in row]
    assert [row["gamma"] for row in found][:3] == ["0.25/256", "0.5/256", "1/256"]
    best = min(found, key=lambda row: (row["mean"], -row["AUC %"]))
    assert {"the rule": best["gamma"]} in rows
    assert [next(iter(row)) for row in rows[len(found) :]] == [
        "the rule",
        "median distance",
        "kta",
        "likelihood",
    ]


@pytest.mark.usefixtures("toy")
def test_commands_print_a_line_for_each_row(capsys):
    online.main(["mnist", "--samples", "200"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" | ")[0] for line in lines] == [
        "machine OnlineSVC, one pass",
        "machine SVC",
    ]
