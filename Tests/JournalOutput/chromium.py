#!/usr/bin/env python3
"""A headless Chromium, driven over the pipes of its DevTools protocol. Needs Python's standard library only."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
# A limit for a browser that hangs. No check depends on it.
PATIENCE = 300


def find():
    """The path of an installed Chromium, or None."""
    named = os.environ.get("CHROMIUM_PROGRAM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page. Use it in a `with` statement, which ends the browser."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="interceptors-chromium-", ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.events, events = os.pipe()
        # Above 4, so that neither is overwritten when they become 3 and 4 in the browser.
        inherited = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (commands, events)]

        def place():
            for number, descriptor in enumerate(inherited, start=3):
                os.dup2(descriptor, number)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[3, 4, *inherited], preexec_fn=place, start_new_session=True)
        for descriptor in (commands, events, *inherited):
            os.close(descriptor)
        self.buffer, self.count, self.session = b"", 0, None
        self.seen = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.commands)
        os.close(self.events)
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def receive(self):
        """The next message of the browser."""
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.events], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("The browser is silent.")
            chunk = os.read(self.events, 1 << 20)
            if not chunk:
                raise EOFError("The browser ended.")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        if "method" in message:
            self.seen.append(message)
        return message

    def call(self, method, **parameters):
        """Sends a command, and waits for its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        """Loads a page, and waits until it has loaded."""
        self.seen.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.seen):
            self.receive()
        self.settle()

    def settle(self):
        """Waits until the page has drawn what was asked of it."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key):
        """Presses a key, such as `ArrowDown` or `/`."""
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "Tab": 9, "PageDown": 34}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        event = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)
        self.settle()

    def appearance(self, width, height, scheme):
        """Sets the window's size, and light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def screenshot(self, path):
        """Writes what the window shows to a PNG file."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def accessible(self):
        """The page's nodes as assistive technology gets them: pairs of role and name."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    def complaints(self):
        """Errors, warnings and console output of the page since it was opened."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening")
        return [event for event in self.seen if event["method"] in kinds]

    def requests(self):
        """The URLs that the page asked for since it was opened."""
        return [event["params"]["request"]["url"] for event in self.seen if event["method"] == "Network.requestWillBeSent"]


if __name__ == "__main__":
    # `chromium.py --installed` exits with 0 if there is a browser.
    sys.exit(0 if find() else 77)
