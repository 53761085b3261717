"""The oldest versions that are tested are the oldest that pyproject.toml allows."""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("cli", "plot", "tune", "onnx", "lab")
MINIMUM = re.compile(r"([\w-]+)>=([\d.]+)$")


def minimums():
    """ "name==version" for everything that a user installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]
    found = [MINIMUM.match(need) for need in needed]
    assert all(found), "every dependency states the oldest version that works: name>=version"
    return ["==".join(match.groups()) for match in found]


def test_constraints_are_the_minimums_of_the_project():
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == minimums()


def test_everything_a_user_can_install_has_a_minimum():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert extras - set(EXTRAS) == {"all", "bench", "dev", "distributed", "docs"}
    assert project["optional-dependencies"]["all"] == [f"maxmargin[{','.join(EXTRAS)}]"]


@pytest.mark.parametrize("need", minimums())
def test_installed_version_is_the_minimum_or_later(need):
    name, oldest = need.split("==")
    installed = Version(version(name))
    if Path(sys.prefix).name == ".venv-oldest":
        assert installed == Version(oldest)
    assert installed >= Version(oldest)
