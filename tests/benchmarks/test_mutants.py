"""The tool that puts faults into the package: which faults, which tests, and what it remembers."""

import ast
import random
from pathlib import Path

import pytest

from benchmarks import mutants
from benchmarks.faults import faults
from benchmarks.mutants import CAUGHT, PACKAGE, ROOT, SURVIVED, Job, Outcome, Verdict


def changed(source):
    """What becomes of a source by each of its faults."""
    return {fault.applied(source) for fault in faults(source)}


@pytest.mark.parametrize(
    ("source", "faulty"),
    [
        ("a = b + c", {"a = b - c", "a = b"}),
        ("a = (b - c) * d", {"a = (b + c) * d", "a = (b) * d", "a = (b - c) / d", "a = (b - c)"}),
        ("a = b < c", {"a = b <= c"}),
        ("a = b < c == d", {"a = b <= c == d", "a = b < c != d"}),
        ("a = b is not None", {"a = b is None"}),
        ("a = b not in c", {"a = b in c"}),
        ("a = not b", {"a = b"}),
        ("a = -b", {"a = b"}),
        ("a = b and c or d", {"a = b or c or d", "a = b and c and d"}),
        ("a = 3", {"a = 4"}),
        ("a = 0.0", {"a = 1.0"}),
        ("a = 0.5", {"a = 1.0"}),
        ("a = True", {"a = False"}),
        ("a = max(b, c)", {"a = min(b, c)"}),
        ("a = np.minimum(b, c)", {"a = np.maximum(b, c)"}),
        ("a = f(b, c=d)", {"a = f(b)"}),
        ("a = f(b=c, d=e)", {"a = f(b=c)"}),
        ("a += b", {"a -= b", "pass"}),
        ("f(a)", {"pass"}),
        ("a = b if c else d", {"a = b if not (c) else d"}),
        ("if a:\n    b = c", {"if not (a):\n    b = c"}),
        ("for a in b:\n    c = d", {"for a in b:\n    c = d\n    break"}),
        ("a = [b for b in c if d]", {"a = [b for b in c if not (d)]"}),
        ("α = β + γ", {"α = β - γ", "α = β"}),
    ],
)
def test_faults_of_a_statement(source, faulty):
    assert changed(source) == faulty


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of 3 words."""',
        'a = "text"',
        'a = f"{b + 1} of {c - 1}"',
        "raise ValueError(a + 1)",
        "from a import b",
        "a: Literal[3]",
        "def f(a: Literal[1]) -> Literal[2]:\n    return a",
        "@decorated(2)\ndef f(a):\n    return a",
        "if TYPE_CHECKING:\n    a = 1",
        "a = 3  # speed only: crossover",
        "# speed only: crossover\na = 3",
    ],
)
def test_what_is_no_fault_of_the_program_is_left_alone(source):
    assert changed(source) == set()


def test_every_fault_of_the_package_is_valid_python():
    draw = random.Random(0)
    for name in mutants.modules(ROOT):
        source = (ROOT / name).read_text(encoding="utf-8")
        found = faults(source)
        for fault in draw.sample(found, min(2, len(found))):
            ast.parse(fault.applied(source))


def test_a_seed_draws_the_same_mutants_and_another_seed_others():
    first, again, other = (mutants.drawn(ROOT, seed, 20, "dual") for seed in (1, 1, 2))
    assert first == again
    assert len({mutant.key for mutant in first}) == 20
    assert {mutant.key for mutant in first} != {mutant.key for mutant in other}
    assert all(mutant.module.startswith(f"{PACKAGE}/dual/") for mutant in first)


def mutant_in(module, line=1):
    source = (ROOT / module).read_text(encoding="utf-8")
    fault = next(fault for fault in faults(source) if fault.line >= line)
    return mutants.mutant_of(module, source, fault)


def test_tests_about_the_module_come_first_and_none_is_left_out():
    module = f"{PACKAGE}/solvers/smo/step.py"
    ordered = mutants.ordered_tests(ROOT, mutant_in(module))
    assert set(ordered[:2]) == {module, "tests/solvers/smo/test_step.py"}
    assert sorted(ordered) == sorted(mutants.test_files(ROOT))
    solvers = [k for k, name in enumerate(ordered) if name.startswith("tests/solvers/")]
    others = [k for k, name in enumerate(ordered) if name.startswith("tests/cli/")]
    assert max(solvers) < max(others)


def test_tests_of_the_folder_around_come_before_those_of_other_folders():
    near = mutants.near_tests(ROOT, mutant_in(f"{PACKAGE}/solvers/linear/primal/newton.py"))
    around = [k for k, name in enumerate(near) if name.startswith("tests/solvers/linear/test_")]
    related = [k for k, name in enumerate(near) if name.startswith("tests/estimators/linear/")]
    others = [k for k, name in enumerate(near) if name.startswith("tests/solvers/drivers/")]
    assert max(around) < min(related)
    assert max(related) < min(others)


def test_the_nearest_tests_are_those_about_the_module_and_of_its_part():
    module = f"{PACKAGE}/solvers/smo/step.py"
    mutant = mutant_in(module)
    near = mutants.near_tests(ROOT, mutant)
    assert near == mutants.ordered_tests(ROOT, mutant)[: len(near)]
    assert set(near[:2]) == {module, "tests/solvers/smo/test_step.py"}
    assert "tests/solvers/drivers/test_shards.py" in near
    assert not any(name.startswith("tests/cli/") for name in near)


def test_groups_of_tests_are_all_tests_in_their_order():
    mutant = mutant_in(f"{PACKAGE}/solvers/smo/step.py")
    for near, expected in ((True, mutants.near_tests), (False, mutants.ordered_tests)):
        groups = mutants.grouped_tests(ROOT, mutant, near)
        ordered = [name for name in expected(ROOT, mutant) if name != mutant.module]
        assert [name for group in groups for name in group] == ordered
    assert groups[0] == ["tests/solvers/smo/test_step.py"]


def test_doctests_of_the_module_have_a_process_of_their_own():
    module = f"{PACKAGE}/tuning/objectives/leave_one_out.py"
    first, *others = mutants.grouped_tests(ROOT, mutant_in(module), near=True)
    assert first == [module]
    assert all(name.startswith("tests/") for group in others for name in group)


def test_groups_of_tests_run_until_one_fails_or_the_time_is_used(tmp_path, monkeypatch):
    job, asked = Job(tmp_path, limit=60.0, near=10.0), []

    def tested(_cache, files, used):
        asked.append((files[0], used))
        return Outcome(int(files[0] == "fails"), files[0], 4.0)

    monkeypatch.setattr(job, "tested", tested)
    assert job.first_caught([["a"], ["fails"], ["b"]]).said == "fails"
    assert job.first_caught([["a"], ["b"], ["c"], ["fails"]]) is None
    assert asked == [("a", 0.0), ("fails", 4.0), ("a", 0.0), ("b", 4.0), ("c", 8.0)]


def test_no_test_begins_once_the_cpu_time_is_used(tmp_path):
    job = Job(tmp_path, limit=60.0, near=0.1)
    job.tree.mkdir()
    text = "def test_one():\n    sum(range(30_000_000))\n\ndef test_two():\n    assert False\n"
    Path(job.tree, "test_one.py").write_text(text)
    assert job.tested(job.cache, ["test_one.py"]).code == 0
    job.near = 60.0
    assert job.tested(job.cache, ["test_one.py"], used=59.9).code == 0
    assert job.tested(job.cache, ["test_one.py"]).code == 1
    job.near = 0.0
    assert job.tested(job.cache, ["test_one.py"]).code == 1


def test_tests_that_fail_without_a_fault_are_left_out(tmp_path, monkeypatch):
    job = Job(tmp_path, limit=60.0, near=1.0)
    said = "FAILED tests/a.py::fails - assert 1\nERROR tests/b.py\n"
    asked = []

    def tested(cache, files, all_of_them):
        asked.append((cache, files, all_of_them))
        return Outcome(1, said, 1.0)

    monkeypatch.setattr(job, "tested", tested)
    names = ["tests/a.py::fails", "tests/a.py::passes", "tests/b.py", "src/c.py::doctest"]
    assert job.failing(set(names)) == {"tests/a.py::fails", "tests/b.py"}
    assert asked == [(job.warm, names, True)]
    assert job.unreliable == {"tests/a.py::fails", "tests/b.py"}
    said = "Killed"
    with pytest.raises(SystemExit, match="Killed"):
        job.failing(set(names))


def test_mutants_of_tests_that_fail_without_a_fault_are_judged_again(tmp_path):
    results, drawn = tmp_path / "verdicts.jsonl", mutants.drawn(ROOT, 0, 3, "dual")
    unreliable, reliable = "tests/a.py::fails", "tests/b.py::passes"
    for mutant, by in zip(drawn, (unreliable, reliable, "time limit")):
        mutants.write(mutants.record_of(mutant, Verdict(CAUGHT, by, 1.0), 30.0), results)

    class Checking(Judge):
        def failing(self, tests):
            self.asked.append(tests)
            return tests & {unreliable}

        def judged(self, mutant):
            self.asked.append(mutant)
            return Verdict(SURVIVED, "", 1.0)

    job = Checking()
    mutants.check(drawn, job, results)
    assert job.asked == [{unreliable, reliable}, drawn[0]]
    records = [mutants.known(results)[mutant.key] for mutant in drawn]
    assert [record["verdict"] for record in records] == [SURVIVED, CAUGHT, CAUGHT]
    assert all(record["checked"] for record in records)
    mutants.check(drawn, job, results)
    assert len(job.asked) == 2


def test_survivor_of_the_nearest_tests_is_looked_at_again_by_all():
    near, all_tests = ({"verdict": SURVIVED, "near": seconds} for seconds in (30.0, 0.0))
    assert mutants.is_final(near, 30.0)
    assert not mutants.is_final(near, 60.0)
    assert not mutants.is_final(near, 0.0)
    assert mutants.is_final(all_tests, 30.0)
    assert mutants.is_final({"verdict": CAUGHT, "near": 30.0}, 0.0)
    assert not mutants.is_final(None, 0.0)


def test_functions_that_a_fault_reaches_through_imports_are_not_taken_from_the_cache(tmp_path):
    stale = mutants.importers(ROOT, f"{PACKAGE}/solvers/smo/step.py")
    assert {f"{PACKAGE}/solvers/smo/{name}.py" for name in ("step", "loop", "schedule")} <= stale
    assert f"{PACKAGE}/dual/certificate.py" not in stale
    assert f"{PACKAGE}/dual/certificate.py" in mutants.importers(ROOT, f"{PACKAGE}/runtime/jit.py")
    warm = tmp_path / "warm"
    for folder, file in (("smo_1f", "loop.run-7.py311"), ("dual_2e", "problem.traits-3.py311")):
        (warm / folder).mkdir(parents=True)
        (warm / folder / f"{file}.nbi").write_text("")
    mutants.fresh_cache(warm, tmp_path / "cache", stale)
    left = [path.name for path in (tmp_path / "cache").rglob("*.nbi")]
    assert left == ["problem.traits-3.py311.nbi"]


def test_functions_compiled_during_a_run_are_kept_unless_the_fault_may_be_in_them(tmp_path):
    warm, cache = tmp_path / "warm", tmp_path / "cache"
    for folder, file in (
        (warm / "dual_2e", "problem.traits-3.py311.nbi"),
        (cache / "dual_2e", "problem.traits-3.py311.nbi"),
        (cache / "dual_2e", "sums.add-3.py311.nbi"),
        (cache / "smo_1f", "loop.run-7.py311.nbi"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(folder.parent.name)
    mutants.link_functions(cache, warm, {f"{PACKAGE}/solvers/smo/loop.py"})
    kept = {path.name: path.read_text() for path in warm.rglob("*.nbi")}
    assert kept == {"problem.traits-3.py311.nbi": "cache", "sums.add-3.py311.nbi": "cache"}


@pytest.mark.parametrize("digest", ["same", "other", ""])
def test_functions_of_other_modules_are_compiled_again_only_if_they_change(
    tmp_path, monkeypatch, digest
):
    job = Job(tmp_path, limit=60.0)
    job.tree, job.compiled = ROOT, "same"
    monkeypatch.setattr(job, "digest_of_compiled_code", lambda: digest)
    module = f"{PACKAGE}/solvers/newton/step.py"
    expected = {module} if digest == "same" else mutants.importers(ROOT, module)
    assert job.stale_modules(mutant_in(module)) == expected
    # How functions are compiled is no part of the digest.
    module = f"{PACKAGE}/runtime/jit.py"
    assert job.stale_modules(mutant_in(module)) == mutants.importers(ROOT, module)
    monkeypatch.setattr(job, "digest_of_compiled_code", None)  # not asked for
    module = f"{PACKAGE}/cli/training/fitting.py"
    assert job.stale_modules(mutant_in(module)) == {module}


def test_function_around_a_line_is_the_innermost():
    source = "def a():\n    def b():\n        return 1\n    return b\n\n\nc = 2\n"
    assert [mutants.function_around(source, line) for line in (3, 4, 7)] == ["b", "a", ""]


def test_first_failure_is_read_from_what_pytest_says():
    said = "...F\nFAILED tests/a.py::test_b[c] - assert 1\nFAILED tests/d.py::test_e\n"
    assert mutants.first_failure(said) == "tests/a.py::test_b[c]"
    assert mutants.first_failure("FAILED a.py::b[one class] - x\n") == "a.py::b[one class]"
    assert mutants.first_failure("ERROR tests/a.py - ImportError\n") == "tests/a.py"
    assert mutants.first_failure("Timeout (0:10:00)!\n") == "time limit"


class Judge(Job):
    """A job that runs no test: of two lines one is caught."""

    near = 0.0

    def __init__(self):
        self.asked = []

    def prepare(self):
        pass

    def judged(self, mutant):
        self.asked.append(mutant.key)
        return Verdict(CAUGHT if mutant.fault.line % 2 else SURVIVED, "", 1.0)


def test_verdicts_are_kept_and_only_what_is_missing_is_done(tmp_path):
    results, drawn = tmp_path / "verdicts.jsonl", mutants.drawn(ROOT, 0, 12, "dual")
    first, jobs = Judge(), [Judge(), Judge()]
    mutants.run(drawn[:5], [first], results)
    assert first.asked == [mutant.key for mutant in drawn[:5]]
    known = mutants.known(results)
    mutants.run([mutant for mutant in drawn if mutant.key not in known], jobs, results)
    assert sorted(jobs[0].asked + jobs[1].asked) == sorted(mutant.key for mutant in drawn[5:])
    records = mutants.known(results).values()
    caught = sum(mutant.fault.line % 2 for mutant in drawn)
    assert f"all: {caught} of 12 caught" in mutants.summary(records)
    survivor = next(record for record in records if record["verdict"] == SURVIVED)
    assert f"+++ {survivor['module']}" in mutants.told(survivor)


def test_a_job_that_fails_ends_the_run_with_its_error(tmp_path):
    class Broken(Judge):
        def judged(self, mutant):
            raise OSError(mutant.module)

    with pytest.raises(OSError, match="maxmargin"):
        mutants.run(mutants.drawn(ROOT, 0, 3), [Broken()], tmp_path / "verdicts.jsonl")


def test_a_mutant_is_put_into_the_copy_tested_and_taken_out(tmp_path, monkeypatch):
    job = Job(tmp_path, limit=60.0)
    module = f"{PACKAGE}/solvers/drivers/shards.py"
    mutant = mutant_in(module, line=20)
    for name in ("src", "tests"):
        (job.tree / name).parent.mkdir(parents=True, exist_ok=True)
        mutants.shutil.copytree(ROOT / name, job.tree / name, ignore=mutants.LEFT_BEHIND)
    job.warm.mkdir()
    path = job.tree / module
    before, stamp = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
    seen = []

    def tested(cache, files, _used):
        seen.append((path.read_text(encoding="utf-8"), cache, set(files)))
        return Outcome(1, "FAILED tests/a.py::test_b\n", 1.0)

    monkeypatch.setattr(job, "tested", tested)
    monkeypatch.setattr(job, "digest_of_compiled_code", lambda: "same")
    verdict = job.judged(mutant)
    assert verdict[:2] == (CAUGHT, "tests/a.py::test_b")
    assert seen == [
        (mutant.fault.applied(before), job.cache, {"tests/solvers/drivers/test_shards.py"})
    ]
    assert path.read_text(encoding="utf-8") == before
    assert path.stat().st_mtime_ns == stamp


def test_a_copy_of_another_text_is_made_again_with_an_empty_cache(tmp_path, monkeypatch):
    root = tmp_path / "root"
    (root / PACKAGE).mkdir(parents=True)
    (root / PACKAGE / "one.py").write_text("a = 1\n")
    monkeypatch.setattr(mutants, "ROOT", root)
    monkeypatch.setattr(mutants, "COPIED", ("src",))
    job, seen = Job(tmp_path / "job", limit=60.0), []

    def tested(cache, files):
        seen.append((files, list(cache.iterdir())))
        (cache / "old").write_text("")
        return Outcome(0, "", 1.0)

    monkeypatch.setattr(job, "tested", tested)
    for text in ("a = 1\n", "a = 1\n", "a = 2\n"):
        (root / PACKAGE / "one.py").write_text(text)
        job.prepare()
    assert seen == [([f"{PACKAGE}/one.py"], [])] * 2
    assert (job.tree / PACKAGE / "one.py").read_text() == "a = 2\n"


def test_tests_that_fail_without_a_fault_end_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "COPIED", ())
    job = Job(tmp_path / "job", limit=60.0)
    monkeypatch.setattr(job, "tested", lambda *_: Outcome(1, "FAILED tests/a.py::test_b\n", 1.0))
    with pytest.raises(SystemExit, match="fail without a fault"):
        job.prepare()


def test_tests_are_run_in_the_copy(tmp_path):
    job = Job(tmp_path, limit=60.0)
    job.tree.mkdir()
    Path(job.tree, "test_one.py").write_text("def test_one():\n    assert 1 + 1 == 2\n")
    assert job.tested(job.cache, ["test_one.py"]).code == 0
    Path(job.tree, "test_one.py").write_text("def test_one():\n    assert 1 + 1 == 3\n")
    code, said, _ = job.tested(job.cache, ["test_one.py"])
    assert (code, mutants.first_failure(said)) == (1, "test_one.py::test_one")


def test_an_endless_loop_is_ended_by_its_cpu_time(tmp_path):
    job = Job(tmp_path, limit=2.0, near=1.0)
    job.tree.mkdir()
    Path(job.tree, "test_one.py").write_text("def test_one():\n    while True:\n        pass\n")
    code, said, seconds = job.tested(job.cache, ["test_one.py"])
    assert seconds > 2.0
    assert code < 0
    assert mutants.first_failure(said) == "time limit"
