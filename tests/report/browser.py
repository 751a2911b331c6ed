"""A headless Chromium driven over its debugging pipe: clicks, keys, and console errors.

It speaks the DevTools protocol: messages of JSON that end with a zero byte, on file descriptors 3
(to the browser) and 4 (from it).
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next((found for name in _NAMES if (found := shutil.which(name))), None)
_TIMEOUT_S = 60.0
# The pipe's ends are 3 and 4 in the browser, whatever they are called here.
_LAUNCH = """import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
_KEYS = {" ": ("Space", 32), "ArrowLeft": ("ArrowLeft", 37), "ArrowRight": ("ArrowRight", 39)}


class Browser:
    """One page of a headless browser. Use it as a context."""

    def __init__(self, profile: Path, wide: int = 1280, high: int = 900) -> None:
        assert CHROMIUM is not None
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self._out, self._in = ours_out, ours_in
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--remote-debugging-pipe", f"--user-data-dir={profile}",
            f"--window-size={wide},{high}", "--hide-scrollbars", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._read = b""
        self._asked = 0
        self._session = ""
        self.complaints: list[str] = []  # of the console, and uncaught exceptions
        self.requests: list[str] = []
        page = next(
            one for one in self("Target.getTargets")["targetInfos"] if one["type"] == "page"
        )
        asked = {"targetId": page["targetId"], "flatten": True}
        self._session = self("Target.attachToTarget", **asked)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")
        self("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1,
             mobile=False)  # fmt: skip

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)  # the browser exits when the pipe is closed
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser; its answer, after noting its events."""
        self._asked += 1
        asked = {"id": self._asked, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._asked:
                assert "error" not in message, message["error"]
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + _TIMEOUT_S
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            some = os.read(self._in, 1 << 20)
            assert some, "the browser has exited"
            self._read += some
        one, _, self._read = self._read.partition(b"\0")
        answer: dict[str, Any] = json.loads(one)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                said = details.get("exception", {}).get("description", details["text"])
                self.complaints.append(said)
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                self.complaints.append(str([one.get("value") for one in about["args"]]))
            case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                self.complaints.append(about["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(about["request"]["url"])

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        self("Page.navigate", url=f"file://{path}")
        self.until("document.readyState === 'complete'")

    def tell(self, expression: str) -> Any:
        """The value of an expression on the page."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = self("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _TIMEOUT_S
        while not self.tell(expression):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.02)

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """A mouse's click into an element, at these parts of its width and height."""
        box = self.tell(
            f"(async () => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "for (const _ of 'ab') await new Promise(requestAnimationFrame);"  # it is there by then
            "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
        )
        at = {"x": box[0] + x * box[2], "y": box[1] + y * box[3]}
        self("Input.dispatchMouseEvent", type="mouseMoved", **at)
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def press(self, key: str, shift: bool = False) -> None:
        """A key, pressed and released."""
        code, number = _KEYS.get(key, (key, ord(key[0].upper())))
        text = {"text": key} if len(key) == 1 else {}
        named: dict[str, Any] = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        named["modifiers"] = 8 if shift else 0
        self("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self("Input.dispatchKeyEvent", type="keyUp", **named)

    def type(self, selector: str, text: str) -> None:
        """Text typed into an empty field."""
        where = f"document.querySelector({json.dumps(selector)})"
        self.tell(f"{where}.focus(), {where}.value = ''")
        self("Input.insertText", text=text)

    def middle(self, selector: str) -> tuple[float, float]:
        """The middle of an element in the window, scrolled into sight."""
        x, y = self.tell(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2];"
            "})()"
        )
        return x, y

    def wheel(self, selector: str, turn: float, ctrl: bool = False) -> None:
        """A turn of the wheel over the middle of an element; below 0 is away from the user."""
        x, y = self.middle(selector)
        self("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turn,
             modifiers=2 if ctrl else 0)  # fmt: skip

    def drag(self, selector: str, dx: float, dy: float) -> None:
        """A drag by the mouse from the middle of an element, by so many pixels."""
        x, y = self.middle(selector)
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        self("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **held)
        for part in (0.3, 0.7, 1.0):
            self("Input.dispatchMouseEvent", type="mouseMoved", x=x + part * dx, y=y + part * dy,
                 **held)  # fmt: skip
        self("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, **held)

    def pinch(self, selector: str, first: float, last: float) -> None:
        """Two fingers around the middle of an element, moved to another distance."""
        x, y = self.middle(selector)

        def fingers(apart: float) -> list[dict[str, float]]:
            return [{"x": x - apart / 2, "y": y, "id": 1}, {"x": x + apart / 2, "y": y, "id": 2}]

        self("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers(first))
        for part in (0.25, 0.5, 0.75, 1.0):
            there = fingers(first + part * (last - first))
            self("Input.dispatchTouchEvent", type="touchMove", touchPoints=there)
        self("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def downloads(self, folder: Path) -> None:
        """Save the page's files into a folder."""
        self("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def choose(self, selector: str, value: str) -> None:
        """Pick an option of a list, with a change event."""
        self.tell(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            f"e.value = {json.dumps(value)};"
            "e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def picture(self, path: Path, selector: str | None = None) -> None:
        """A screenshot as PNG, of an element or of what the window shows."""
        asked: dict[str, Any] = {"format": "png"}
        if selector is not None:
            box = self.tell(
                f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
                ".getBoundingClientRect(); return {x: b.x + scrollX, y: b.y + scrollY, "
                "width: b.width, height: b.height, scale: 1}; })()"
            )
            asked |= {"clip": box, "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self("Page.captureScreenshot", **asked)["data"]))

    def colours(self, scheme: str) -> None:
        """Prefer "light" or "dark"."""
        self.prefer("color-scheme", scheme)

    def prefer(self, what: str, value: str) -> None:
        """The viewer's preference, such as "reduced-motion": "reduce"."""
        feature = {"name": f"prefers-{what}", "value": value}
        self("Emulation.setEmulatedMedia", features=[feature])
