"""A real headless browser, driven over the DevTools protocol: one process, one page, own profile.

The protocol comes through a pair of pipes, so that no port is open. Addresses other than loopback do not resolve.
"""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Optional

CHROMIUM = shutil.which("chromium")
ANSWER_LIMIT_S = 60.0
STOP_LIMIT_S = 20.0
POLL_PAUSE_S = 0.005
READ_SIZE = 1 << 16
# File descriptors of --remote-debugging-pipe, and the lowest one for the pipes until then.
COMMANDS_FD, ANSWERS_FD, PARKED_FD_MIN = 3, 4, 10
FLAGS = ("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
         "--disable-default-apps", "--disable-extensions", "--disable-sync", "--mute-audio", "--hide-scrollbars",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank")
# Keys by name: DOM key, code, and legacy key code.
KEYS = {
    "Tab": ("Tab", 9), "Enter": ("Enter", 13), "Escape": ("Escape", 27), "ArrowDown": ("ArrowDown", 40),
    "ArrowUp": ("ArrowUp", 38), "ArrowLeft": ("ArrowLeft", 37), "Home": ("Home", 36), "End": ("End", 35),
    "Backspace": ("Backspace", 8)
}
TEXTS = {"Enter": "\r"}
SHIFT, ALT = 8, 1


class BrowserError(AssertionError):
    """The browser ended, did not answer in time, or refused a command."""


class Browser:
    """Use as a context manager. Every wait is for a condition and has a time limit."""
    def __init__(self) -> None:
        if not CHROMIUM:
            raise BrowserError("chromium is not installed (tools/packages_test.txt)")
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = self._start()
        self._numbers = itertools.count(1)
        self._unread = b""
        self._session: Optional[str] = None
        self._session = self._open_page()
        for domain in ("Page", "Runtime", "DOM", "Accessibility", "Network"):
            self.command(domain + ".enable")
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _start(self) -> subprocess.Popen:
        commands, self._commands = self._parked_pipe()
        self._answers, answers = self._parked_pipe()

        def place() -> None:
            os.dup2(commands, COMMANDS_FD)
            os.dup2(answers, ANSWERS_FD)

        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        environment = dict(os.environ, HOME=self._folder.name, XDG_CONFIG_HOME=self._folder.name,
                           XDG_CACHE_HOME=self._folder.name)
        process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            [CHROMIUM, "--user-data-dir=" + self._folder.name, *sandbox, *FLAGS], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place, env=environment,
            pass_fds=(COMMANDS_FD, ANSWERS_FD), start_new_session=True)
        os.close(commands)
        os.close(answers)
        return process

    @staticmethod
    def _parked_pipe() -> List[int]:
        ends = os.pipe()
        parked = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, PARKED_FD_MIN) for end in ends]
        for end in ends:
            os.close(end)
        return parked

    def _open_page(self) -> str:
        targets = self.command("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        return self.command("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def close(self) -> None:
        try:
            self._session = None
            self.command("Browser.close")
            self._process.wait(STOP_LIMIT_S)
        except (BrowserError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._folder.cleanup()

    # The protocol.

    def _read(self, end: float) -> Dict[str, Any]:
        """Returns the next message."""
        while b"\0" not in self._unread:
            ready = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))[0]
            if not ready:
                raise BrowserError(f"the browser did not answer within {ANSWER_LIMIT_S} s")
            got = os.read(self._answers, READ_SIZE)
            if not got:
                raise BrowserError(f"the browser ended with status {self._process.poll()}")
            self._unread += got
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def _send(self, method: str, parameters: dict) -> int:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        unsent = json.dumps(message).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self._commands, unsent):]
        return number

    def command(self, method: str, **parameters: Any) -> dict:
        number = self._send(method, parameters)
        end = time.monotonic() + ANSWER_LIMIT_S
        while True:
            message = self._read(end)
            if message.get("id") == number:
                break
        if "error" in message:
            raise BrowserError(f"{method}: {message['error']}")
        return message["result"]

    # The page.

    def open(self, address: str) -> None:
        """Returns when the page is loaded and laid out."""
        self.evaluate("window.isLeft = true")  # the old page remains until the new one begins
        loader = self.command("Page.navigate", url=address)
        if loader.get("errorText"):
            raise BrowserError(f"{address}: {loader['errorText']}")
        self.wait_for("!window.isLeft && document.readyState === 'complete' && "
                      f"location.href.split('#')[0] === {json.dumps(address)}")
        if self.evaluate("document.querySelector('meta[http-equiv=refresh]') !== null"):
            self.command("Page.stopLoading")  # disables its refresh

    def evaluate(self, script: str) -> Any:
        done = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise BrowserError(f"{script[:200]}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Waits until the script's expression is true, also across a navigation."""
        end = time.monotonic() + ANSWER_LIMIT_S
        while time.monotonic() < end:
            try:
                if self.evaluate(f"Boolean({condition})"):
                    return
            except BrowserError:
                if self._process.poll() is not None:
                    raise
            time.sleep(POLL_PAUSE_S)
        raise BrowserError(f"after {ANSWER_LIMIT_S} s still not: {condition}; at {self.evaluate('location.href')}")

    def press(self, key: str, shift: bool = False, alt: bool = False) -> None:
        name, number = KEYS[key]
        parameters = {"key": name, "code": name, "windowsVirtualKeyCode": number,
                      "modifiers": SHIFT * shift + ALT * alt}
        if key in TEXTS:
            parameters["text"] = TEXTS[key]
        down = "keyDown" if key in TEXTS else "rawKeyDown"
        self.command("Input.dispatchKeyEvent", type=down, **parameters)
        self._send("Input.dispatchKeyEvent", dict(parameters, type="keyUp"))

    def type(self, text: str) -> None:
        for letter in text:
            self.command("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.command("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def click(self, x: float, y: float) -> None:
        for event in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def size(self, width: int, height: int = 800, scale: float = 1) -> None:
        """Sets the size in CSS pixels; `scale` is the number of device pixels per CSS pixel."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                     mobile=False)

    def media(self, **features: str) -> None:
        """Sets user preferences by names of media features, with _ instead of -."""
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def scripts(self, run: bool) -> None:
        self.command("Emulation.setScriptExecutionDisabled", value=not run)

    def unnamed(self, roles: tuple) -> List[str]:
        """Returns accessibility nodes of these roles that have no name."""
        nodes = self.command("Accessibility.getFullAXTree")["nodes"]
        found = [node for node in nodes if not node.get("ignored") and _value(node, "role") in roles
                 and not _value(node, "name").strip()]
        return [f"{_value(node, 'role')} {self._markup_of(node)}" for node in found]

    def described(self, role: str) -> List[dict]:
        """Returns the accessibility nodes of a role: name, and properties by name."""
        nodes = self.command("Accessibility.getFullAXTree")["nodes"]
        return [dict({p["name"]: p["value"].get("value") for p in node.get("properties", [])},
                     name=_value(node, "name"))
                for node in nodes if not node.get("ignored") and _value(node, "role") == role]

    def _markup_of(self, node: dict) -> str:
        found = self.command("DOM.describeNode", backendNodeId=node["backendDOMNodeId"])["node"]
        return f"<{found['localName']} {' '.join(found.get('attributes', []))}>"

    def picture(self, path: str, whole: bool = False) -> None:
        """Writes a screenshot as PNG; `whole`: of the whole page, not only the visible part."""
        data = self.command("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


def _value(node: dict, name: str) -> str:
    return str(node.get(name, {}).get("value", ""))
