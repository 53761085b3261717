"""Build what is published and check it: `make release`. Nothing is uploaded.

The source distribution and the wheel are built into `dist/`, checked by twine, searched for the
files that have to be in them, and the wheel is installed in a fresh virtual environment, where a
small script fits, certifies, saves and loads a model.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SMOKE = """
import sys
import numpy as np
import maxmargin
from maxmargin import SVC, LinearSVC
from maxmargin.data import two_blobs
from maxmargin.models import load, save

assert maxmargin.__version__ == sys.argv[1], maxmargin.__version__
X, y = two_blobs(200, random_state=0)
model = SVC(C=10.0).fit(X, y)
assert model.status_ == "converged" and model.certificate_.relative_gap < 1e-4
assert LinearSVC().fit(X, y).score(X, y) > 0.9
save(model, "smoke.mm")
again = load("smoke.mm").estimator
assert np.array_equal(again.decision_function(X), model.decision_function(X))
print(model.certificate_)
"""


def main() -> None:
    version = version_of_source()
    say(f"maxmargin {version}")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    files = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    check_contents(version)
    smoke_test(version)
    say("ready in dist/: " + ", ".join(path.name for path in files))


def version_of_source() -> str:
    text = (ROOT / "src" / "maxmargin" / "__init__.py").read_text("utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("__version__")]
    return line.split('"')[1]


def check_contents(version: str) -> None:
    """Licence, typing marker and version are in both; tests and docs in the source only."""
    (wheel,) = DIST.glob("*.whl")
    (source,) = DIST.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"maxmargin-{version}.dist-info/METADATA").decode()
    require(f"Version: {version}\n" in metadata, "the wheel is of another version")
    require(any(name.endswith("licenses/LICENSE") for name in names), "no LICENSE in the wheel")
    require("maxmargin/py.typed" in names, "no py.typed in the wheel")
    outside = [name for name in names if not name.startswith("maxmargin")]
    require(not outside, f"the wheel has files outside the package: {outside[:3]}")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "docs/conf.py", "Makefile")
    for name in wanted:
        require(name in inside, f"no {name} in the source distribution")
    require(any(name.startswith("tests/") for name in inside), "no tests in the source")
    say(f"contents are complete: {len(names)} files in the wheel, {len(inside)} in the source")


def smoke_test(version: str) -> None:
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "fresh", with_pip=True)
        python = home / "fresh" / "bin" / "python"
        if not python.exists():
            python = home / "fresh" / "Scripts" / "python.exe"
        pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, f"{wheel}[cli]")
        (home / "smoke.py").write_text(SMOKE, "utf-8")
        run(str(python), "smoke.py", version, cwd=home)
        run(str(python), "-m", "maxmargin.cli", "inspect", "smoke.mm", cwd=home)
        run(str(python), "-m", "maxmargin.cli", "version", cwd=home)


def run(*command: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"release: {' '.join(command[:4])} … failed with code {done.returncode}")


def require(holds: bool, complaint: str) -> None:
    if not holds:
        sys.exit(f"release: {complaint}")


def say(text: str) -> None:
    print(f"release: {text}", flush=True)


if __name__ == "__main__":
    main()
