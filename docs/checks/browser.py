"""Chromium over its DevTools pipe: open a page, watch requests and console, ask the page."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
)


class Browser:
    """One tab. Messages of the protocol are JSON texts that end with a zero byte."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        flags = " ".join((*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}"))
        # The protocol wants descriptors 3 and 4.
        command = f"exec {CHROMIUM} {flags} about:blank 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(to_browser, from_browser),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        (page,) = [
            target
            for target in self.call("Target.getTargets")["targetInfos"]
            if target["type"] == "page"
        ]
        options = {"targetId": page["targetId"], "flatten": True}
        self.session = self.call("Target.attachToTarget", **options)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def next_message(self, seconds=60.0):
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            self.buffer += os.read(self.read_end, 1 << 20)
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, address):
        """Go to an address and wait until it is loaded, formulas included."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next_message())
        self.ask("window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => 1) : 1")

    def ask(self, expression):
        """The value of an expression in the page; promises are waited for."""
        options = {"awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self):
        """Errors and warnings of scripts and of the browser."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["text"])
            elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
            elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
                found.append(" ".join(str(arg.get("value")) for arg in params["args"]))
            elif method == "Network.loadingFailed" and not params.get("canceled"):
                found.append(f"{params['errorText']} ({params['type']})")
        return found

    def width(self, pixels, height=800):
        options = {"deviceScaleFactor": 1, "mobile": pixels < 700}
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=height, **options)

    def media(self, kind="", **features):
        listed = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", media=kind, features=listed)

    def close(self):
        # Helper processes outlive the first one for a moment, and write to the profile.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)
        os.close(self.write_end)
        os.close(self.read_end)
        self.folder.cleanup()
