"""`lab --export` and `trace`: files that play without a server, and refusals that say why."""

import json
import socket

import numpy as np
import pytest
from cli.running import command, command_here

from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers.textbook import watch


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 40)
    X = random.normal(size=(40, 2)) + 1.5 * y[:, None]
    rows = [f"{a:.3f},{b:.3f},{'yes' if k else 'no'}" for (a, b), k in zip(X, y)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,kind", *rows]))
    return path


def test_trace_holds_the_run_of_the_solver(table, tmp_path):
    said = command(
        *("trace", table, "-o", "t.json", "-C", 2, "--gamma", 0.5, "--selection", "mvp"),
        *("--no-newton", "--no-shrinking", "--json"),
        cwd=tmp_path,
    )
    told = json.loads(said.out)
    content = json.loads((tmp_path / "t.json").read_text())
    points = np.array(content["request"]["points"])
    problem = hinge(np.where(points[:, 2] == 1, 1.0, -1.0), C=2.0).problem
    gram = Gaussian(0.5).bind(np.ascontiguousarray(points[:, :2]), np.float64)
    solution = watch(problem, gram, selection="mvp")
    assert told["status"] == solution.status == "converged"
    assert told["steps"] == solution.steps == len(content["answer"]["steps"])
    assert told["dual"] == pytest.approx(solution.dual, rel=1e-12)
    pairs = [tuple(step["pair"]) for step in content["answer"]["steps"]]
    assert pairs == list(zip(solution.trace.i.tolist(), solution.trace.j.tolist()))

    command_here("lab", "--export", "page.html", "--data", "t.json", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert json.dumps(content["answer"]["steps"][0]["pair"]) in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_export_takes_a_table(table, tmp_path):
    command("lab", "--export", "page.html", "--data", table, cwd=tmp_path)
    assert "<title>SMO, step by step" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("trace", "data.csv", "-C", "-1"), 2, "C must be between"),
        (("trace", "data.csv", "--label", "none"), 2, "there is no column 'none'"),
        (("trace", "data.csv", "-o", "absent/t.json"), 3, "absent"),
        (("lab", "--room", "kitchen", "--no-browser"), 2, "--room must be one of"),
        (("lab", "--export", "page.html", "--data", "no.json"), 3, "is not a trace"),
    ],
)
@pytest.mark.usefixtures("table")
def test_what_is_wrong_is_said(tmp_path, arguments, code, message):
    (tmp_path / "no.json").write_text("{}")
    said = command_here(*arguments, cwd=tmp_path, expect=code)
    assert message in said.errors
    assert not (tmp_path / "page.html").exists()
    assert not (tmp_path / "trace.json").exists()


def test_a_port_in_use_is_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = command_here("lab", "--no-browser", "--port", port, cwd=tmp_path, expect=2)
    assert f"port {port} cannot be used" in said.errors
