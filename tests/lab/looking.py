"""Chromium on a page of the lab: waiting, clicking, dragging, reading numbers."""

import json
import time
from contextlib import suppress

from docs.checks.browser import CHROMIUM, Browser

__all__ = ["CHROMIUM", "Visitor"]
PATIENCE = 40.0


class Visitor(Browser):
    """A browser with hands."""

    def until(self, expression):
        """Wait until an expression is true in the page; its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            # Elements that are not there yet raise errors.
            with suppress(RuntimeError):
                value = self.ask(expression)
                if value:
                    return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; {self.complaints()}")

    def enter(self, address):
        """Open a room and wait until it shows an answer."""
        self.open("about:blank")
        self.open(address)

    def mouse(self, kind, x, y, **options):
        options = {"button": "left", "buttons": 0 if kind == "mouseReleased" else 1, **options}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1, **options)

    def drag(self, start, end, moves=4):
        self.mouse("mousePressed", *start)
        for k in range(1, moves + 1):
            between = [a + (b - a) * k / moves for a, b in zip(start, end)]
            self.mouse("mouseMoved", *between)
        self.mouse("mouseReleased", *end)

    def click(self, x, y):
        self.drag((x, y), (x, y), moves=0)

    def key(self, name):
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=codes[name],
            )

    def choose(self, label, value):
        """Set a menu by its label."""
        self.ask(
            f"""(() => {{
              const labels = [...document.querySelectorAll("label")];
              const label = labels.find((one) => one.textContent === {json.dumps(label)});
              const input = document.getElementById(label.htmlFor);
              input.value = {json.dumps(value)};
              input.dispatchEvent(new Event("input"));
              input.dispatchEvent(new Event("change"));
            }})()"""
        )

    def place(self, selector):
        """Middle of an element on the screen."""
        self.ask(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})"
        )
        box = self.ask(
            f"""(() => {{
              const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
              return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        return tuple(box)

    def exact(self, name):
        """An exact number that the page shows."""
        text = self.ask(f"document.querySelector('[data-value={name}]').dataset.exact")
        return float(text)

    def state(self):
        """What the address keeps; it is written when changes pause."""
        self.ask("new Promise((resolve) => setTimeout(resolve, 400))")
        return self.ask("import('./static/address.js').then((m) => m.read(location.hash).state)")

    def give_file(self, label, name, text):
        """Choose a file in an input, as a visitor does."""
        self.ask(
            f"""(() => {{
              const input = document.querySelector('input[aria-label="{label}"]');
              const files = new DataTransfer();
              files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
              input.files = files.files;
              input.dispatchEvent(new Event("change"));
            }})()"""
        )
