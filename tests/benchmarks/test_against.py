"""The comparison with another revision: what it asks, what it prints, and how it cleans up."""

import subprocess

from benchmarks import against
from benchmarks.against import Measured, compare
from benchmarks.problems import PROBLEMS


class FakeTree:
    def __init__(self, seconds):
        self.seconds, self.asked = seconds, []

    def send(self, request, dtype=None, **_):
        self.asked.append(request)
        self.dtype = dtype

    def answer(self):
        return {}

    def ask(self, request):
        self.asked.append(request)
        return {"seconds": self.seconds[self.dtype], "dual": -64.0}


def test_each_tree_counts_in_its_better_float():
    here = FakeTree({"float64": 2.0, "float32": 1.0})
    there = FakeTree({"float64": 3.0, "float32": 4.0})
    found = compare(next(iter(PROBLEMS.values())), here, there, repeats=2)
    assert (found.here, found.there, found.ratio) == (1.0, 3.0, 3.0)
    assert found.dual_difference == 0.0
    assert here.asked == there.asked == ["prepare", "fit", "fit"] * 2


def test_the_line_says_how_many_times_as_fast_and_how_duals_differ():
    line = Measured("banana", 0.02, 0.05, 100.0, 100.1).line()
    assert "banana" in line
    assert "2.50" in line
    assert "dual differs by 1.0e-03" in line


def test_another_revision_is_checked_out_and_removed(tmp_path, monkeypatch):
    def git(*arguments):
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "-q")
    (tmp_path / "file").write_text("first")
    git("add", "file")
    git("commit", "-qm", "first")
    (tmp_path / "file").write_text("second")
    monkeypatch.setattr(against, "ROOT", tmp_path)
    with against.checked_out("HEAD") as folder:
        assert (folder / "file").read_text() == "first"
    assert not folder.exists()
    assert str(folder) not in git("worktree", "list")
