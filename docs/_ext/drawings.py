"""Files that the site needs besides its pages: MathJax, and drawings made by code."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import history_drawing
import walk_drawing
import which_drawing

from reproduction import pages as reproduction_pages

MATHJAX = "tex-svg-full.js"
STYLESHEET = re.compile(r'<link rel="stylesheet"\s+href="https?://[^>]*>')


def mathjax_file() -> Path:
    """The one file of MathJax in the package sphinx-mathjax-offline."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise ImportError("formulas need sphinx-mathjax-offline: pip install '.[docs]'")
    return Path(found.origin).parent / "static" / "mathjax" / MATHJAX


def copy_mathjax(app, error):
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "mathjax"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(mathjax_file(), folder / MATHJAX)


def drop_links_to_other_hosts(app, error):
    """Matplotlib's player of animations asks another host for icons that the theme has anyway."""
    if error is None and app.builder.format == "html":
        for path in (Path(app.outdir) / "gallery").rglob("*.html"):
            text = path.read_text("utf-8")
            if STYLESHEET.search(text):
                path.write_text(STYLESHEET.sub("", text), "utf-8")


def draw(app):
    walk_drawing.write(Path(app.srcdir) / "development" / "drawn")
    history_drawing.write(Path(app.srcdir) / "development" / "drawn")
    which_drawing.write(Path(app.srcdir) / "start" / "drawn")
    reproduction_pages.write(Path(app.srcdir) / "reproduction" / "drawn")


def setup(app):
    app.connect("builder-inited", draw, priority=100)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", drop_links_to_other_hosts)
    return {"parallel_read_safe": True}
