"""Put small faults into the package, one at a time, and see whether the tests notice.

python -m benchmarks.mutants --seed 1 --count 100 --jobs 2    # takes hours; goes on where it ended
python -m benchmarks.mutants --seed 1 --count 10 --only dual  # faults in one folder or file
python -m benchmarks.mutants --seed 1 --count 100 --near 30   # only the tests near each fault
python -m benchmarks.mutants --seed 1 --count 100 --show      # the verdicts so far

Each job works in a copy of the tree (`--folder`), with a Numba cache that the whole suite has
filled once without a fault. For each fault, the tests run until the first failure: those of the
same name as the module first, then those that mention the function, then those of its folder, then
all others. Each of these groups has a process of its own, because collecting the tests of a large
folder takes longer than most tests. A test that takes longer than `--limit` seconds counts as a
failure (with `--near`, of CPU time).

A survivor so costs a run of the whole suite. With `--near SECONDS` only the tests about the module,
those that mention the function or import the module, those of its folder and those of folders of
the same name in other parts run, in that order, and
no further test begins once so many seconds of CPU time are used. What survives may still be caught
by tests further away: a run without `--near` looks at the survivors again.

In the end the tests that failed run again without a fault, where they have to pass; otherwise their
mutants are tested again without them.

Numba does not recompile a function when another file changes, so the cached functions of every
module that imports the faulty one, directly or not, are left out of the cache of that run. This is
needed only if the fault changes what compiled functions are made of (`compiled_code.py`). All other
functions that a run compiles are kept for the runs after it.

Verdicts are added to a file of JSON lines (`--results`). A fault is known by its file, its place
and the text of the file, so that a second run with the same seed does only what is missing.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import cpu_budget
from .faults import Fault, faults
from .preloaded import LIBRARIES, Preloaded

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/maxmargin"
COPIED = ("src", "tests", "benchmarks", "examples", "reproduction", "docs", ".ci")
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "results", "*.egg-info")
# About this tool, not about the package.
UNUSABLE = {"tests/benchmarks/test_mutants.py"}
CAUGHT, SURVIVED = "caught", "survived"
# How near a file with tests is to a fault.
MIRRORED, MENTIONING, BESIDE, RELATED, SAME_PART, ELSEWHERE, DOCTESTS = range(7)
# A name in more files than this, such as `fit`, does not say which tests are about the function.
COMMON = 12
# Groups of tests that run in a process of their own.
GROUPS = ((MIRRORED,), (MENTIONING, BESIDE, RELATED), (SAME_PART,), (ELSEWHERE, DOCTESTS))
# Exit code of pytest where nothing is collected.
NO_TESTS = 5


class Mutant(NamedTuple):
    """A fault in a module of the package."""

    module: str  # path in the tree
    fault: Fault
    key: str
    diff: str


class Verdict(NamedTuple):
    """What the tests made of a mutant."""

    verdict: str
    by: str  # the first test that failed
    seconds: float


class Outcome(NamedTuple):
    """What pytest said."""

    code: int
    said: str
    seconds: float  # of CPU time


# ---- which mutants -------------------------------------------------------------------------


def modules(root: Path, only: str = "") -> list[str]:
    paths = sorted((root / PACKAGE).rglob("*.py"))
    names = [path.relative_to(root).as_posix() for path in paths]
    return [name for name in names if name.startswith(f"{PACKAGE}/{only}")]


def drawn(root: Path, seed: int, count: int, only: str = "") -> list[Mutant]:
    """So many different faults, each as likely as any other."""
    sources = {name: (root / name).read_text(encoding="utf-8") for name in modules(root, only)}
    every = [(name, fault) for name, source in sources.items() for fault in faults(source)]
    if not every:
        raise SystemExit(f"there is no module with faults in {PACKAGE}/{only}")
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    return [mutant_of(name, sources[name], fault) for name, fault in chosen]


def mutant_of(name: str, source: str, fault: Fault) -> Mutant:
    key = hashlib.sha256(f"{name}\0{source}\0{fault}".encode()).hexdigest()[:16]
    lines = (text.splitlines(keepends=True) for text in (source, fault.applied(source)))
    return Mutant(name, fault, key, "".join(difflib.unified_diff(*lines, name, name, n=2)))


# ---- which tests, and which cached functions ------------------------------------------------


def function_around(source: str, line: int) -> str:
    """The innermost function around a line, or nothing."""
    name, size = "", len(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            length = (node.end_lineno or 0) - node.lineno
            if length < size:
                name, size = node.name, length
    return name


def test_files(root: Path) -> list[str]:
    """All files with tests; the modules of the package have doctests."""
    found = [*sorted((root / "tests").rglob("test_*.py")), *sorted((root / PACKAGE).rglob("*.py"))]
    names = (path.relative_to(root).as_posix() for path in found)
    return [name for name in names if name not in UNUSABLE]


@cache
def texts_of_tests(root: Path) -> dict[str, str]:
    names = [name for name in test_files(root) if name.startswith("tests/")]
    return {name: (root / name).read_text(encoding="utf-8") for name in names}


def files_with(root: Path, word: str) -> set[str]:
    """The files with tests that contain a word."""
    found = re.compile(rf"\b{re.escape(word)}\b")
    return {name for name, text in texts_of_tests(root).items() if found.search(text)}


def ranked_tests(root: Path, mutant: Mutant) -> list[tuple[int, str]]:
    """All files with tests and how near they are, those about the mutant first."""
    module = Path(mutant.module)
    folder = module.relative_to(PACKAGE).parent.as_posix()
    here = Path("tests", folder)
    function = function_around((root / module).read_text(encoding="utf-8"), mutant.fault.line)
    dotted = ".".join(module.relative_to("src").with_suffix("").parts).removesuffix(".__init__")
    mentioning = files_with(root, dotted)
    if function and len(files_with(root, function)) <= COMMON:
        mentioning |= files_with(root, function)

    def rank(name: str) -> int:
        if name in (mutant.module, f"tests/{folder}/test_{module.stem}.py"):
            return MIRRORED
        if not name.startswith("tests/"):
            return DOCTESTS
        if name in mentioning:
            return MENTIONING
        beside = Path(name).parent
        if beside == here or (beside in here.parents and len(beside.parts) > 2):
            return BESIDE
        # Such as tests/estimators/linear for solvers/linear.
        if not set(beside.parts[2:]).isdisjoint(here.parts[2:]):
            return RELATED
        return SAME_PART if Path(name).parts[1] == folder.partition("/")[0] else ELSEWHERE

    return sorted(((rank(name), name) for name in test_files(root)), key=lambda found: found[0])


def ordered_tests(root: Path, mutant: Mutant) -> list[str]:
    return [name for _, name in ranked_tests(root, mutant)]


def near_tests(root: Path, mutant: Mutant) -> list[str]:
    """Those that may say something about the mutant, the nearest first."""
    return [name for rank, name in ranked_tests(root, mutant) if rank <= SAME_PART]


def grouped_tests(root: Path, mutant: Mutant, near: bool) -> list[list[str]]:
    """The files with tests, one list for each process that runs some of them.

    The doctests of the module have one to themselves: pytest imports a module with doctests
    without making it an attribute of its package, and tests that replace something by its dotted
    name fail after that.
    """
    ranked = [(rank, name) for rank, name in ranked_tests(root, mutant) if name != mutant.module]
    groups = GROUPS[:-1] if near else GROUPS
    found = [[name for rank, name in ranked if rank in group] for group in groups]
    if ">>>" in (root / mutant.module).read_text(encoding="utf-8"):
        found.insert(0, [mutant.module])
    return [names for names in found if names]


@cache
def imports(root: Path) -> dict[str, set[str]]:
    """For each module of the package those that it imports, as paths."""
    known = set(modules(root))
    found = {}
    for name in known:
        folder = Path(name).parent
        found[name] = set()
        for node in ast.walk(ast.parse((root / name).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = folder
            for _ in range(node.level - 1):
                base = base.parent
            base = base.joinpath(*(node.module or "").split("."))
            places = [base, *(base / alias.name for alias in node.names)]
            for place in places:
                for path in (f"{place.as_posix()}.py", f"{place.as_posix()}/__init__.py"):
                    found[name] |= {path} & known
    return found


def importers(root: Path, module: str) -> set[str]:
    """The module and all that import it, directly or not."""
    graph, reached, waiting = imports(root), {module}, [module]
    while waiting:
        last = waiting.pop()
        if last.endswith("maxmargin/__init__.py"):
            continue  # it imports what is public when it is asked for
        new = {name for name, used in graph.items() if last in used} - reached
        reached |= new
        waiting.extend(new)
    return reached


def concerns_compiler(path: Path) -> bool:
    """Whether a module decides how functions are compiled, and not only which."""
    return bool(re.search(r"^(?:import|from) numba", path.read_text(), re.MULTILINE))


def has_compiled_code(path: Path) -> bool:
    return concerns_compiler(path) or "jit import" in path.read_text(encoding="utf-8")


def fresh_cache(warm: Path, cache: Path, stale: Iterable[str]) -> None:
    """The warm cache without the functions of some modules; the files are linked, not copied."""
    shutil.rmtree(cache, ignore_errors=True)
    link_functions(warm, cache, stale)


def link_functions(source: Path, target: Path, stale: Iterable[str]) -> None:
    """Take over what one cache has and another has not, except for functions of some modules."""
    places = {(Path(name).parent.name, Path(name).stem) for name in stale}

    def link(found: str, wanted: str) -> str:
        path, place = Path(found), Path(wanted)
        if (path.parent.name.rsplit("_", 1)[0], path.name.split(".")[0]) in places:
            return wanted
        if not place.exists() or not place.samefile(path):
            place.unlink(missing_ok=True)
            os.link(path, place)
        return wanted

    shutil.copytree(source, target, copy_function=link, dirs_exist_ok=True)


# ---- one job --------------------------------------------------------------------------------


def digest_of(folders: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in folders:
        for path in sorted((ROOT / name).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Job:
    """A copy of the tree in which one fault at a time is put, tested and taken out again."""

    def __init__(
        self, folder: Path, limit: float, near: float = 0.0, libraries: Sequence[str] = ()
    ) -> None:
        self.tree, self.limit, self.near = folder / "tree", limit, near
        self.warm, self.cache = folder / "warm", folder / "cache"
        self.ready = folder / "ready"
        self.libraries = libraries  # imported once, before the tests
        self.preloaded: Preloaded | None = None
        self.compiled = ""  # digest of compiled functions without a fault
        # Tests that fail without a fault too, such as those of time on a busy machine.
        self.unreliable: set[str] = set()

    def prepare(self) -> None:
        """Copy the tree and fill the cache, unless that was done for the same text.

        Where only the nearest tests run, the cache holds what `maxmargin warmup` compiles, and it
        stays as long as the package itself does.
        """
        digest = digest_of(("src",) if self.near else COPIED)
        if self.ready.exists() and self.ready.read_text() == digest:
            if self.near:
                self.copy_tree()
            return
        self.ready.unlink(missing_ok=True)
        shutil.rmtree(self.warm, ignore_errors=True)
        self.warm.mkdir(parents=True)
        self.copy_tree()
        if self.near:
            warmup = [sys.executable, "-m", "maxmargin.cli", "warmup"]
            subprocess.run(warmup, env=self.environment(self.warm), check=True)
        else:
            outcome = self.tested(self.warm, test_files(self.tree))
            if outcome.code:
                raise SystemExit(f"the tests fail without a fault:\n{outcome.said[-3000:]}")
        self.ready.write_text(digest)

    def copy_tree(self) -> None:
        """Time stamps are kept: those of sources decide what Numba's cache is good for."""
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        for name in COPIED:
            shutil.copytree(ROOT / name, self.tree / name, ignore=LEFT_BEHIND)
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy2(path, self.tree)

    def environment(self, cache: Path) -> dict[str, str]:
        shared = str(ROOT.parent / "shared" / "data")
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.tree / "src"), str(ROOT)]),
            "NUMBA_CACHE_DIR": str(cache),
            "OPENBLAS_NUM_THREADS": "1",
            "SCIPY_ARRAY_API": "1",
            "PYTHONDONTWRITEBYTECODE": "",
            "CI": "mutants",  # the same examples each time, and skips are no failures
            "HYPOTHESIS_STORAGE_DIRECTORY": str(cache.parent / "hypothesis"),
            "MAXMARGIN_DATA": os.environ.get("MAXMARGIN_DATA", shared),
        }

    def tested(
        self, cache: Path, files: list[str], used: float = 0.0, all_of_them: bool = False
    ) -> Outcome:
        """Run the tests of some files, up to the first failure unless `all_of_them` are to run;
        others have used so many seconds of the CPU time."""
        options = ["--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "benchmarks.cpu_budget"]
        options += [] if all_of_them else ["-x"]
        options += [f"--deselect={test}" for test in sorted(self.unreliable)]
        limited = self.near > 0 and not all_of_them
        if not limited:
            options += ["-o", f"faulthandler_timeout={self.limit:g}"]
            options += ["-o", "faulthandler_exit_on_timeout=true"]
        left = {cpu_budget.SECONDS: f"{self.near - used:g}"} if limited else {}
        # What a test may take is counted in CPU time, because other processes may be busy.
        limit = int(self.near + self.limit) if limited else None
        outcome = self.forked(
            ["pytest", *options, *files], {**self.environment(cache), **left}, limit
        )
        if outcome.code in (-signal.SIGXCPU, -signal.SIGKILL):
            return outcome._replace(said="Timeout")
        return outcome

    def forked(
        self, arguments: list[str], environment: dict[str, str], limit: int | None = None
    ) -> Outcome:
        """Run a Python module in the copy of the tree."""
        if self.preloaded is None:
            self.preloaded = Preloaded(self.libraries)
        output = self.tree.parent / "output"
        ended = self.preloaded.run(arguments, self.tree, environment, output, limit)
        return Outcome(ended.code, output.read_text(errors="replace"), ended.seconds)

    def digest_of_compiled_code(self) -> str:
        """Empty if the package cannot be imported."""
        done = self.forked(["benchmarks.compiled_code"], self.environment(self.warm))
        return done.said if done.code == 0 else ""

    def stale_modules(self, mutant: Mutant) -> set[str]:
        """Those whose functions must not be taken from the cache; called with the fault in place.

        Compiled functions of the faulty module itself are compiled again in any case, because the
        file has changed.
        """
        reached = importers(self.tree, mutant.module)
        if not any(has_compiled_code(self.tree / name) for name in reached - {mutant.module}):
            return {mutant.module}
        unseen = not concerns_compiler(self.tree / mutant.module)
        if unseen and self.digest_of_compiled_code() == self.compiled:
            return {mutant.module}
        return reached

    def failing(self, tests: set[str]) -> set[str]:
        """Those of some tests that fail without a fault; they are left out from then on."""
        # Doctests last, as in the suite.
        ordered = sorted(tests, key=lambda name: (not name.startswith("tests/"), name))
        outcome = self.tested(self.warm, ordered, all_of_them=True)
        found = set(failures_in(outcome.said))
        if outcome.code and not found & tests:
            raise SystemExit(f"the tests fail without a fault:\n{outcome.said[-3000:]}")
        for test in sorted(found):
            print(f"left out, because it fails without a fault: {test}", flush=True)
        self.unreliable |= found
        return found

    def judged(self, mutant: Mutant) -> Verdict:
        path = self.tree / mutant.module
        original, stamp = path.read_text(encoding="utf-8"), path.stat()
        groups = grouped_tests(self.tree, mutant, self.near > 0)
        self.compiled = self.compiled or self.digest_of_compiled_code()
        began = time.perf_counter()
        try:
            path.write_text(mutant.fault.applied(original), encoding="utf-8")
            stale = self.stale_modules(mutant)
            fresh_cache(self.warm, self.cache, stale)
            outcome = self.first_caught(groups)
            link_functions(self.cache, self.warm, stale)
        finally:
            path.write_text(original, encoding="utf-8")
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        seconds = time.perf_counter() - began
        if outcome is None:
            return Verdict(SURVIVED, "", seconds)
        by = first_failure(outcome.said) or f"exit code {outcome.code}"
        return Verdict(CAUGHT, by, seconds)

    def first_caught(self, groups: list[list[str]]) -> Outcome | None:
        """What the first group of tests said that does not pass."""
        used = 0.0
        for files in groups:
            outcome = self.tested(self.cache, files, used)
            if outcome.code not in (0, NO_TESTS):
                return outcome
            used += outcome.seconds
            if self.near and used >= self.near:
                break
        return None


def failures_in(said: str) -> list[str]:
    """All failures that pytest tells of."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said, re.MULTILINE)


def first_failure(said: str) -> str:
    failed = failures_in(said)
    if failed:
        return failed[0]
    return "time limit" if "Timeout" in said else ""


# ---- all of them -----------------------------------------------------------------------------


def known(results: Path) -> dict[str, dict]:
    if not results.exists():
        return {}
    lines = results.read_text(encoding="utf-8").splitlines()
    return {record["key"]: record for record in map(json.loads, lines)}


def is_final(record: dict | None, near: float) -> bool:
    """A survivor of the nearest tests is done with only where more are not asked for."""
    if record is None:
        return False
    return record["verdict"] == CAUGHT or not record.get("near") or record["near"] >= near > 0


def record_of(mutant: Mutant, verdict: Verdict, near: float = 0.0) -> dict:
    return {
        "key": mutant.key,
        "verdict": verdict.verdict,
        "by": verdict.by,
        "seconds": round(verdict.seconds, 1),
        "near": near,
        "module": mutant.module,
        "line": mutant.fault.line,
        "kind": mutant.fault.kind,
        "diff": mutant.diff,
        "checked": not named(verdict.by),
    }


def named(by: str) -> bool:
    """Whether a fault was noticed by a test or a file that can run again without it."""
    return by.startswith(("tests/", "src/"))


def told(record: dict) -> str:
    by = f" by {record['by']}" if record["by"] else ""
    place = f"{record['module']}:{record['line']}"
    line = f"{record['verdict']}{by}: {place}, {record['kind']}, {record['seconds']:.0f} s"
    return line if record["verdict"] == CAUGHT else f"{line}\n{record['diff']}"


def summary(records: Iterable[dict]) -> str:
    """How many of the mutants in each folder were caught."""
    caught, total = Counter(), Counter()
    for record in records:
        folder = Path(record["module"]).relative_to(PACKAGE).parts[0]
        for name in (folder, "all"):
            total[name] += 1
            caught[name] += record["verdict"] == CAUGHT
    return "\n".join(f"{name}: {caught[name]} of {total[name]} caught" for name in sorted(total))


def write(record: dict, results: Path) -> None:
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def check(mutants: list[Mutant], job: Job, results: Path) -> None:
    """Run the tests that noticed the mutants without a fault. Mutants of tests that do not pass are
    judged again."""
    while True:
        done = known(results)
        records = {m: done[m.key] for m in mutants if not done[m.key].get("checked", True)}
        if not records:
            return
        failing = job.failing({record["by"] for record in records.values()})
        for mutant, record in records.items():
            if record["by"] in failing:
                record = record_of(mutant, job.judged(mutant), job.near)
                print(told(record), flush=True)
            else:
                record["checked"] = True
            write(record, results)


def run(mutants: list[Mutant], jobs: list[Job], results: Path) -> None:
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    writing, failures = threading.Lock(), []

    def work(job: Job) -> None:
        try:
            job.prepare()
            while not failures:
                mutant = waiting.get_nowait()
                record = record_of(mutant, job.judged(mutant), job.near)
                with writing:
                    write(record, results)
                    print(told(record), flush=True)
        except queue.Empty:
            pass
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="", help="a folder or file of the package")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a test may take")
    parser.add_argument("--near", type=float, default=0.0, help="CPU seconds of near tests")
    parser.add_argument("--again", action="store_true", help="test survivors again")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--results", type=Path, help="default: verdicts.jsonl in the folder")
    parser.add_argument("--show", action="store_true", help="run nothing, print the verdicts")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    results = options.results or folder / "verdicts.jsonl"
    mutants = drawn(ROOT, options.seed, options.count, options.only)
    done = known(results)
    if not options.show:
        if options.again:
            done = {key: record for key, record in done.items() if record["verdict"] == CAUGHT}
        missing = [mutant for mutant in mutants if not is_final(done.get(mutant.key), options.near)]
        print(f"{len(mutants) - len(missing)} of {len(mutants)} mutants are done", flush=True)
        jobs = [
            Job(folder / f"job{k}", options.limit, options.near, LIBRARIES)
            for k in range(options.jobs)
        ]
        if missing or any(not record.get("checked", True) for record in done.values()):
            run(missing, jobs, results)
            check(mutants, jobs[0], results)
    done = known(results)
    records = [done[mutant.key] for mutant in mutants if mutant.key in done]
    if options.show:
        print("\n".join(map(told, records)))
    print(summary(records))


if __name__ == "__main__":
    main()
