"""The lab in Chromium: what it shows is what the library says."""

import json
import re
from urllib.parse import urlsplit

import pytest
from lab.looking import CHROMIUM, Visitor
from lab.serving import running

from maxmargin.lab.examples import example
from maxmargin.lab.page import address_of, exported
from maxmargin.lab.rooms import NAMES, answer, rooms
from maxmargin.lab.rooms import example as start_of

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt install chromium")
READY = "!document.querySelector('.stepper').hidden && !!document.querySelector('[data-value=gap]')"
AT_END = "document.querySelector('[aria-label=\"one step forward\"]').disabled"


@pytest.fixture(scope="module")
def visitor():
    opened = Visitor()
    opened.width(1280, 900)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def no_complaints(visitor):
    yield
    assert [complaint[:300] for complaint in visitor.complaints()] == []


def settle(visitor):
    """Wait until nothing is asked or drawn any more."""
    visitor.until(READY)
    previous = None
    while previous != (previous := visitor.ask("document.querySelector('main').innerHTML.length")):
        visitor.ask("new Promise((resolve) => setTimeout(resolve, 150))")


def shown_dual(visitor, expected):
    """Wait until the page shows a dual value."""
    visitor.until(
        f"Math.abs(Number(document.querySelector('[data-value=dual]').dataset.exact) - {expected})"
        f" <= 1e-9 * {abs(expected)}"
    )


def test_steps_forward_and_back_show_the_numbers_of_the_trace(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    truth = answer("smo", start_of("smo"))
    assert visitor.ask(AT_END)
    last = len(truth["steps"])
    for key, step in [("ArrowLeft", last - 1), ("ArrowLeft", last - 2), ("ArrowRight", last - 1)]:
        visitor.key(key)
        state = truth["states"][step]
        for name in ("dual", "primal", "gap", "violation", "support", "free", "intercept"):
            assert visitor.exact(name) == state[name]
    visitor.key("Home")
    assert visitor.exact("dual") == truth["states"][0]["dual"]
    visitor.key("ArrowRight")
    i, j = truth["steps"][0]["pair"]
    chosen = visitor.ask("document.querySelector('.candidate.chosen').textContent")
    assert chosen.startswith(f"({i}, {j}) ✓")
    visitor.key("End")
    assert visitor.exact("gap") == truth["states"][-1]["gap"]


def test_run_and_pause_and_the_jump_to_newton_steps(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    visitor.key("Home")
    visitor.ask(
        "[...document.querySelectorAll('button')].find((b) => /Newton/.test(b.textContent)).click()"
    )
    kinds = [step["kind"] for step in answer("smo", start_of("smo"))["steps"]]
    assert f"step {kinds.index('face') + 1} of" in visitor.ask(
        "document.querySelector('.stepper output').textContent"
    )
    visitor.key("Home")
    run = "document.querySelector('.run')"
    visitor.ask(f"{run}.click()")
    assert visitor.ask(f"{run}.textContent") == "Pause"
    visitor.until("!/step 0 of/.test(document.querySelector('.stepper output').textContent)")
    visitor.until(AT_END)
    assert visitor.ask(f"{run}.textContent") == "Run"


def test_a_dragged_point_moves_and_the_machine_follows(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    x, y = visitor.place(".point[data-n='3']")
    visitor.drag((x, y), (x + 60, y + 40))
    visitor.until("location.hash.length > 10")
    settle(visitor)
    state = visitor.state()
    before = start_of("smo")["points"]
    moved = [n for n, point in enumerate(before) if point != state["points"][n]]
    assert moved == [3]
    assert state["points"][3][0] > before[3][0]
    shown_dual(visitor, answer("smo", {**state, "action": "trace"})["states"][-1]["dual"])


def test_points_are_put_down_and_deleted(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    x, y = visitor.place(".field")
    visitor.click(x - 200, y + 200)
    settle(visitor)
    points = visitor.state()["points"]
    assert len(points) == 61
    assert points[-1][2] == 1
    visitor.ask("document.querySelector('[data-key=delete]').click()")
    visitor.click(x - 200, y + 200)
    settle(visitor)
    assert len(visitor.state()["points"]) == 60


def test_a_slider_trains_again_from_where_it_was(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    for power in (0.2, 0.6, 1.6):
        visitor.choose("C", str(power))
    C = visitor.until("Number(document.querySelector('.slider output').textContent)")
    truth = answer("smo", {**start_of("smo"), "C": C, "action": "trace"})
    shown_dual(visitor, truth["states"][-1]["dual"])
    assert visitor.state()["C"] == C
    assert f"C={C!r}" in visitor.ask("document.querySelector('details.code pre').textContent")


def test_a_link_shows_the_same_view(lab, visitor):
    state = {**example("three"), "C": 2.0, "task": 1, "step": 3}
    visitor.enter(lab + address_of("smo", state))
    settle(visitor)
    truth = answer("smo", {**state, "action": "trace"})
    shown_dual(visitor, truth["states"][3]["dual"])
    visitor.key("ArrowRight")
    assert visitor.state()["step"] == 4
    link = visitor.ask("location.href")
    visitor.enter(link)
    settle(visitor)
    shown_dual(visitor, truth["states"][4]["dual"])


@pytest.mark.parametrize("name", ["wave", "four", "separable"])
def test_examples_are_drawn(lab, visitor, name):
    visitor.enter(lab + "#smo")
    settle(visitor)
    visitor.choose("example", name)
    truth = answer("smo", example(name))
    shown_dual(visitor, truth["states"][-1]["dual"])
    settle(visitor)
    points = visitor.ask("document.querySelectorAll('.point').length")
    assert points == len(truth["machine"]["samples"])


def test_race_shows_the_steps_of_every_lane(lab, visitor):
    visitor.enter(lab + "#race")
    visitor.until("document.querySelectorAll('.lane').length === 4")
    truth = answer("race", start_of("race"))
    texts = visitor.ask("[...document.querySelectorAll('[data-lane]')].map((p) => p.textContent)")
    for text, racer in zip(texts, truth["racers"]):
        steps, values = re.match(r"([\d,]+) steps, ([\d,]+) kernel values", text).groups()
        assert int(steps.replace(",", "")) == racer["steps"]
        assert int(values.replace(",", "")) == racer["evaluations"]
        assert racer["status"] in text


@pytest.mark.parametrize(
    ("name", "width"), [*((name, 1280) for name in NAMES), ("smo", 390), ("race", 390)]
)
def test_every_room_opens_without_errors_or_strangers(lab, visitor, name, width):
    visitor.width(width, 900)
    visitor.enter(f"{lab}#{name}")
    (room,) = (one for one in rooms() if one.name == name)
    assert visitor.until("document.querySelector('h1').textContent") == room.title
    visitor.until("document.querySelectorAll('main svg, main canvas').length > 0")
    visitor.until("document.querySelector('details.code pre').textContent.includes('maxmargin')")
    assert visitor.ask("document.querySelector('.message').hidden")
    wide = visitor.ask("document.documentElement.scrollWidth")
    visitor.width(1280, 900)
    assert wide <= width
    hosts = {urlsplit(address).netloc for address in visitor.requests()}
    assert hosts <= {urlsplit(lab).netloc, ""}
    unnamed = visitor.ask(
        """[...document.querySelectorAll("button, select, input")]
           .filter((one) => one.type !== "file" && !one.labels?.length && !one.textContent.trim()
             && !one.getAttribute("aria-label") && !one.title).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [("just a line\nof words", "2 to 500 columns"), ("a,b\n1,2\n3", "line 3 has 1 cells")],
)
def test_a_bad_file_is_refused_with_a_reason(lab, visitor, text, message):
    visitor.enter(lab + "#smo")
    settle(visitor)
    visitor.give_file("CSV file", "bad.csv", text)
    visitor.until("!document.querySelector('.message').hidden")
    assert message in visitor.ask("document.querySelector('.message').textContent")


def test_a_file_of_a_hundred_thousand_rows_is_sampled(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    rows = "\n".join(f"{k % 97},{k % 89},{k % 2}" for k in range(100_000))
    visitor.give_file("CSV file", "long.csv", "a,b,kind\n" + rows)
    visitor.until("/2,000 of 100,000 rows/.test(document.body.textContent)")
    visitor.until("document.querySelectorAll('.point').length === 2000")
    # Single steps are not shown of so many; the machine is.
    visitor.until("/up to 600 points/.test(document.querySelector('.message').textContent)")
    visitor.until("!!document.querySelector('[data-value=dual]')")


def test_two_tabs_do_not_disturb_each_other(lab, visitor):
    other = Visitor()
    try:
        visitor.enter(lab + "#smo")
        other.enter(lab + address_of("smo", example("xor")))
        settle(visitor)
        settle(other)
        shown_dual(visitor, answer("smo", start_of("smo"))["states"][-1]["dual"])
        shown_dual(
            other, answer("smo", {**start_of("smo"), **example("xor")})["states"][-1]["dual"]
        )
        assert other.complaints() == []
    finally:
        other.close()


def test_a_killed_server_is_told(visitor):
    with running() as (process, address):
        visitor.enter(address + "#smo")
        settle(visitor)
        process.kill()
        process.wait(10)
        visitor.until("!document.querySelector('.message').hidden")
        text = visitor.ask("document.querySelector('.message').textContent")
        assert "maxmargin lab" in text
        # What was loaded can still be looked at.
        visitor.key("ArrowLeft")
        assert "step" in visitor.ask("document.querySelector('.stepper output').textContent")
        # The browser logs refused connections as errors, as it should.
        visitor.events.clear()


@pytest.mark.parametrize("name", ["smo", "race"])
def test_an_exported_page_plays_without_a_server(visitor, tmp_path, name):
    page = tmp_path / "page.html"
    page.write_text(exported(name, [start_of(name)]), encoding="utf-8")
    visitor.enter(page.as_uri())
    visitor.until("document.querySelectorAll('main svg, main canvas').length > 0")
    visitor.until("document.querySelector('details.code pre').textContent.includes('maxmargin')")
    assert visitor.ask("document.querySelector('.message').hidden")
    assert {address.partition(":")[0] for address in visitor.requests()} <= {
        "file",
        "data",
        "about",
    }
    if name == "smo":
        settle(visitor)
        truth = answer("smo", start_of("smo"))
        assert visitor.exact("dual") == truth["states"][-1]["dual"]
        visitor.key("ArrowLeft")
        assert visitor.exact("dual") == truth["states"][-2]["dual"]


def test_an_exported_page_opens_traces_from_files(visitor, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(exported("smo", [start_of("smo")]), encoding="utf-8")
    visitor.enter(page.as_uri())
    settle(visitor)
    request = example("xor")
    found = answer("smo", request)
    content = {"format": "maxmargin trace 1", "room": "smo", "request": request, "answer": found}
    visitor.give_file("trace file", "trace.json", json.dumps(content))
    shown_dual(visitor, found["states"][-1]["dual"])
    visitor.give_file("trace file", "other.json", '{"format": 1}')
    visitor.until("/is not a trace/.test(document.querySelector('.message').textContent)")


def test_dark_and_light_follow_the_system(lab, visitor):
    visitor.enter(lab + "#smo")
    settle(visitor)
    background = "getComputedStyle(document.body).backgroundColor"
    light = visitor.ask(background)
    visitor.media(prefers_color_scheme="dark")
    try:
        assert visitor.ask(background) != light
    finally:
        visitor.media(prefers_color_scheme="light")
