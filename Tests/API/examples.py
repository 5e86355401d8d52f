"""Sends the example of every operation that is built, as somebody who copies it would, and fails if one is refused as malformed.

A person, an administrator, a claimant of a recovery or the operator sends them, as the operation wants. In place of a
made-up ID stands the caller's own where there is one: of the person, the device, the session, the recovery case or the open
questionnaire. So an answer of 400 or 422, or of 500 and above, is the example's fault, and so is 404 where nothing made-up is named. An
administrator's may name a draft or a version that is not there. The environment is that of hooks.py; the first argument is the folder of `openapi.json`, and the others are the operations that end a
session or an account.
"""

import json
import os
import pathlib
import sys
import uuid

os.environ |= {"API_TEST_CALLER": "nobody"}
import hooks

DOCUMENT = json.loads(pathlib.Path(sys.argv[1], "openapi.json").read_text())
ENDINGS = sys.argv[2:]
MADE_UP = "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e"
SECRET = "dt_6gB3yM8cR5wTqA2z"
TEXTS = DOCUMENT["paths"]["/users/me/consents"]["post"]["requestBody"]["content"]["application/json"]["example"]["documents"]


def operations():
    """Each operation with its method and path; those that end something come last."""
    found = [
        (operation["operationId"] in ENDINGS, path, method, operation)
        for path, item in DOCUMENT["paths"].items() for method, operation in item.items()]
    return [each[1:] for each in sorted(found, key=lambda each: each[:3])]


def parameters(operation):
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            parameter = DOCUMENT["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
        if "example" in parameter:
            yield parameter


class People:
    """Who calls. Whoever ends a session calls once."""

    def __init__(self):
        self.admin = hooks.admin()
        self.ask_for_texts()
        self.person, self.claim, self.sessions = hooks.sign_in(), hooks.claim(), {}

    def ask_for_texts(self):
        """Publishes the default plan with the texts of the example, which no shipped plan has."""
        def call(method, path, body=None):
            headers = {"Authorization": f"Bearer {self.admin['accessToken']}", "Idempotency-Key": str(uuid.uuid4())}
            answer = hooks.http.request(
                method, f"{hooks.URL}/admin/plans/yoked{path}", json=body, headers=headers, timeout=30)
            answer.raise_for_status()
            return answer.json()

        newest = call("GET", "")["versions"][0]["version"]
        plan = call("GET", f"/versions/{newest}")["plan"]
        terms = [each | {"url": "https://example.com/"} for each in TEXTS]
        plan["steps"].append({"key": "texts", "need": "optional", "terms": terms})
        draft = call("POST", "/drafts", {"plan": plan})["number"]
        call("POST", f"/drafts/{draft}/publish", {"acceptClass": "additive"})

    def caller(self, operation, path):
        """The token that an operation wants, and the caller's own IDs by the beginning of a path."""
        schemes = {name for choice in operation.get("security", []) for name in choice}
        is_last = operation["operationId"] in ENDINGS
        if "operatorKey" in schemes:
            return hooks.OPS_KEY, {}
        if "recoveryToken" in schemes:
            claim = hooks.claim() if is_last else self.claim
            return claim["recoveryToken"], {"/auth/recovery/": claim["recoveryId"]}
        person = hooks.sign_in() if is_last else self.admin if "/admin/" in path else self.person
        own = {
            "/auth/sessions/": person["sessionId"], "/users/me/devices/": person["deviceId"],
            "/users/": person["user"]["id"], "/auth/recovery/": self.claim["recoveryId"],
        }
        return person["accessToken"] if "accessToken" in schemes else None, own

    def session(self, key):
        """The person's open session of a questionnaire."""
        if key not in self.sessions:
            token = {"Authorization": f"Bearer {self.person['accessToken']}"}
            answer = hooks.http.post(f"{hooks.URL}/questionnaires/{key}/sessions", json={}, headers=token, timeout=30)
            self.sessions[key] = answer.json().get("id", MADE_UP)
        return self.sessions[key]


def send(people, path, method, operation):
    token, own = people.caller(operation, path)
    headers, query, place = ({"Authorization": f"Bearer {token}"} if token else {}), {}, path
    given = {(each["in"], each["name"]): each["example"] for each in parameters(operation)}
    for (where, name), value in given.items():
        if where == "path":
            value = own.get(path.partition("{")[0], value) if name == "id" else value
            if path.startswith("/questionnaires/{key}/sessions/{id}") and name == "id":
                value = people.session(given["path", "key"])
            place = place.replace(f"{{{name}}}", str(value))
        elif where == "query":
            query[name] = value
        elif name != "if-match":
            headers[name] = str(value).encode()
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    answer = hooks.http.request(method, hooks.URL + place, params=query, json=body, headers=headers, timeout=30)
    is_staff = "/admin/" in path
    named = is_staff or any(word in place + json.dumps([body, query]) for word in (MADE_UP, SECRET))
    is_wrong = answer.status_code in (400, 422) or is_staff and answer.status_code == 403 or answer.status_code >= 500 or answer.status_code == 404 and not named
    if is_wrong:
        return f"{method.upper()} {place} {query or ''} {json.dumps(body)}\n  answers {answer.status_code}: {answer.text[:600]}"


people = People()
all_of_them = operations()
wrong = [problem for problem in (send(people, *each) for each in all_of_them) if problem]
if wrong:
    raise SystemExit("\n".join(wrong))
print(f"{len(all_of_them)} examples are accepted")
