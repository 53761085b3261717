"""`llms.txt` and `maxmargin.md`: the same text for programs, as plain markdown.

See https://llmstxt.org for the format of the first; the second is all pages in one file.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("start", "guide", "theory", "study", "reproduction", "development")
SUMMARY = (
    "Exact, certified, self-tuning support vector machines for Python, with scikit-learn's "
    "interface. Every fit ends with a duality gap that was recomputed from scratch."
)


def title_of(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def lead_of(text: str) -> str:
    """The first paragraph of a page."""
    after = re.split(r"^# .+$", text, maxsplit=1, flags=re.MULTILINE)[-1]
    for paragraph in re.split(r"\n\s*\n", after):
        plain = " ".join(paragraph.split())
        if plain and plain[0] not in "`:#|(-<!" and not plain.startswith("```"):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
            return re.sub(r"\{\w+\}`([^`<]*)[^`]*`", r"\1", plain)
    return ""


def pages(source: Path) -> dict[str, list[tuple[str, str]]]:
    """Path and text of every markdown page, by part of the site."""
    found = {}
    for part in PARTS:
        order = (source / part / "index.md").read_text("utf-8")
        names = re.findall(r"^([\w./-]+)$", order.split("{toctree}", 1)[-1], re.MULTILINE)
        paths = [source / part / "index.md", *(source / part / f"{name}.md" for name in names)]
        found[part] = [(f"{part}/{path.stem}", whole(path)) for path in paths if path.exists()]
    return found


def whole(path: Path) -> str:
    """The text of a page, with what it includes."""

    def included(match: re.Match[str]) -> str:
        return (path.parent / match.group(1)).read_text("utf-8")

    return re.sub(
        r"^```\{include\} (\S+)\n(?::.*\n)*```$", included, path.read_text("utf-8"), flags=re.M
    )


def examples() -> list[tuple[str, str]]:
    folders = ("gallery", "lectures")
    paths = [path for name in folders for path in sorted((ROOT / "examples" / name).rglob("*.py"))]
    return [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]


def reference_text() -> str:
    lines = ["# API reference\n"]
    for module, names in reference.names_of().items():
        place = importlib.import_module(module)
        lines.append(f"## {module}\n\n{reference.summary(place)}\n")
        for name in names:
            value = getattr(place, name)
            lines.append(f"### {module}.{name}{signature(value)}\n")
            if callable(value):
                lines.append(f"{inspect.getdoc(value) or ''}\n")
            if inspect.isclass(value):
                for method in reference.own_methods(value):
                    text = inspect.getdoc(getattr(value, method)) or ""
                    own = signature(getattr(value, method))
                    lines.append(f"#### {name}.{method}{own}\n\n{text}\n")
    return "\n".join(lines)


def signature(value) -> str:
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def write(app, error):
    if error is not None or app.builder.format != "html":
        return
    source, target = Path(app.srcdir), Path(app.outdir)
    index = ["# maxmargin\n", f"> {SUMMARY}\n"]
    index.append("- [Everything in one file](maxmargin.md)\n")
    everything = [f"# maxmargin {app.config.release}\n\n{SUMMARY}\n"]
    for members in pages(source).values():
        index.append(f"## {title_of(members[0][1])}\n")
        for path, text in members:
            index.append(f"- [{title_of(text)}]({path}.html): {lead_of(text)}")
            everything.append(f"<!-- {path} -->\n\n{text}")
        index.append("")
    index.append("## Examples\n")
    for path, text in examples():
        heading = text.split('"""')[1].strip().splitlines()[0]
        page = path.removeprefix("examples/").removesuffix(".py")
        index.append(f"- [{heading}]({page}.html)")
        everything.append(f"# {heading}\n\n```python\n{text}```\n")
    index.append("\n## API reference\n")
    index += [f"- [{module}](reference/{module}.html)" for module in reference.MODULES]
    (target / "llms.txt").write_text("\n".join(index) + "\n", "utf-8")
    everything.append(reference_text())
    (target / "maxmargin.md").write_text("\n\n".join(everything), "utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
