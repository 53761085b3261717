"""Rounds over shards in this process: the optimum of the same problem, and an honest proof."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, epsilon_svr, hinge, one_class, squared_hinge
from maxmargin.kernels import Gaussian, Linear
from maxmargin.solvers import costs
from maxmargin.solvers.sharded import (
    LocalBackend,
    ShardedSettings,
    ShardTask,
    shard,
    solve_sharded,
)
from maxmargin.solvers.sharded import driver as sharded_driver
from maxmargin.solvers.sharded.rules import Limit

KERNEL = Gaussian(2.0)


@pytest.fixture(autouse=True)
def few_first(monkeypatch):
    """Begin with so few samples that several rounds are needed."""
    small = sharded_driver.RULES._replace(first=60, fewest_candidates=40)
    monkeypatch.setattr(sharded_driver, "RULES", small)


def board(n=600):
    X, y = chess_board(n, random_state=3)
    return X, np.where(y > 0, 1.0, -1.0)


def machine_and_task(name, X, y):
    targets = np.sin(X[:, 0]) + X[:, 1]
    weight = np.linspace(0.5, 2.0, len(y))
    if name == "hinge":
        return hinge(y, 10.0 * weight), ShardTask(KERNEL, name, 10.0, positive=(1.0,)), y, weight
    if name == "squared_hinge":
        task = ShardTask(KERNEL, name, 3.0, positive=(1.0,))
        return squared_hinge(y, 3.0 * weight), task, y, weight
    if name == "epsilon_svr":
        task = ShardTask(KERNEL, name, 5.0, 0.1)
        return epsilon_svr(targets, 5.0 * weight, 0.1), task, targets, weight
    return one_class(weight, 0.2), ShardTask(KERNEL, name), None, weight


def full_alpha(problem, found, edges):
    """α of all samples, from the support vectors of a run."""
    alpha = np.zeros((problem.copies, problem.samples))
    own = found.solution.alpha.reshape(problem.copies, -1)
    alpha[:, edges[found.shard] + found.row] = own
    return alpha.ravel()


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "epsilon_svr", "one_class"])
@pytest.mark.parametrize("rows", [97, 600])
def test_optimum_and_certificate_are_those_of_the_whole_problem(name, rows):
    X, y = board()
    machine, task, targets, weight = machine_and_task(name, X, y)
    backend = LocalBackend.of_arrays(X, targets, weight, rows=rows)
    totals = machine.problem.totals
    found = solve_sharded(backend, task, totals, len(X), ShardedSettings())
    assert found.solution.status == "converged"
    assert found.proven
    alpha = full_alpha(machine.problem, found, rows * np.arange(len(backend.parts)))
    gram = KERNEL.bind(X, np.float64)
    shown = certify(machine.problem, alpha, gram, found.solution.bias)
    assert shown.violation <= 1e-3
    assert shown.relative_gap <= 1e-4
    claimed = found.certificate
    assert claimed.dual == pytest.approx(shown.dual, rel=1e-10)
    assert claimed.gap == pytest.approx(shown.gap, rel=1e-6, abs=1e-9 * abs(shown.dual))
    assert claimed.violation == pytest.approx(shown.violation, rel=1e-6, abs=1e-10)
    best = solve(machine.problem, gram, tol=1e-8)
    assert shown.dual == pytest.approx(best.dual, rel=1e-4)


def test_the_pool_has_all_of_the_memory_for_rows(monkeypatch):
    seen = []

    def noted(*problem, cache_bytes, **options):
        seen.append(cache_bytes)
        return solve(*problem, cache_bytes=cache_bytes, **options)

    monkeypatch.setattr(sharded_driver, "solve", noted)
    X, y = board()
    _, task, _, _ = machine_and_task("hinge", X, y)
    backend = LocalBackend.of_arrays(X, y, rows=100)
    solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings(cache_size=50))
    assert set(seen) == {costs.ROWS_SHARE * 50e6}


def test_several_rounds_take_place():
    X, y = board()
    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,))
    found = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    assert found.rounds > 2
    assert 0 < found.solution.face_steps < found.solution.steps


def test_a_limit_on_members_is_plain_decomposition_with_the_same_optimum():
    X, y = board()
    machine = hinge(y, 10.0)
    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,))
    best = solve(machine.problem, KERNEL.bind(X), tol=1e-8)
    support = np.count_nonzero(best.alpha)
    settings = ShardedSettings(most_members=support // 2)
    found = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    assert found.solution.status == "converged"
    assert found.certificate.dual == pytest.approx(best.dual, rel=1e-4)


@pytest.fixture
def kernel_values(monkeypatch):
    """Sums from kernel values, with samples set aside."""
    monkeypatch.setattr(shard, "interpolation_at", lambda *_: None)


@pytest.mark.usefixtures("kernel_values")
def test_samples_that_are_set_aside_are_part_of_the_proof():
    X, y = board(2000)
    task = ShardTask(KERNEL, "hinge", 1000.0, positive=(1.0,))
    backend = LocalBackend.of_arrays(X, y, rows=500)
    found = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    alpha = full_alpha(hinge(y, 1000.0).problem, found, 500 * np.arange(4))
    gram = KERNEL.bind(X, np.float64)
    shown = certify(hinge(y, 1000.0).problem, alpha, gram, found.solution.bias)
    assert found.solution.status == "converged"
    assert shown.violation <= 1e-3
    assert found.certificate.gap == pytest.approx(shown.gap, rel=1e-5, abs=1e-9 * shown.dual)


@pytest.mark.usefixtures("kernel_values")
def test_the_leash_is_no_shorter_than_the_last_change():
    X, y = board(2000)
    task = ShardTask(KERNEL, "hinge", 1000.0, positive=(1.0,))
    backend, leashes, drifts = LocalBackend.of_arrays(X, y, rows=500), [], [0.0]
    make = backend.session

    def recording(task, pause):
        session = make(task, pause)
        advance = session.advance

        def recorded(*arguments):
            proposals = advance(*arguments)
            leashes.append(arguments[5])
            drifts.append(max(proposal.drift for proposal in proposals))
            return proposals

        session.advance = recorded
        return session

    backend.session = recording
    found = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    assert found.rounds > 3
    assert all(leash >= drift for leash, drift in zip(leashes, drifts))
    assert any(leash == pytest.approx(drift) for leash, drift in zip(leashes, drifts))


@pytest.mark.usefixtures("kernel_values")
@pytest.mark.parametrize("C", [1e3, 1e4])
def test_no_rounds_are_spent_on_rounding_in_single_precision(C, monkeypatch):
    X, y = board(2000)
    task = ShardTask(KERNEL, "hinge", C, positive=(1.0,))
    backend = LocalBackend.of_arrays(X, y, rows=500)
    settings = ShardedSettings(precision="single", tol=1e-4)
    found = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    patient = sharded_driver.RULES._replace(rounding=np.inf)
    monkeypatch.setattr(sharded_driver, "RULES", patient)
    other = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    assert found.solution.status == other.solution.status == "converged"
    assert found.rounds <= other.rounds - 3
    assert found.certificate.dual == pytest.approx(other.certificate.dual, rel=1e-9)


@pytest.mark.parametrize(
    ("nbytes", "number"),
    [(784 * 4, 8000), (10**6, 8000), (784 * 2, 16_000), (16, 64_000), (0, 64_000)],
)
def test_limits_allow_more_samples_of_small_inputs(nbytes, number):
    assert Limit(8000).of_size(nbytes) == number


def test_samples_that_belong_to_other_classes_take_no_part():
    X, y = board()
    y = y.copy()
    y[::3] = 7.0
    rest = y != 7.0
    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,), negative=(-1.0,))
    found = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    best = solve(hinge(y[rest], 10.0).problem, KERNEL.bind(X[rest]), tol=1e-8)
    assert found.certificate.dual == pytest.approx(best.dual, rel=1e-4)
    assert rest[100 * found.shard + found.row].all()


def test_the_callback_hears_of_rounds_and_stops_the_run():
    X, y = board()
    heard = []

    def stop_after_two(progress):
        heard.append(progress)
        return progress.rounds >= 2

    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,))
    settings = ShardedSettings(callback=stop_after_two)
    found = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    assert found.solution.status == "stopped"
    assert not found.proven
    assert heard[-1].moved > 0
    assert heard[-1].workers == 1
    # What is claimed is the standing of the α that is returned.
    alpha = full_alpha(hinge(y, 10.0).problem, found, 100 * np.arange(6))
    shown = certify(hinge(y, 10.0).problem, alpha, KERNEL.bind(X, np.float64), found.solution.bias)
    assert found.certificate.dual == pytest.approx(shown.dual, rel=1e-9)
    assert found.certificate.violation == pytest.approx(shown.violation, rel=1e-6)


def test_no_time_gives_a_feasible_point_and_says_so():
    X, y = board()
    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,))
    settings = ShardedSettings(max_seconds=1e-9)
    found = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    assert found.solution.status == "time_limit"
    assert not found.proven


def test_a_run_goes_on_from_the_members_of_another():
    X, y = board()
    backend = LocalBackend.of_arrays(X, y, rows=100)
    task = ShardTask(KERNEL, "hinge", 10.0, positive=(1.0,))
    kept = []
    settings = ShardedSettings(checkpoint=lambda *members: kept.append(members))
    first = solve_sharded(backend, task, np.zeros(1), len(X), settings)
    again = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings(), kept[-1])
    assert again.rounds == 1
    assert again.certificate.dual == pytest.approx(first.certificate.dual, rel=1e-6)


def test_states_built_anew_after_every_round_lead_to_the_same_optimum():
    X, y = board()
    task = ShardTask(Linear(), "hinge", 1.0, positive=(1.0,))
    backend = LocalBackend.of_arrays(X, y, rows=100)
    found = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    whole = backend.session

    def rerooting(task, pause):
        session = whole(task, pause)
        session.reroot_every = 1
        return session

    backend.session = rerooting
    anew = solve_sharded(backend, task, np.zeros(1), len(X), ShardedSettings())
    assert anew.certificate.dual == pytest.approx(found.certificate.dual, rel=1e-4)


def test_shards_of_this_process_share_the_inputs_of_the_members(monkeypatch):
    X, y = board()
    machine, task, targets, weight = machine_and_task("hinge", X, y)
    backend = LocalBackend.of_arrays(X, targets, weight, rows=97)
    seen, admit = [], sharded_driver.ShardedRun.admit

    def watched(run, proposals):
        admit(run, proposals)
        seen.append([block is run.pool.X for block in run.session.blocks])

    monkeypatch.setattr(sharded_driver.ShardedRun, "admit", watched)
    found = solve_sharded(backend, task, machine.problem.totals, len(X), ShardedSettings())
    assert found.solution.status == "converged"
    assert len(seen) > 1
    assert seen == [[True]] * len(seen)
