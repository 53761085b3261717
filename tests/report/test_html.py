"""The report: one page that needs nothing else, right on every width."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib.image import imread
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, OneClassSVM
from maxmargin.data import Column, Schema, two_blobs
from maxmargin.models import Model, SearchTable, Training
from maxmargin.report import write_report
from maxmargin.report.measures import measured, predictions

X, Y = two_blobs(150, random_state=0)
LABELS = np.where(Y > 0, "sick <b>", "healthy & well")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt install chromium")


def training_of(held_out=None, measures=()):
    rows = np.log([0.1, 1.0, 10.0])
    table = SearchTable("tried 3 points", np.full(3, "cross-validation"), rows, {"log_C": rows})
    return Training(
        maxmargin="0.1",
        command="maxmargin train cells.csv",
        source="cells.csv",
        fingerprint="0" * 64,
        samples=150,
        features=2,
        classes={"healthy & well": 75, "sick <b>": 75},
        notes=("target is the last column",),
        measures=measures,
        search=table,
        held_out=held_out,
    )


def full_model():
    machine = SVC(probability=True).fit(X, LABELS)
    held_out = predictions(machine, X[:40], LABELS[:40])
    columns = (Column("size", "number"), Column("shape", "number"))
    schema = Schema(columns, "state", np.zeros(2), np.ones(2))
    return Model(machine, schema, training_of(held_out, measured(machine, held_out)))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(full_model(), path, X=X, y=LABELS)
    return path


class Structure(HTMLParser):
    """Tags that are open, and texts by the heading above them."""

    VOID = ("meta", "img", "br")

    def __init__(self):
        super().__init__()
        self.open, self.sections, self.links = [], {}, []
        self.heading = ""

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "h2":
            self.heading = text
            self.sections[text] = ""
        elif self.heading:
            self.sections[self.heading] += text


@pytest.fixture(scope="module")
def structure(page):
    parser = Structure()
    parser.feed(page.read_text("utf-8"))
    assert parser.open == []
    return parser


def test_sections_are_those_promised(structure):
    expected = "Data, Parameters tried and chosen, Certificate, Test, Plots, How to reproduce"
    assert ", ".join(structure.sections) == expected


def test_page_needs_nothing_from_outside(structure, page):
    assert all(link.startswith("data:image/png;base64,") for link in structure.links)
    assert not re.search(r"https?://|@import|url\(", page.read_text("utf-8"))


def test_texts_of_users_are_escaped(page):
    text = page.read_text("utf-8")
    assert "sick &lt;b&gt;" in text
    assert "sick <b>" not in text


def test_certificate_is_in_words(structure):
    assert "best possible objective" in structure.sections["Certificate"]
    assert "largest violation" in structure.sections["Certificate"]


def test_figures_have_intervals(structure):
    assert re.search(r"accuracy\s*\d+\.\d %\s*\d+\.\d – \d+\.\d %", structure.sections["Test"])


def test_model_stands_beside_a_baseline(structure):
    assert re.search(r"always (healthy & well|sick <b>)\s*\d+\.\d %", structure.sections["Test"])


def test_every_class_has_its_figures(structure):
    for label in ("healthy & well", "sick <b>"):
        assert re.search(label + r"(\s*\d+\.\d %){3}\s*\d+", structure.sections["Test"])


def test_no_number_has_many_digits(structure):
    for name, text in structure.sections.items():
        if name != "How to reproduce":
            assert not re.search(r"\d\.\d{11,}", text), name


def test_a_fit_that_was_stopped_has_a_remedy_in_its_report(tmp_path):
    with pytest.warns(ConvergenceWarning):
        stopped = SVC(C=1e4, max_iter=2).fit(X, LABELS)
    write_report(Model(stopped), tmp_path / "r.html", X=X, y=LABELS)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "What to do: Raise max_iter, or fit again with warm_start=True." in text


def test_command_is_repeated(structure):
    assert "maxmargin train cells.csv" in structure.sections["How to reproduce"]


def test_two_classes_have_all_plots(structure):
    # Confusion, ROC, precision–recall, calibration, boundary, search.
    assert len(structure.links) == 6


def test_regression_has_its_own_plots(tmp_path):
    model = Model(SVR().fit(X, X[:, 0]))
    write_report(model, tmp_path / "r.html", X=X, y=X[:, 0])
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count("<figure") == 1
    assert "mean absolute error" in text


def test_novelty_detector_has_a_page(tmp_path):
    write_report(Model(OneClassSVM(nu=0.1).fit(X)), tmp_path / "r.html", X=X)
    assert (tmp_path / "r.html").read_text("utf-8").count("<figure") == 1


def test_model_without_data_has_a_page(tmp_path):
    write_report(Model(SVC().fit(X, LABELS)), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "Certificate" in text
    assert "<figure" not in text


def test_new_data_are_told_apart_from_training(tmp_path):
    write_report(full_model(), tmp_path / "r.html", X=X[:50], y=LABELS[:50], source="new.csv")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "50 samples of new.csv" in text
    assert "held out" not in text


def test_failed_report_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="features"):
        write_report(full_model(), tmp_path / "r.html", X=X[:, :1], y=LABELS, source="new.csv")
    assert not list(tmp_path.iterdir())


# ---- in a browser ---------------------------------------------------------------------------


def chromium(*options):
    subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=400,
    )


def screenshot(page, width, height):
    path = page.with_name(f"{width}.png")
    chromium(f"--window-size={width},{height}", f"--screenshot={path}", page.as_uri())
    return imread(path)[..., :3]


@browser
@pytest.mark.parametrize("width", [500, 1100], ids=["phone", "desk"])
def test_page_fills_its_width_and_not_more(page, width):
    pixels = screenshot(page, width, 2400)
    assert pixels.shape == (2400, width, 3)
    ink = (pixels < 0.95).any(axis=(0, 2))
    left, right = np.flatnonzero(ink)[[0, -1]]
    # The same margin on both sides: nothing is cut off, and nothing hangs over.
    assert 5 <= left <= 80
    assert abs((width - 1 - right) - left) <= 3


@browser
def test_plots_show_in_the_page(page):
    pixels = screenshot(page, 1100, 4200)
    blue = np.abs(pixels - np.array([0x00, 0x72, 0xB2]) / 255).max(axis=2) < 0.02
    rows = np.flatnonzero(blue[1200:].any(axis=1))
    assert rows.size > 100


@browser
def test_page_prints(page):
    path = page.with_name("print.pdf")
    chromium(f"--print-to-pdf={path}", "--no-pdf-header-footer", page.as_uri())
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 2 <= pages <= 6
