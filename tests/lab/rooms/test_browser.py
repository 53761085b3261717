"""Every room in Chromium: it opens, steps forward and back, and shows the library's numbers."""

import ast
import base64
import re

import pytest
from lab.rooms.conftest import READY

from maxmargin.lab.page import exported
from maxmargin.lab.rooms import answer, rooms

EXAMPLES = {room.name: room.example for room in rooms()}
# Rooms with steps, and the part of their answer that the facts of a step come from.
STEPPED = ("trees", "coordinate", "online", "tuning", "lagrange")


def expected(name, found, step):
    """The facts of a room at a step, from the answer of the library."""
    if name == "trees":
        frame = found["frames"][step]
        return {
            "leaves": len(frame["leaves"]),
            "errors": frame["errors"],
            "risk": frame["risk"],
            "alpha": frame["alpha"],
        }
    if name == "coordinate":
        at = found["steps"][step - 1]
        names = ("sample", "gradient", "before", "after", "b", "turned", "primal", "gap", "active")
        return {**{key: at[key] for key in names}, "w1": at["w"][0], "w2": at["w"][1]}
    if name == "online":
        frame = found["frames"][step]
        return {key: frame[key] for key in ("dual", "violation", "gap", "bias", "steps")}
    if name == "tuning":
        at = found["path"][step]
        slopes = {"slope_gamma": at["gradient"][0], "slope_C": at["gradient"][1]}
        return {key: at[key] for key in ("value", "log_C", "log_gamma")} | slopes
    walk = found["walk"]
    x1, x2 = walk["x"][step]
    solution = {"solution_f": found["solution"]["f"], "solution_x1": found["solution"]["x"][0]}
    return {"x1": x1, "x2": x2, "f": walk["f"][step], "slope": walk["slope"][step], **solution}


def check_facts(page, name, found):
    facts, step = page.facts(), page.step()
    for key, value in expected(name, found, step).items():
        wanted = value if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
        assert facts[key] == wanted, (key, step)


@pytest.mark.parametrize("name", STEPPED)
def test_steps_forward_and_back_show_the_numbers_of_the_library(lab_page, name):
    page = lab_page
    found = answer(name, EXAMPLES[name])
    page.open(name)
    page.until("document.querySelectorAll('[data-fact]').length > 0")
    page.push("to the start")
    page.push("one step forward")
    first = page.facts()
    check_facts(page, name, found)
    for _ in range(3):
        page.push("one step forward")
    assert page.step() == 4
    check_facts(page, name, found)
    for _ in range(3):
        page.push("one step back")
    assert page.facts() == first
    page.push("to the end")
    check_facts(page, name, found)
    assert page.browser.complaints() == []
    own = (page.address, page.address.replace("http", "ws"), "data:", "about:")
    assert all(request.startswith(own) for request in page.browser.requests())


@pytest.mark.parametrize("name", STEPPED)
def test_keys_step_and_the_link_keeps_the_step(lab_page, name):
    page = lab_page
    page.open(name)
    page.until("document.querySelectorAll('[data-fact]').length > 0")
    page.ask("document.activeElement.blur()")
    page.press("Home")
    page.press("ArrowRight")
    page.press("ArrowRight")
    page.press("ArrowLeft")
    page.press("ArrowRight")
    assert page.step() == 2
    facts = page.facts()
    page.open(page.link(step=2))
    page.until("document.querySelector('.stepper input').value === '2'")
    assert page.facts() == facts


@pytest.mark.parametrize("name", [*STEPPED, "losses"])
def test_a_phone_shows_a_room_without_scrolling_sideways(lab_page, name):
    page = lab_page
    page.browser.width(390, 800)
    try:
        page.open(name)
        assert page.ask("document.documentElement.scrollWidth") <= 390
        unnamed = page.ask(
            "[...document.querySelectorAll('input, select, button')].filter((one) => "
            "!one.labels?.length && !one.getAttribute('aria-label') && !one.textContent).length"
        )
        assert unnamed == 0
    finally:
        page.browser.width(1280, 900)


@pytest.mark.parametrize("name", ["trees", "coordinate", "online"])
def test_a_click_puts_down_a_point_and_the_answer_has_it(lab_page, name):
    page = lab_page
    page.browser.width(1280, 900)
    page.open(name)
    page.until("document.querySelectorAll('.dot').length > 0")
    before = page.ask("document.querySelectorAll('.dot').length")
    code = page.ask("document.querySelector('details.code pre').textContent")
    page.ask("document.querySelector('.square').scrollIntoView({block: 'center'})")
    # A place without a point: of many, the first that is far from all.
    x, y = page.ask(
        "(() => { const box = document.querySelector('.square').getBoundingClientRect();"
        "const dots = [...document.querySelectorAll('.dot')].map((d) => d.getBoundingClientRect());"
        "for (let u = 0.15; u < 0.9; u += 0.05) for (let v = 0.15; v < 0.85; v += 0.05) {"
        "const [x, y] = [box.left + u * box.width, box.top + v * box.height];"
        "if (dots.every((d) => Math.hypot(d.left - x, d.top - y) > 40)) return [x, y]; } })()"
    )
    page.click(x, y)
    shown = "document.querySelector('details.code pre').textContent"
    page.until(f"{shown} !== {code!r}")
    assert page.ask("document.querySelectorAll('.dot').length") == before + 1
    assert page.ask(f"(({shown}).match(/^    \\[/gm) ?? []).length") == before + 1
    assert page.browser.complaints() == []


def test_losses_follow_the_slider(lab_page):
    page = lab_page
    page.open("losses")
    for z in (-1.0, 1.0, 2.5):
        page.slide("output z", z)
        found = answer("losses", {**EXAMPLES["losses"], "z": z})["at"]
        shown = f"At z = {z:g} ".replace("-", "−")
        page.until(f"document.querySelector('.said').textContent.includes({shown!r})")
        for name, one in found.items():
            for key, value in (("loss", "value"), ("beta", "beta"), ("conjugate", "conjugate")):
                cell = f"document.querySelector('[data-{key}=\"{name}\"]').dataset.value"
                assert float(page.ask(cell)) == pytest.approx(one[value], rel=1e-12, abs=1e-12)
    assert page.browser.complaints() == []


def test_an_active_machine_is_answered(lab_page):
    page = lab_page
    page.open("online")
    page.push("Active learning")
    page.until("document.querySelector('.query') !== null")
    for count in (1, 2, 3):
        page.push("Answer the query")
        page.until(f"document.querySelector('[data-fact=seen]').dataset.value === '{count}'")
    asked = ast.literal_eval(re.search(r"order = np\.array\((\[.*?\])", page.code())[1])
    found = answer("online", {**EXAMPLES["online"], "mode": "active", "asked": asked})
    assert page.facts()["dual"] == pytest.approx(found["frames"][-1]["dual"], rel=1e-12)
    assert f"label of point {found['query']}." in page.said()


def test_a_tree_node_shows_its_candidates(lab_page):
    page = lab_page
    page.open("trees")
    page.push("to the end")
    page.push("one step back")
    found = answer("trees", EXAMPLES["trees"])
    node = int(page.ask("document.querySelector('.treenode').dataset.node"))
    page.ask("document.querySelector('.treenode').focus()")
    page.press("Enter")
    gains = page.ask("[...document.querySelectorAll('[data-gain]')].map((c) => c.dataset.value)")
    table = found["splits"][str(node)]["gain"]
    assert [float(gain) for gain in gains] == pytest.approx(table[: len(gains)], rel=1e-12)


def test_a_bad_link_is_told_and_not_thrown(lab_page):
    page = lab_page
    state = base64.urlsafe_b64encode(b'{"max_depth": 99}').decode().rstrip("=")
    page.browser.open("about:blank")
    page.browser.open(f"{page.address}#trees/{state}")
    page.until("document.querySelector('.message')?.hidden === false")
    assert "max_depth must be between 1 and 8" in page.message()
    assert page.browser.complaints() == []


@pytest.mark.parametrize("name", [*STEPPED, "losses"])
def test_an_exported_room_plays_without_a_server(lab_page, name, tmp_path):
    browser, page = lab_page.browser, lab_page
    file = tmp_path / f"{name}.html"
    file.write_text(exported(name, [EXAMPLES[name]]), encoding="utf-8")
    browser.open(file.as_uri())
    page.until(READY)
    if name != "losses":
        page.push("to the start")
        page.push("one step forward")
        check_facts(page, name, answer(name, EXAMPLES[name]))
    assert browser.complaints() == []
    assert page.ask("document.querySelector('.message').hidden")
    assert all(request.startswith(("file:", "data:", "blob:")) for request in browser.requests())
