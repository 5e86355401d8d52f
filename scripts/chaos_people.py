"""The people of a run of `scripts/chaos`, who write at once, and note what became of each call."""

import hashlib
import http.client
import itertools
import json
import pathlib
import threading
import time
import uuid

# Somewhat longer than the gateway lets a call take.
PATIENCE = 6
# What a client does with one of these is to repeat the call: it may have been done.
MAY_BE_DONE = {"request_in_progress", "idempotency_answer_gone"}
ANSWERS = "/questionnaires/{}/sessions"


class History:
    """The lines of a run, in a file."""

    def __init__(self, path):
        self.file, self.lock, self.began = open(path, "w"), threading.Lock(), time.monotonic()

    def now(self):
        """Milliseconds since the run began."""
        return self.at(time.monotonic())

    def at(self, moment):
        return round((moment - self.began) * 1000, 3)

    def note(self, **line):
        with self.lock:
            self.file.write(json.dumps(line) + "\n")

    def close(self):
        self.file.close()


class Spool:
    """The codes of a development system, by number. It reads what was added only."""

    def __init__(self, state):
        self.path, self.lock, self.read, self.codes = pathlib.Path(state, "spool/sms.jsonl"), threading.Lock(), 0, {}

    def of(self, phone):
        with self.lock:
            if self.path.exists():
                with open(self.path, "rb") as file:
                    file.seek(self.read)
                    for line in file:
                        # A disk that was full cuts a line off.
                        if not line.endswith(b"\n"):
                            break
                        self.read += len(line)
                        self.add(line)
            return list(self.codes.get(phone, []))

    def add(self, line):
        try:
            sms = json.loads(line)
        except ValueError:
            return
        self.codes.setdefault(sms["to"], []).append(sms["body"][:6])


class Answer:
    """What became of one call."""

    def __init__(self, result, status=0, body=None, headers=None):
        self.result, self.status, self.body, self.headers = result, status, body if isinstance(body, dict) else {}, headers or {}
        self.code = self.body.get("code")


class Caller:
    """One connection to the gateway, of one thread."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def send(self, method, path, body=None, token=None, **headers):
        """Sends a call once. Nobody repeats it on the way."""
        headers |= {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            if not self.connection:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
                self.connection.connect()
        except OSError:
            return self.failed("refused")
        try:
            self.connection.request(method, path, body if body is None else json.dumps(body), headers)
            response = self.connection.getresponse()
            content = json.loads(response.read() or "{}")
        except (OSError, http.client.HTTPException, ValueError):
            return self.failed("unknown")
        if response.will_close:
            self.end()
        return Answer(self.result(response.status, content), response.status, content, response.headers)

    def result(self, status, content):
        if status < 300:
            return "acknowledged"
        may_be_done = status >= 500 or content.get("code") in MAY_BE_DONE
        return "unknown" if may_be_done else "refused"

    def failed(self, result):
        self.end()
        return Answer(result)

    def end(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Person:
    """Somebody with a phone, whose calls are noted."""

    def __init__(self, number, run):
        # The strangers of `vestibule load` have numbers that begin with +4670.
        self.name, self.phone, self.run = f"person-{number}", f"+4676{number:07d}", run
        self.caller = Caller(run.port)
        self.session, self.signed_in, self.renewed, self.lock = None, 0, 0, threading.Lock()

    def call(self, caller, what, method, path, body=None, headers=None, token=None, read=None, **said):
        """One call and its line. `read` takes from an acknowledged answer what the line says of it."""
        sent = self.run.history.now()
        answer = caller.send(method, path, body, token, **(headers or {}))
        line = {"call": what, "sent": sent, "answered": self.run.history.now(), "result": answer.result, "status": answer.status}
        line |= {key: value for key, value in said.items() if value is not None}
        if answer.code:
            line["code"] = answer.code
        if read and answer.result == "acknowledged":
            line |= read(answer.body)
        if current := answer.body.get("current"):
            line["found"] = {"revision": current["revision"], "value": current.get("value")}
        if answer.code in ("answer_conflict", "precondition_failed"):
            line["isConflict"] = True
        self.run.history.note(**line)
        return answer

    def sign_in(self):
        """Signs in, and tries again until it worked or the run is over."""
        while not self.run.is_over() and not self.session:
            known = len(self.run.spool.of(self.phone))
            sent = self.caller.send("POST", "/auth/otp/send", {"phone": self.phone}, **{"Idempotency-Key": self.run.key()})
            if sent.result != "acknowledged":
                self.run.pause(1)
                continue
            end = time.monotonic() + 20
            while len(codes := self.run.spool.of(self.phone)) == known and time.monotonic() < end and not self.run.is_over():
                self.run.pause(0.05)
            if len(codes) > known:
                self.verify(sent.body["challengeId"], codes[-1])

    def verify(self, challenge, code):
        key = self.run.key()
        body = {"challengeId": challenge, "code": code, "device": {"name": "chaos", "platform": "ios"}}
        for _ in range(5):
            answer = self.call(
                self.caller, "sign-in", "POST", "/auth/otp/verify", body, {"Idempotency-Key": key}, person=self.name, key=key,
                read=lambda body: {"made": body["sessionId"], "account": body["user"]["id"]})
            if answer.result == "acknowledged":
                self.session, self.renewed = answer.body, time.monotonic()
                self.session["account"] = answer.body["user"]["id"]
                return
            if answer.result == "refused":
                return
            self.run.pause(0.3)

    def renew(self):
        """Renews the tokens, as the guide says: with the device's secret, one call at a time."""
        with self.lock:
            # The gateway has closed a connection that was idle since the last time.
            self.caller.end()
            body = {"refreshToken": self.session["refreshToken"], "deviceSecret": self.session["deviceSecret"]}
            # The history names the token without telling it.
            key = hashlib.sha256(body["refreshToken"].encode()).hexdigest()[:16]
            answer = self.call(
                self.caller, "renew", "POST", "/auth/token/refresh", body, session=f"session of {self.name}", key=key)
            if answer.result == "acknowledged":
                self.session |= {each: answer.body[each] for each in ("accessToken", "refreshToken")}
                self.renewed = time.monotonic()
            return answer

    def token(self):
        # A token is valid for 15 minutes.
        if time.monotonic() - self.renewed > 300:
            self.renew()
        return self.session["accessToken"]


def begin(run, name):
    """Notes that there is nothing yet."""
    now = run.history.now()
    run.history.note(call="begin", object=name, sent=now, answered=now, result="acknowledged", revision=0, value=None)


class Profile:
    """The profile of a person, whose `bio` several devices change. Nothing else changes it, so each revision is a change."""

    def __init__(self, person):
        self.person, self.run, self.name = person, person.run, f"profile of {person.name}"

    def read(self, caller):
        return self.person.call(
            caller, "read", "GET", "/users/me", token=self.person.token(), object=self.name,
            read=lambda body: {"revision": body["revision"], "value": body["profile"].get("bio")})

    def write(self, caller, writer):
        """Devices read, write without looking, and change what they have read; each with a text of its own."""
        seen = self.read(caller)
        text, is_careful = self.run.key(), writer.chance.random() < 0.6
        if is_careful and seen.result != "acknowledged":
            return
        expected = seen.body["revision"] if is_careful else None

        def said(body):
            # The answer to a call that the gateway had to repeat may be of what another device has written since.
            there = {"revision": body["revision"], "value": body["profile"].get("bio")}
            return {"revision": there["revision"]} if there["value"] == text else {"found": there}
        self.person.call(
            caller, "change", "PATCH", "/users/me", {"bio": text}, {"If-Match": f'"r{expected}"'} if is_careful else {},
            token=self.person.token(), object=self.name, key=text, value=text, expected=expected, read=said)


class Answers:
    """One answer of a session, saved by several devices with the ids of their writes."""

    def __init__(self, person, questionnaire, question):
        self.person, self.run, self.question, self.base = person, person.run, question, ANSWERS.format(questionnaire)
        self.name, self.session, self.key = f"{question} of {person.name}", None, person.run.key()
        begin(self.run, self.name)

    def open(self, caller):
        """Opens the session, with the same key until it is answered."""
        answer = self.person.call(
            caller, "open", "POST", self.base, {}, {"Idempotency-Key": self.key}, token=self.person.token())
        if answer.result == "acknowledged":
            self.session = answer.body["id"]

    def read(self, caller):
        def said(body):
            found = [each for each in body["answers"] if each["question"] == self.question]
            return {"revision": found[0]["revision"], "value": found[0]["value"]} if found else {"revision": 0, "value": None}
        return self.person.call(
            caller, "read", "GET", f"{self.base}/{self.session}", token=self.person.token(), object=self.name, read=said)

    def write(self, caller, writer):
        if not self.session:
            return self.open(caller)
        seen, expected = self.read(caller), None
        if seen.result == "acknowledged" and writer.chance.random() < 0.6:
            expected = next((each["revision"] for each in seen.body["answers"] if each["question"] == self.question), 0)
        key = self.run.key()
        body = {"mutationId": key, "state": "answered", "value": f"v{key}"} | ({} if expected is None else {"baseRevision": expected})
        # A write is repeated until it is answered; so is one now and then that was answered.
        for _ in range(20):
            answer = self.person.call(
                caller, "change", "PUT", f"{self.base}/{self.session}/answers/{self.question}", body, token=self.person.token(),
                object=self.name, key=key, value=f"v{key}", expected=expected, read=lambda body: {"revision": body["revision"]})
            if answer.result != "unknown" and writer.chance.random() < 0.8 or self.run.is_over():
                return
            self.run.pause(writer.chance.uniform(0.05, 0.3))


class Submissions:
    """One answer of the default questionnaire, saved by POST, each with an Idempotency-Key that is used again."""

    QUESTION = "directness"

    def __init__(self, person):
        self.person, self.run, self.name = person, person.run, f"{self.QUESTION} of {person.name}"
        # All steps of the slider in turn, so that a value says which change it was.
        self.values = itertools.cycle(str(step * 8 % 21 * 5) for step in range(21))
        begin(self.run, self.name)

    def write(self, caller, writer):
        key, value = self.run.key(), next(self.values)
        body = {"answers": [{"question": self.QUESTION, "value": int(value)}]}
        for _ in range(20):
            answer = self.person.call(
                caller, "change", "POST", "/compatibility/responses", body, {"Idempotency-Key": key}, token=self.person.token(),
                object=self.name, key=key, value=value, read=lambda body: {"revision": body["answers"][0]["revision"]})
            if answer.result != "unknown" and writer.chance.random() < 0.7 or self.run.is_over():
                return
            self.run.pause(writer.chance.uniform(0.05, 0.3))
