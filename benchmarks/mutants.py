"""Put small faults into the package, one at a time, and see whether the tests notice.

python -m benchmarks.mutants --seed 1 --count 100 --jobs 2    # takes hours; goes on where it ended
python -m benchmarks.mutants --seed 1 --count 10 --only dual  # faults in one folder or file
python -m benchmarks.mutants --seed 1 --count 100 --near 30   # only the tests near each fault
python -m benchmarks.mutants --seed 1 --count 100 --show      # the verdicts so far

Each job works in a copy of the tree (`--folder`), with a Numba cache that the whole suite has
filled once without a fault. For each fault, the tests run in one process until the first failure:
those of the same name as the module first, then those that mention the function, then those of its
folder, then all others. A test that takes longer than `--limit` seconds counts as a failure (with
`--near`, of CPU time).

A survivor so costs a run of the whole suite. With `--near SECONDS` only the tests about the module,
those that mention the function or import the module and those of its folder run, in that order, and
no further test begins once so many seconds of CPU time are used. The test that fails is run again
without the fault, where it has to pass. What survives may still be caught by tests further away: a
run without `--near` looks at the survivors again.

Numba does not recompile a function when another file changes, so the cached functions of every
module that imports the faulty one, directly or not, are left out of the cache of that run.

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
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import cpu_budget
from .faults import Fault, faults

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/maxmargin"
COPIED = ("src", "tests", "benchmarks", "examples", "reproduction", "docs", ".ci")
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "results", "*.egg-info")
# About this tool, not about the package.
UNUSABLE = {"tests/benchmarks/test_mutants.py"}
CAUGHT, SURVIVED = "caught", "survived"
# How near a file with tests is to a fault.
MIRRORED, MENTIONING, BESIDE, SAME_PART, ELSEWHERE, DOCTESTS = range(6)
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


def ranked_tests(root: Path, mutant: Mutant) -> list[tuple[int, str]]:
    """All files with tests and how near they are, those about the mutant first."""
    module = Path(mutant.module)
    folder = module.relative_to(PACKAGE).parent.as_posix()
    function = function_around((root / module).read_text(encoding="utf-8"), mutant.fault.line)
    dotted = ".".join(module.relative_to("src").with_suffix("").parts).removesuffix(".__init__")
    words = [re.escape(word) for word in (function, dotted) if word]
    mentioned = re.compile(rf"\b(?:{'|'.join(words)})\b")

    def rank(name: str) -> int:
        if name in (mutant.module, f"tests/{folder}/test_{module.stem}.py"):
            return MIRRORED
        if not name.startswith("tests/"):
            return DOCTESTS
        if mentioned.search((root / name).read_text(encoding="utf-8")):
            return MENTIONING
        if Path(name).parent.as_posix() == f"tests/{folder}":
            return BESIDE
        return SAME_PART if Path(name).parts[1] == folder.partition("/")[0] else ELSEWHERE

    return sorted(((rank(name), name) for name in test_files(root)), key=lambda found: found[0])


def ordered_tests(root: Path, mutant: Mutant) -> list[str]:
    return [name for _, name in ranked_tests(root, mutant)]


def near_tests(root: Path, mutant: Mutant) -> list[str]:
    """Those that may say something about the mutant, the nearest first."""
    return [name for rank, name in ranked_tests(root, mutant) if rank <= SAME_PART]


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


def fresh_cache(warm: Path, cache: Path, stale: Iterable[str]) -> None:
    """The warm cache without the functions of some modules; the files are linked, not copied."""
    shutil.rmtree(cache, ignore_errors=True)
    places = {(Path(name).parent.name, Path(name).stem) for name in stale}

    def link(source: str, target: str) -> str:
        path = Path(source)
        if (path.parent.name.rsplit("_", 1)[0], path.name.split(".")[0]) not in places:
            os.link(source, target)
        return target

    shutil.copytree(warm, cache, copy_function=link)


# ---- one job --------------------------------------------------------------------------------


def digest_of(folders: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in folders:
        for path in sorted((ROOT / name).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Job:
    """A copy of the tree in which one fault at a time is put, tested and taken out again."""

    def __init__(self, folder: Path, limit: float, near: float = 0.0) -> None:
        self.tree, self.limit, self.near = folder / "tree", limit, near
        self.warm, self.cache = folder / "warm", folder / "cache"
        self.ready = folder / "ready"
        self.passing: set[str] = set()
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
            code, said = self.tested(self.warm, test_files(self.tree))
            if code:
                raise SystemExit(f"the tests fail without a fault:\n{said[-3000:]}")
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
            "CI": "mutants",  # the same examples each time, and skips are no failures
            "HYPOTHESIS_STORAGE_DIRECTORY": str(cache.parent / "hypothesis"),
            "MAXMARGIN_DATA": os.environ.get("MAXMARGIN_DATA", shared),
            cpu_budget.SECONDS: f"{self.near:g}",
        }

    def tested(self, cache: Path, files: list[str]) -> tuple[int, str]:
        options = ["-x", "-rfE", "-p", "no:cacheprovider", "-p", "benchmarks.cpu_budget"]
        options += [f"--deselect={test}" for test in sorted(self.unreliable)]
        if not self.near:
            options += ["-o", f"faulthandler_timeout={self.limit:g}"]
            options += ["-o", "faulthandler_exit_on_timeout=true"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *files],
            cwd=self.tree,
            env=self.environment(cache),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=self.limit_cpu_time if self.near else None,
            check=False,
        )
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return done.returncode, "Timeout"
        return done.returncode, done.stdout.decode(errors="replace")

    def limit_cpu_time(self) -> None:
        """What a test may take is counted in CPU time, because other processes may be busy."""
        seconds = int(self.near + self.limit)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    def passes(self, test: str) -> bool:
        """Whether a test passes without a fault; one that does not catches none, and is left out
        from then on."""
        if test not in self.passing and "::" in test:
            if self.tested(self.warm, [test])[0]:
                print(f"left out, because it fails without a fault: {test}", flush=True)
                self.unreliable.add(test)
                return False
            self.passing.add(test)
        return True

    def judged(self, mutant: Mutant) -> Verdict:
        path = self.tree / mutant.module
        original, stamp = path.read_text(encoding="utf-8"), path.stat()
        files = near_tests(self.tree, mutant) if self.near else ordered_tests(self.tree, mutant)
        fresh_cache(self.warm, self.cache, importers(self.tree, mutant.module))
        began = time.perf_counter()
        try:
            path.write_text(mutant.fault.applied(original), encoding="utf-8")
            code, said = self.tested(self.cache, files)
        finally:
            path.write_text(original, encoding="utf-8")
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        seconds = time.perf_counter() - began
        if code in (0, NO_TESTS):
            return Verdict(SURVIVED, "", seconds)
        by = first_failure(said) or f"exit code {code}"
        if self.near and not self.passes(by):
            return self.judged(mutant)
        return Verdict(CAUGHT, by, seconds)


def first_failure(said: str) -> str:
    """The first failure that pytest tells of."""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said, re.MULTILINE)
    if failed:
        return failed[1]
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
    }


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
                with writing, results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
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
        jobs = [Job(folder / f"job{k}", options.limit, options.near) for k in range(options.jobs)]
        run(missing, jobs if missing else [], results)
    done = known(results)
    records = [done[mutant.key] for mutant in mutants if mutant.key in done]
    if options.show:
        print("\n".join(map(told, records)))
    print(summary(records))


if __name__ == "__main__":
    main()
