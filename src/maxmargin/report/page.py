"""The layout of a report: one self-contained HTML page."""

from __future__ import annotations

import base64
from html import escape

from ..models.training import Measure
from .words import measure_in_figures

STYLE = """
:root { --ink: #1c1c1c; --soft: #5f6368; --line: #e3e3e3; --accent: #0072B2; --good: #00795a; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
header { border-bottom: 3px solid var(--accent); margin-bottom: 1.5rem; padding-bottom: .75rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; max-width: 46rem; }
.soft { color: var(--soft); }
.lead { font-size: 1.12rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; padding: .38rem .8rem .38rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; width: 13rem; }
.wide-table { overflow-x: auto; }
h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: #f6f7f8; border: 1px solid var(--line); border-radius: .4rem;
  padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: .88rem; }
.certificate { border-left: .35rem solid var(--good); background: #eff8f5; padding: .6rem 1rem;
  border-radius: 0 .4rem .4rem 0; }
.warning { border-left: .35rem solid #D55E00; background: #fdf3ec; padding: .6rem 1rem;
  border-radius: 0 .4rem .4rem 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
  gap: 1.2rem; align-items: start; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .4rem; padding: .6rem; }
figure.wide { grid-column: 1 / -1; }
figure img { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
.bar { position: relative; height: .5rem; background: #eceff1; border-radius: .25rem;
  min-width: 7rem; margin-top: .5rem; }
.bar span { position: absolute; top: 0; bottom: 0; background: #9cc9e3; border-radius: .25rem; }
.bar i { position: absolute; top: -.2rem; bottom: -.2rem; width: .18rem;
  background: var(--accent); }
@media (max-width: 34rem) {
  body { font-size: .97rem; }
  h1 { font-size: 1.35rem; }
  th { width: 40%; }
  .hide-small { display: none; }
}
@media print {
  main { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  figure, table, pre, .certificate { break-inside: avoid; }
  h2 { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; }
  @page { margin: 16mm; }
}
"""


def page(title: str, subtitle: str, sections: list[str]) -> str:
    """The whole document."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header>\n<p class="soft">{escape(subtitle)}</p>\n<h1>{escape(title)}</h1>\n</header>\n'
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A heading with its content; empty if there is no content."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escape(text)}</p>"


def rows(pairs: list[tuple[str, str]]) -> str:
    """A table of names and values."""
    lines = [f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in pairs]
    return f"<table>\n{chr(10).join(lines)}\n</table>" if lines else ""


def table(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """A table with a heading for each column; all but the first hold numbers."""
    top = "".join(f"<td>{escape(text)}</td>" for text in head)
    rest = "".join(
        f"<tr><th>{escape(line[0])}</th>"
        + "".join(f'<td class="number">{escape(text)}</td>' for text in line[1:])
        + "</tr>\n"
        for line in lines
    )
    return f'<div class="wide-table"><table>\n<tr>{top}</tr>\n{rest}</table></div>'


def bullets(texts: list[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def code(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def figure(image: bytes, caption: str, wide: bool = False) -> str:
    """A picture inside the page."""
    data = base64.b64encode(image).decode()
    kind = ' class="wide"' if wide else ""
    return (
        f'<figure{kind}><img src="data:image/png;base64,{data}" alt="{escape(caption)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def figures(pictures: list[str]) -> str:
    return f'<div class="figures">\n{chr(10).join(pictures)}\n</div>' if pictures else ""


def measures_table(measures: tuple[Measure, ...]) -> str:
    """A table of quality measures, with a bar for the intervals of proportions."""
    lines = []
    for measure in measures:
        share = "accuracy" in measure.name or "ROC" in measure.name
        value, low, high = measure_in_figures(measure)
        unit = " %" if value.endswith("%") else ""
        between = f"{low} – {high}{unit}" if low else ""
        bar = _bar(measure) if share and between else ""
        lines.append(
            f'<tr><th>{escape(measure.name)}</th><td class="number">{value}</td>'
            f'<td class="number">{between}</td><td class="hide-small">{bar}</td></tr>'
        )
    if not lines:
        return ""
    head = "<tr><th></th><td>value</td><td>95 % interval</td><td class='hide-small'></td></tr>"
    return f"<table>\n{head}\n{chr(10).join(lines)}\n</table>"


def _bar(measure: Measure) -> str:
    low, high, value = (100 * x for x in (measure.low, measure.high, measure.value))
    return (
        f'<div class="bar"><span style="left:{low:.1f}%;width:{high - low:.1f}%"></span>'
        f'<i style="left:{value:.1f}%"></i></div>'
    )
