"""Pages of the lab with recorded runs, for the site to embed."""

from __future__ import annotations

from pathlib import Path

from maxmargin.lab.examples import example
from maxmargin.lab.page import exported

PLAIN = {"face": False, "shrinking": False, "step": 0}
# Name of the page, and the request that it shows.
PAGES = {
    "pairs": {**example("moons", 30), **PLAIN, "selection": "second_order"},
    "newton": {**example("chess", 80), "selection": "second_order", "step": 0},
    "stuck": {**example("four"), **PLAIN},
}


def write_pages(app, error):
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "lab"
        folder.mkdir(parents=True, exist_ok=True)
        for name, request in PAGES.items():
            (folder / f"{name}.html").write_text(exported("smo", [request]), "utf-8")


def setup(app):
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
