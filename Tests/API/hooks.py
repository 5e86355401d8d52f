"""Who calls in the test of the public API: people who signed in by a code, claimants of a recovery, the operator.

API_TEST_URL, API_TEST_SPOOL, API_TEST_OPS_KEY and API_TEST_VESTIBULE say where the system and its command are.
API_TEST_CALLER is `nobody`, `person` (one person for the run) or `persons` (a fresh one for each call, for the calls that
end a session or an account).
API_TEST_WORDS=1 puts the names and values of real fields and questions into bodies that fit the document without them: a
free name is hardly ever the name of a field by chance. It is for runs of valid data only.
"""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import requests
import schemathesis
from schemathesis import GenerationMode

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from strict import strict

URL = os.environ["API_TEST_URL"]
SPOOL = pathlib.Path(os.environ["API_TEST_SPOOL"]) / "sms.jsonl"
OPS_KEY = os.environ["API_TEST_OPS_KEY"]
CALLER = os.environ["API_TEST_CALLER"]
VESTIBULE = os.environ["API_TEST_VESTIBULE"]

http = requests.Session()
numbers = random.Random()
# From where no earlier run of the last day has been, and none twice: a phone gets one code a minute.
phones = itertools.count(int(time.time() * 64))


def post(path, body):
    answer = http.post(URL + path, json=body, timeout=30)
    if answer.status_code >= 300:
        raise RuntimeError(f"POST {path} answered {answer.status_code}: {answer.text}")
    return answer.json()


class Inbox:
    """The SMS that were sent, by number; the spool is read on from where it was."""

    def __init__(self):
        self.place = SPOOL.stat().st_size if SPOOL.exists() else 0
        self.bodies = {}

    def code(self, phone):
        end = time.monotonic() + 45
        while phone not in self.bodies:
            if time.monotonic() > end:
                raise RuntimeError("the SMS did not come within 45 s")
            self.read() or time.sleep(0.005)
        return self.bodies.pop(phone)[:6]

    def read(self):
        if not SPOOL.exists():
            return False
        with SPOOL.open("rb") as file:
            file.seek(self.place)
            lines = [line for line in file if line.endswith(b"\n")]
        self.place += sum(map(len, lines))
        for line in map(json.loads, lines):
            self.bodies[line["to"]] = line["body"]
        return bool(lines)


inbox = Inbox()


def proof(purpose, phone=None):
    """A challenge of a phone, which nobody had unless it is given, and its code."""
    phone = phone or f"+4670{next(phones) % 10**7:07}"
    challenge = post("/auth/otp/send", {"phone": phone, "purpose": purpose})["challengeId"]
    return phone, {"challengeId": challenge, "code": inbox.code(phone), "device": {"name": "Test", "platform": "web"}}


def sign_in():
    return post("/auth/otp/verify", proof("login")[1])


def admin():
    """A person whom two operators made an administrator."""
    phone, body = proof("login")
    person = post("/auth/otp/verify", body)["user"]["id"]
    for operator in ("first", "second"):
        subprocess.run(
            [VESTIBULE, "role", "grant", person, "admin", "--operator", operator, "--state", SPOOL.parents[1]],
            check=True, stdout=subprocess.DEVNULL)
    time.sleep(1)  # AUTH_OTP_RESEND_AFTER
    return post("/auth/otp/verify", proof("login", phone)[1])


def claim():
    """A recovery case of a phone that no account has, which the API does not tell from any other."""
    phone, body = proof("recovery")
    return post("/auth/recovery/request", body | {"accountPhone": phone})


def schemes(operation):
    return {name for choice in operation.definition.raw.get("security", []) for name in choice}


class Caller:
    """The token that an operation wants, of somebody who has one."""

    def get(self, case, context):
        wanted = schemes(context.operation)
        if "operatorKey" in wanted:
            return {"token": OPS_KEY}
        if "recoveryToken" in wanted:
            made = claim()
            return {"token": made["recoveryToken"], "/auth/recovery/": made["recoveryId"]}
        if "accessToken" not in wanted:
            return None
        made = sign_in()
        return {
            "token": made["accessToken"], "/auth/sessions/": made["sessionId"], "/users/me/devices/": made["deviceId"],
            "/users/": made["user"]["id"],
        }

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data['token']}"
        # Half of the calls that fit are about what is the caller's own; ids of nothing are tried by the other half.
        own = data.get(context.operation.path.partition("{")[0])
        fits = case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE
        if own and fits and "id" in (case.path_parameters or {}) and numbers.random() < 0.5:
            case.path_parameters["id"] = own


def kind(case, context):
    return ",".join(sorted(schemes(context.operation)))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    raw_schema.update(strict(raw_schema))


@schemathesis.check
def problem_codes(ctx, response, case):
    """A problem has the status of its answer, and a code that the document lists for this status."""
    if not response.headers.get("content-type", [""])[0].startswith("application/problem+json"):
        return
    raw = case.operation.definition.raw["responses"].get(str(response.status_code))
    if raw is None:
        return
    if "$ref" in raw:
        raw = case.operation.schema.raw_schema["components"]["responses"][raw["$ref"].rpartition("/")[2]]
    problem = response.json()
    assert problem["status"] == response.status_code, f"status is {problem['status']}"
    assert problem["code"] in raw["x-problem-codes"], f"{problem['code']} is not listed for {response.status_code}"


# A token lives for 15 minutes.
if CALLER == "person":
    schemathesis.auth(refresh_interval=600, cache_by_key=kind)(Caller)
elif CALLER == "persons":
    schemathesis.auth(refresh_interval=None)(Caller)


def words():
    """Names of the fields and questions, and for each name values that its own rules take or nearly take."""
    known = {}
    for field in http.get(URL + "/profile/fields", timeout=10).json()["fields"]:
        known[field["key"]] = values(field)
    token = {"Authorization": f"Bearer {sign_in()['accessToken']}"}
    questions = http.get(URL + "/compatibility/questions", headers=token, timeout=10).json()["questions"]
    return known | {"height": [{"feet": 6, "inches": 1}, {"feet": 4, "inches": 11}, {"feet": 7}, {}]}, {
        question["key"]: values(question) for question in questions
    }


def values(item):
    options = [option["key"] for option in item.get("options", [])]
    rules = item | item.get("constraints", {})
    bounds = [rules[name] + step for name in ("min", "max") if name in rules for step in (-1, 0, 1)]
    lengths = [max(0, rules[name] + step) for name in ("minLength", "maxLength") if name in rules for step in (-1, 0, 1)]
    many = [options, options[:1], options[:1] * 2, options[-1:] + options[:1], options[::-1]]
    return (
        [None, "prefer_not_to_say", "", True, 0, [], {}, "1990-02-28", "2190-02-30", "https://example.org/a.jpg"]
        + options + bounds + ["å" * length for length in lengths] + (many if options else [])
        + [{"latitude": 59.3, "longitude": 18.1}, {"latitude": 90.1, "longitude": 0}, {"value": 3, "importance": 1}]
    )


def about_fields(body):
    return {numbers.choice(list(FIELDS)): value for value in body.values()} | {
        key: numbers.choice(FIELDS[key]) for key in numbers.sample(list(FIELDS), numbers.randrange(4))
    }


def about_questions(body):
    for answer in body.get("answers", []):
        answer["question"] = key = numbers.choice(list(QUESTIONS))
        if "value" in answer and numbers.random() < 0.7:
            answer["value"] = numbers.choice(QUESTIONS[key])
    return body


if os.environ.get("API_TEST_WORDS"):
    FIELDS, QUESTIONS = words()

    @schemathesis.hook
    def map_body(context, body):
        if not isinstance(body, dict) or numbers.random() < 0.2:
            return body
        label = context.operation.label
        if label == "PATCH /users/me":
            return about_fields(body)
        if label == "POST /compatibility/responses":
            return about_questions(json.loads(json.dumps(body)))
        if label == "POST /users/me/skips":
            return {"field": numbers.choice(list(FIELDS))}
        return body
