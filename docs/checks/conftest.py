"""Where the finished site is, and a browser to look at it."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "_ext")]
SITE = Path(os.environ.get("MAXMARGIN_SITE", HERE.parent / "_build" / "html"))


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").exists():
        pytest.fail(f"there is no site in {SITE}: run make docs first")
    return SITE


@pytest.fixture(scope="session")
def browser():
    from browser import CHROMIUM, Browser

    if CHROMIUM is None:
        pytest.skip("chromium is absent: apt install chromium")
    opened = Browser()
    yield opened
    opened.close()


def pages():
    """Every page of the site, by its path in it."""
    found = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return sorted(path for path in found if not path.startswith("_static/"))
