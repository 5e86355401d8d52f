"""Somebody at the keyboard of a browser, who answers whatever the web app asks.

There is no list of questions: a person looks at the element with the focus, and does what belongs to its kind.
"""

import pathlib
import random
import re
import struct
import zlib

from browser import fail

TAB, ENTER, SPACE, DOWN, CONTROL = "\ue004", "\ue007", " ", "\ue015", "\ue009"
TARGET = 44
# A page that needs more presses of a key than this cannot be used by keyboard.
PRESSES = 400

# Marks what is on the page. `CHANGED` then waits for another page, a summary of errors, or a notice.
MARK = "for (const e of document.querySelectorAll('main h1, .summary, .notice')) e.dataset.seen = ''"
CHANGED = """
    const [seconds, done] = arguments
    const found = () => ['.summary', 'main h1', '.notice'].find(each => document.querySelector(`${each}:not([data-seen])`))
    const tell = () => { const kind = found(); if (kind) { watcher.disconnect(); clearTimeout(timer); done(kind) } }
    const timer = setTimeout(() => { watcher.disconnect(); done(null) }, seconds * 1000)
    const watcher = new MutationObserver(tell)
    watcher.observe(document, {subtree: true, childList: true, attributes: true})
    tell()
"""
FOUND = """
    const [seconds, done] = arguments
    const tell = () => { if (document.querySelector('.found button')) { watcher.disconnect(); clearTimeout(timer); done(true) } }
    const timer = setTimeout(() => { watcher.disconnect(); done(false) }, seconds * 1000)
    const watcher = new MutationObserver(tell)
    watcher.observe(document, {subtree: true, childList: true})
    tell()
"""
# What has the focus, and what is left to answer behind it.
ACTIVE = """
    const e = document.activeElement, field = e.closest('.field'), form = e.closest('form')
    const isGiven = f => f.querySelector('.ranking, :checked, [type=file]') && ![...f.querySelectorAll('.parts')].some(p => p.checkVisibility())
        || [...f.querySelectorAll('input:not([type=radio], [type=checkbox], [type=range], [type=search]), textarea, select')]
            .filter(i => i.checkVisibility()).every(i => i.value) && f.querySelector('input:not([type=radio], [type=checkbox]), textarea, select')
    const fields = form ? [...form.querySelectorAll('.field')] : []
    const inputs = field ? [...field.querySelectorAll('input, select, textarea')].filter(i => i.checkVisibility()) : []
    return {
        tag: e.localName, type: e.type ?? '', id: e.id, kind: e.className, inMain: Boolean(e.closest('main')), value: e.value ?? '',
        mode: e.inputMode ?? '', fills: e.autocomplete ?? '', inPanel: Boolean(e.closest('.development')),
        isGroupGiven: Boolean(field?.querySelector(`[name="${e.name}"]:checked`)), isOther: /-other-/.test(e.id), isSearch: Boolean(field?.querySelector('.found')),
        isDecline: /-decline$/.test(e.name ?? ''), range: field?.querySelector('[type=range]')?.min ?? null,
        isChecked: Boolean(e.checked), isFailed: Boolean(field?.classList.contains('failed')),
        checked: field ? field.querySelectorAll(':checked').length : 0, isFieldGiven: Boolean(field && isGiven(field)), isLastInput: inputs.at(-1) === e || /radio|checkbox/.test(e.type ?? ''),
        isCodeMissing: [...document.querySelectorAll('[autocomplete=one-time-code]')].some(i => !i.value),
        isLastField: fields.at(-1) === field, left: fields.slice(fields.indexOf(field) + 1).length, text: e.innerText ?? '',
    }
"""
PAGE = """return {route: location.hash.slice(1).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…'), title: document.title,
    h1: document.querySelector('main h1')?.innerText, summary: document.querySelector('.summary')?.innerText,
    shape: [...document.body.querySelectorAll('*')].map(e => `${e.localName}.${e.className}`).join(),
    isToldOf: document.activeElement?.className === 'summary'}"""
TOO_WIDE = """
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return []
    return [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > width + 1)
        .slice(0, 3).map(e => `${e.outerHTML.slice(0, 100)} reaches ${e.getBoundingClientRect().right} of ${width}`)
"""
TOO_SMALL = """
    const least = arguments[0] - 0.5
    const target = e => e.closest('label.tile') ?? e
    return [...document.querySelectorAll('a, button, input, select, textarea')].map(target).filter(e => e.checkVisibility()
            && !e.classList.contains('skip') && getComputedStyle(e).display !== 'inline')
        .filter(e => { const box = e.getBoundingClientRect(); return box.height < least || box.width < least })
        .map(e => `${e.outerHTML.slice(0, 120)} is ${e.getBoundingClientRect().width} by ${e.getBoundingClientRect().height}`)
"""
HTML = "return `<!doctype html>\n${document.documentElement.outerHTML}\n`"
HOSTS = "return performance.getEntriesByType('resource').map(e => new URL(e.name).host)"


def picture(folder, side=480):
    """A file with a picture that the development judge accepts, unless it is too small."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + random.randbytes(side) for _ in range(side))
    path = pathlib.Path(folder) / f"photo-{side}.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return str(path)


class Person:
    """Somebody at the keyboard of a browser."""

    # What axe has looked at: a page in one look, of one shape.
    seen = set()
    # The HTML of each of these pages.
    html = set()

    def __init__(self, browser, address, photo, app=None, language="en", width=320, scheme="light"):
        self.browser, self.address, self.photo, self.app, self.language = browser, address, photo, app, language
        self.width, self.scheme = width, scheme
        self.name = f"{app or 'default'}, {language}, {width}, {scheme}"
        self.pages = 0
        self.phone, self.account, self.year = number(), "", "1990"
        self.email = f"web-{random.randrange(10**9)}@example.com"
        # Whether the server refuses what the person does next: the browser then reports the status.
        self.expects_refusals = False

    def fail(self, text):
        fail(f"{self.name}: {text}; at {self.browser.run(PAGE) | {'shape': ''}}")

    def open(self, route=""):
        self.browser.screen(self.width)
        self.browser.scheme(self.scheme)
        self.browser.open(f"http://{self.address}/app/" + (f"?app={self.app}" if self.app else "") + (f"#{route}" if route else ""))
        self.arrived()

    def begin(self, route=""):
        """As somebody whom this browser does not know."""
        self.browser.devtools("Storage.clearDataForOrigin", origin=f"http://{self.address}", storageTypes="all")
        self.browser.devtools("Network.clearBrowserCookies")
        self.browser.open(f"http://{self.address}/app/")
        self.browser.run("localStorage.clear(); localStorage.setItem('vestibule.language', arguments[0])", self.language)
        self.browser.open("about:blank")
        self.open(route)

    def come_back(self, route=""):
        """In a new tab, after the one before was closed in the middle of a page."""
        tab = self.browser.new_tab()
        self.browser.ask("DELETE", "/window")
        self.browser.go_to(tab)
        self.open(route)

    # Keys

    def press(self, *keys, held=()):
        """Presses keys one after the other, while others are held."""
        actions = [{"type": "keyDown", "value": key} for key in held]
        actions += [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        actions += [{"type": "keyUp", "value": key} for key in held]
        self.browser.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.press("a", held=[CONTROL])
        self.press(*text)

    def active(self):
        return self.browser.run(ACTIVE)

    def tab_to(self, is_it, what):
        """Goes to an element of the page by the tabulator."""
        for _ in range(PRESSES):
            self.press(TAB)
            now = self.active()
            if is_it(now):
                return now
        self.fail(f"no key leads to {what}")

    def follow(self, start):
        """Follows the link, or presses the button, whose text begins so."""
        self.tab_to(lambda now: now["tag"] in ("a", "button") and now["text"].strip().startswith(start), start)
        self.press(ENTER)
        return self.arrived()

    # Pages

    def arrived(self, seconds=20):
        """Waits for what came of the last key, and looks at it."""
        kind = self.browser.run_async(CHANGED, seconds)
        if kind is None:
            self.fail("nothing came of it")
        self.look()
        self.browser.run(MARK)
        return kind

    def look(self):
        """What every page has to keep to."""
        page = self.browser.run(PAGE)
        self.pages += 1
        wrong = self.browser.run(TOO_WIDE) + self.browser.run(TOO_SMALL, TARGET)
        kind = (self.language, self.width, self.scheme, page["route"], page["shape"])
        if kind not in Person.seen:
            Person.seen.add(kind)
            Person.html.add(self.browser.run(HTML))
            wrong += self.browser.violations()
        if bool(page["summary"]) != bool(re.match("(Error|Fel): ", page["title"])):
            wrong.append(f"the title is {page['title']}")
        if page["summary"] and not page["isToldOf"]:
            wrong.append("the summary of errors has not the focus")
        wrong += [each for each in self.browser.complaints() if not (self.expects_refusals and "Failed to load resource" in each)]
        wrong += [f"asked {host}" for host in self.browser.run(HOSTS) if not host.startswith("127.0.0.1:")]
        if wrong:
            self.fail("; ".join(map(str, wrong[:5])))

    def route(self):
        return self.browser.run(PAGE)["route"]

    def send_nothing(self):
        """Sends the page as it is, without an answer."""
        self.tab_to(lambda now: now["type"] == "submit", "the button that sends")
        self.press(ENTER)
        return self.arrived()

    def send_with(self, text):
        """Sends the page with this text in its first field."""
        self.tab_to(lambda now: now["tag"] == "input", "a field")
        self.type(text)
        self.press(ENTER)
        return self.arrived()

    def go_on(self):
        """Answers the page by keyboard, whatever it asks, and sends it."""
        now = self.active()
        for _ in range(PRESSES):
            # Whoever follows a summary of errors is at the field already.
            if not now["isFailed"]:
                self.press(TAB)
                now = self.active()
            if now["inMain"] and self.answer(now):
                return self.arrived()
            now = {"isFailed": False}
        self.fail("no key leads on")

    def answer(self, now):
        """Does what belongs to the element with the focus. Whether that sends the page."""
        tag, kind = now["tag"], now["type"]
        if tag == "button":
            return self.press_button(now)
        if kind == "radio":
            if not now["isGroupGiven"]:
                self.press(SPACE)
        elif kind == "checkbox":
            if now["isDecline"] or now["isChecked"]:
                return False
            # Whoever chose too few chooses more.
            if not now["isFieldGiven"] or now["isFailed"] and now["checked"] < 3:
                self.press(SPACE)
                if now["isFailed"] and now["checked"] < 2:
                    return False
        elif kind == "file":
            self.browser.ask("POST", f"/element/{self.browser.element('#' + now['id'])}/value", {"text": self.photo})
            return False
        elif tag == "select":
            if not now["value"]:
                self.press(DOWN)
            return False
        elif tag in ("input", "textarea"):
            text = self.text(now)
            if text and (not now["value"] or now["isFailed"]):
                self.type(text)
                if now["isSearch"]:
                    self.choose_found()
            if tag == "textarea" or not text:
                return False
        else:
            return False
        if now["left"] or not now["isLastInput"] or now["fills"] == "one-time-code":
            return False
        self.press(ENTER)
        return True

    def choose_found(self):
        """Takes the first place that a search has found."""
        if not self.browser.run_async(FOUND, 20):
            self.fail("the search finds nothing")
        self.press(TAB, ENTER)

    def press_button(self, now):
        if now["inPanel"]:
            # The panel of a development system fills the code in, as soon as it is there.
            self.press(ENTER)
            if self.active()["fills"] != "one-time-code" or not self.active()["isLastField"]:
                return False
        elif "picture" not in now["kind"] and (now["type"] != "submit" or now["isCodeMissing"]):
            return False
        self.press(ENTER)
        return True

    def text(self, now):
        """Something that fits the field."""
        if now["fills"] == "one-time-code" or now["type"] in ("range", "search") or now["isOther"]:
            return ""
        year = "2018" if now["isFailed"] else self.year
        for end, text in (("-day", "15"), ("-month", "6"), ("-year", year), ("-cm", "170"), ("-feet", "5"), ("-inches", "7")):
            if now["id"].endswith(end):
                return text
        own = {"tel": self.phone, "email": self.email}.get(now["type"]) or (self.account if now["fills"] == "username" else None)
        if own:
            return own
        if now["isSearch"]:
            return "Malm"
        if now["range"] is not None:
            return now["range"]
        return "3" if now["mode"] in ("numeric", "decimal") else "Kim"

    def finish(self):
        """Goes on to the end of the onboarding."""
        self.walk()
        if self.browser.run(PAGE)["h1"] not in ("You’re all set", "Allt är klart"):
            self.fail("the onboarding is not complete")

    def walk(self, until="/done", each=lambda: None):
        """Goes on from page to page until this route."""
        last, times = None, 0
        while (route := self.route()) != until:
            times = times + 1 if route == last else 0
            if times > 30:
                self.fail("the person goes round in circles")
            last = route
            each()
            if self.route() != until:
                self.go_on()


def number():
    """A phone number that nobody has."""
    return f"+4670{random.randrange(10**7):07d}"
