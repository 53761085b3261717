"""What the site holds: links that lead somewhere, every public name, text for programs."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import reference
from conftest import pages

ROOT = Path(__file__).resolve().parents[2]


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.places.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("img", "script") and "src" in found:
            self.links.append(found["src"])


@pytest.fixture(scope="module")
def read():
    known = {}

    def read(path):
        if path not in known:
            known[path] = Links(path.read_text("utf-8"))
        return known[path]

    return read


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(site, read, page):
    here = site / page
    for link in read(here).links:
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme in ("https", "data", "mailto"), link
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        assert target.exists(), link
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in read(target).places, link


def test_gallery_has_many_examples(site):
    shown = (site / "gallery" / "index.html").read_text("utf-8")
    examples = sorted((ROOT / "examples" / "gallery").rglob("plot_*.py"))
    assert len(examples) >= 25
    assert shown.count("sphx-glr-thumbcontainer") == len(examples)


def test_examples_can_be_downloaded_as_scripts_and_notebooks(site):
    for ending in (".py", ".ipynb"):
        found = {path.stem for path in (site / "_downloads").rglob(f"*{ending}")}
        for path in (ROOT / "examples").glob("lectures/lecture_*.py"):
            assert path.stem in found


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_has_a_page(site, module):
    names = reference.names_of()[module]
    for name in names:
        text = (site / "reference" / "generated" / f"{module}.{name}.html").read_text("utf-8")
        assert f'id="{module}.{name}"' in text, name


def test_text_for_programs_is_complete(site):
    index = (site / "llms.txt").read_text("utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", index):
        assert (site / link).exists(), link
    everything = (site / "maxmargin.md").read_text("utf-8")
    for path in (ROOT / "docs").glob("*/*.md"):
        title = re.search(r"^# (.+)$", path.read_text("utf-8"), re.MULTILINE)
        assert title is None or f"# {title.group(1)}" in everything, path
    for names in reference.names_of().values():
        assert all(name in everything for name in names)


# Questions on the first page, and words of the answer on the page that it links to.
QUESTIONS = {
    "What is C?": "cost of a training error",
    "Which estimator should I use?": "decision chart",
    "Why is the gap 0.3 %?": "A gap of 0.3 % means that",
    "How do I stop a fit, and continue later?": "Press Ctrl-C",
    "Can I trust the probabilities?": "calibration plot",
    "How do I save and load a model?": "from maxmargin.models import load, save",
    "It is slow. What can I do?": "Scale the features",
    "Can I use my own kernel?": "in three ways",
}


@pytest.mark.parametrize(("question", "words"), QUESTIONS.items())
def test_first_questions_are_answered_within_two_clicks(site, read, question, words):
    def words_of(path):
        return " ".join(re.sub(r"<[^>]+>", "", path.read_text("utf-8")).split())

    front, answers = site / "index.html", site / "guide" / "questions.html"
    assert question in words_of(front)
    assert any(link.startswith("guide/questions.html") for link in read(front).links)
    assert words in words_of(answers)
