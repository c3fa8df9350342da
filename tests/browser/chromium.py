"""A headless Chromium, driven through its DevTools protocol over two pipes: no driver program, no port, no package.

Messages are JSON, each ended by a zero byte: what is written to the browser's descriptor 3 it answers on its 4.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds for one answer


def executable():
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


class Browser:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp(prefix="attnscope-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        ends = (to_browser, from_browser)

        def place_ends():
            # Above 4 first: one of them may be 3 or 4 already.
            high = [os.dup2(end, 100 + i) for i, end in enumerate(ends)]
            for number, end in enumerate(high, start=3):
                os.dup2(end, number, inheritable=True)

        self._process = subprocess.Popen(
            [path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--mute-audio", "--hide-scrollbars", "--font-render-hinting=none", "--force-color-profile=srgb",
             f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=place_ends, pass_fds=(3, 4, *ends), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for end in ends:
            os.close(end)
        self._buffer, self._last = b"", 0
        self._pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data):]
        wanted = self._last
        while (answer := self.next_message()).get("id") != wanted:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def next_message(self):
        """An answer, or an event, which its page has then noted."""
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser did not answer for {PATIENCE} s")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message and message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].note(message["method"], message["params"])
        return message

    def open(self, path, **view):
        return Page(self, path, **view)


class Page:
    """A file, opened from disk. `problems`: what the console said; `requests`: every address but the page's own that its policy let out."""

    def __init__(self, browser, path, width=1280, height=800, dark=False, scripts=True):
        self.browser, self.problems, self.requests = browser, [], []
        self._loaded, self._under_way = False, {}
        self._address = "file://" + os.path.abspath(path)
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        browser._pages[self._session] = self
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.prefer(dark)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        start = time.monotonic()
        self.call("Page.navigate", url=self._address)
        while not self._loaded:
            browser.next_message()
        self.opened_in = time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser._pages.pop(self._session)
        self.browser.call("Target.closeTarget", targetId=self._target)

    def call(self, method, **parameters):
        return self.browser.call(method, self._session, **parameters)

    def note(self, event, details):
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent" and details["request"]["url"] != self._address:
            self._under_way[details["requestId"]] = details["request"]["url"]
            self.requests.append(details["request"]["url"])
        elif event == "Network.loadingFailed" and details.get("blockedReason") == "csp":
            self.requests.remove(self._under_way.pop(details["requestId"]))
        elif event == "Log.entryAdded":
            self.problems.append(details["entry"]["text"])
        elif event in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.problems.append(json.dumps(details)[:300])

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, dark, media="", more={}):
        # No smooth scrolling: what a key does is seen at once.
        self.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"},
            *({"name": name, "value": value} for name, value in more.items())])

    def add_style(self, text):
        """As a reader's own style sheet: no policy of the page is about it."""
        self.call("DOM.enable")
        self.call("CSS.enable")
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        sheet = self.call("CSS.createStyleSheet", frameId=frame)["styleSheetId"]
        self.call("CSS.setStyleSheetText", styleSheetId=sheet, text=text)

    def accessibility(self):
        """What assistive technology is told, in order."""
        self.call("Accessibility.enable")
        return [{"role": node["role"]["value"], "name": node.get("name", {}).get("value", ""),
                 "description": node.get("description", {}).get("value", ""),
                 "focusable": any(p["name"] == "focusable" and p["value"].get("value") for p in node.get("properties", []))}
                for node in self.call("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]

    def evaluate(self, expression):
        """Of the browser's tools, not of the page: no policy and no switched-off script stops it."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def press(self, key):
        code, text = {"Tab": (9, ""), "Enter": (13, "\r")}[key]
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": text} if kind == "keyDown" else {}))

    def screenshot(self, path, whole=False, of=None):
        """Of the window, of the whole page, or of the element that a selector finds."""
        clip = self._box(of) if of else self._whole() if whole else None
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=bool(clip), **({"clip": clip} if clip else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def _box(self, selector):
        box = self.evaluate(f"""(e => {{ const b = e.getBoundingClientRect();
            return {{x: b.left + scrollX - 12, y: b.top + scrollY - 8, width: b.width + 24, height: b.height + 16}}; }})
            (document.querySelector({json.dumps(selector)}))""")
        return {**box, "scale": 1}

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
