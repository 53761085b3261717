"""The lab in Chromium, for the tests of its rooms."""

import base64
import json
import subprocess
import sys
import time

import pytest

from docs.checks.browser import CHROMIUM, Browser
from maxmargin.lab.rooms import answer, rooms

ROOMS = ("coordinate", "online", "tuning", "trees", "lagrange", "losses")

SERVER = """
from maxmargin.lab.server import Lab, listening, serve
bound = listening()
lab = Lab(bound.getsockname()[1])
print(lab.address, flush=True)
serve(lab, bound)
"""
READY = "document.querySelector('details.code pre')?.textContent.length > 0"


class Page:
    """A tab of the lab."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def open(self, place):
        """Go to a room, or to a whole hash, and wait for its first answer."""
        self.browser.open("about:blank")
        self.browser.open(f"{self.address}#{place}")
        self.until(READY)

    def ask(self, expression):
        return self.browser.ask(expression)

    def until(self, condition, seconds=120.0):
        end = time.monotonic() + seconds
        while not self.ask(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    def push(self, label):
        """Click the button with this label or text."""
        self.ask(
            f"[...document.querySelectorAll('button')].find((b) => "
            f"b.getAttribute('aria-label') === {label!r} || b.textContent === {label!r}).click()"
        )

    def facts(self):
        """What the tables of facts show, as numbers; None where they show a dash."""
        pairs = self.ask(
            "[...document.querySelectorAll('[data-fact]')].map("
            "(cell) => [cell.dataset.fact, cell.dataset.value])"
        )
        return {name: float(value) if value else None for name, value in pairs}

    def said(self):
        return self.ask("document.querySelector('.said').textContent")

    def code(self):
        return self.ask("document.querySelector('details.code pre').textContent")

    def message(self):
        return self.ask("document.querySelector('.message').textContent")

    def slide(self, label, value):
        """Move the slider with this label."""
        self.ask(
            "(() => { const slider = [...document.querySelectorAll('.slider')].find((one) => "
            f"one.querySelector('label').textContent === {label!r}).querySelector('input');"
            f"slider.value = {value}; slider.dispatchEvent(new Event('input')); }})()"
        )

    def link(self, step):
        """The hash of the address, once it has this step: it is written when changes pause."""
        end = time.monotonic() + 60.0
        while True:
            place = self.ask("location.hash.slice(1)")
            packed = place.partition("/")[2]
            state = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)) or b"{}"
            if json.loads(state).get("step") == step:
                return place
            assert time.monotonic() < end, f"the address never has step {step}: {state!r}"
            time.sleep(0.05)

    def step(self):
        return int(self.ask("document.querySelector('.stepper input').value"))


@pytest.fixture(scope="session")
def lab_page():
    if CHROMIUM is None:
        pytest.skip("chromium is absent: apt install chromium")
    # An answer of the server may take 30 s: what has to be compiled for it is compiled here.
    for room in rooms():
        if room.name in ROOMS:
            answer(room.name, room.example)
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    browser = Browser()
    try:
        yield Page(browser, server.stdout.readline().strip())
    finally:
        browser.close()
        server.terminate()
        server.wait(20)
