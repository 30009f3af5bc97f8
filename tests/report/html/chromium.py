# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through its debugging pipe: requests on descriptor 3, answers on 4,
NUL after each."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

ANSWER_S = 40


def find():
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


class Chromium:
    """One page. Everything that it asks the network for, or says on its console, is kept."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="stageprof-chromium-")
        # None of them may be 3 or 4 itself, which the child sets.
        requests_out, requests_in = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())
        answers_out, answers_in = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())

        def give_pipes():
            os.dup2(requests_out, 3)
            os.dup2(answers_in, 4)

        # The numbers 3 and 4 may be taken here: the child's own are set after everything else is
        # closed.
        self.process = subprocess.Popen(
            [
                find(),
                "--headless=new",
                "--no-sandbox",
                "--remote-debugging-pipe",
                "--disable-gpu",
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
                "--user-data-dir=" + self.profile,
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=give_pipes,
            start_new_session=True,
        )
        os.close(requests_out)
        os.close(answers_in)
        self.requests, self.answers = requests_in, answers_out
        self.rest, self.number, self.session = b"", 0, None
        self.console, self.network = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.requests)
        os.close(self.answers)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        """The next message, or None where none comes in time."""
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("chromium is gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled":
            self.console.append(json.dumps(params["args"])[:600])
        elif method == "Log.entryAdded":
            self.console.append(json.dumps(params["entry"])[:600])
        elif method == "Network.requestWillBeSent":
            self.network.append(params["request"]["url"][:200])
        return method

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.requests, data) :]
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self.receive(until)
            if answer is None:
                raise RuntimeError(f"no answer to {method}")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def wait_for(self, event):
        until = time.monotonic() + ANSWER_S
        while True:
            message = self.receive(until)
            if message is None:
                raise RuntimeError(f"no {event}")
            if self.note(message) == event:
                return

    def open(self, path):
        self.console, self.network = [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        """The value of a JavaScript expression, through JSON."""
        answer = self.call(
            "Runtime.evaluate", expression=f"JSON.stringify({expression})", awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    def do(self, statements):
        return self.value("(() => {" + statements + "})()")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def window(self, width, height, scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def theme(self, theme):
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": theme}],
        )

    def scripts(self, are_on):
        self.call("Emulation.setScriptExecutionDisabled", value=not are_on)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)[
            "data"
        ]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def paper(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
