"""One item's computation: parts that are kept as they are done, so that a killed run goes on."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.machine import description

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
UNFINISHED = HERE / "unfinished"

Json = Any
# Lists of numbers.
INNERMOST = re.compile(r'\[[^\[\]{}"]*\]')
# Parts done so far, all parts.
Progress = Callable[[int, int], None]


class Run:
    """What an item's function is told, and where its parts are kept.

    Attributes
    ----------
    repetitions : int
        How many orders, trials or rounds.
    full : bool
        Whether the documents' own repetitions and sizes were asked for.
    seeds : list of int
        One a repetition; 0, 1, 2, … from `first_seed` on.
    """

    def __init__(
        self,
        key: str,
        repetitions: int,
        *,
        full: bool = False,
        first_seed: int = 0,
        folder: Path = UNFINISHED,
        progress: Progress | None = None,
    ):
        self.key, self.repetitions, self.full = key, repetitions, full
        self.first_seed = first_seed
        self.seeds = list(range(first_seed, first_seed + repetitions))
        self.reductions: list[str] = []
        self.seconds = 0.0
        self._path = folder / f"{key}.jsonl"
        self._progress = progress or (lambda *_: None)
        self._settings = {"repetitions": repetitions, "full": full, "first_seed": first_seed}
        self._kept = self._read()

    def parts(self, work: Mapping[str, Callable[[], Json]]) -> dict[str, Json]:
        """The results of all functions by name; those done before are not called again."""
        done: dict[str, Json] = {}
        for place, (name, function) in enumerate(work.items()):
            self._progress(place, len(work))
            if name not in self._kept:
                began = time.perf_counter()
                result = json.loads(json.dumps(function()))
                self._keep(name, result, time.perf_counter() - began)
            done[name] = self._kept[name]
        self._progress(len(work), len(work))
        return done

    def reduced(self, reason: str) -> None:
        """Say that less was computed than the document did, and why."""
        if reason not in self.reductions:
            self.reductions.append(reason)

    def finished(self, results: Json, folder: Path = RESULTS) -> Path:
        """Write the results with what they came from, and drop the parts."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.key}.json"
        record = {
            "key": self.key,
            "commit": commit(),
            "machine": machine(),
            **self._settings,
            "seeds": self.seeds,
            "reduced": self.reductions,
            "seconds": round(self.seconds, 1),
            "results": results,
        }
        path.write_text(as_text(record), "utf-8")
        self._path.unlink(missing_ok=True)
        return path

    def _read(self) -> dict[str, Json]:
        """Parts of an earlier run with the same settings; a line cut short by a kill is dropped."""
        if not self._path.exists():
            return {}
        kept: dict[str, Json] = {}
        lines = self._path.read_text("utf-8").splitlines()
        if not lines or json.loads(lines[0]) != self._settings:
            self._path.unlink()
            return {}
        for line in lines[1:]:
            try:
                part = json.loads(line)
            except json.JSONDecodeError:
                continue
            kept[part["part"]] = part["result"]
            self.seconds += part["seconds"]
        return kept

    def _keep(self, name: str, result: Json, seconds: float) -> None:
        if not self._kept:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._settings) + "\n", "utf-8")
        self._kept[name] = result
        self.seconds += seconds
        line = json.dumps({"part": name, "seconds": round(seconds, 3), "result": result})
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn() + line + "\n")

    def _torn(self) -> bool:
        """Whether the last line has no end."""
        return not self._path.read_bytes().endswith(b"\n")


def as_text(record: Json) -> str:
    """Indented JSON with lists of plain values on one line each."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    return INNERMOST.sub(lambda found: " ".join(found[0].split()), text) + "\n"


def commit() -> str:
    """The commit that is checked out; with a plus sign where files differ from it."""
    here = HERE.parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "reproduction")
        other = [line for line in changed.splitlines() if "reproduction/results/" not in line]
        return git("rev-parse", "--short=12", "HEAD") + ("+" if other else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, Json]:
    """Processor, cores, versions, and the load that timings were taken under."""
    full = description()
    return {name: full[name] for name in ("processor", "cores", "load", "python", "packages")}
