"""What the generators of clients read in the OpenAPI document of the gateway: the operations of an app, and the schemas that they
lead to. Left out are the operations of staff and of operators, those of a web page's session, those that are not built yet, and deprecated members.
"""

import collections
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / ".build/debug"))
TAGS_LEFT_OUT = {"Staff", "Operations", "Web sessions"}
# What an app finds in a push, which no operation answers.
FURTHER = ["PushData"]
# `SchemaComponents` gives these no better names: the part of the path before them does.
VAGUE = {"id", "key", "n", "uuid"}
# Each call sends these; they are set once for a client, not for an operation.
HEADERS_OF_CLIENT = {"accept-language", "idempotency-key"}


def name(text):
    """A name in lower camel case, of a value as it goes over the wire."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", text.replace("[]", "_list")) if part]
    first = parts[0].lower() if parts[0].isupper() else parts[0][0].lower() + parts[0][1:]
    return first + "".join(part[0].upper() + part[1:] for part in parts[1:])


def target(reference):
    return reference.split("/")[-1]


class Document:
    def __init__(self):
        printed = subprocess.run([PROGRAMS / "Gateway", "--openapi"], capture_output=True, check=True).stdout
        self.document = json.loads(printed)
        self.schemas = self.document["components"]["schemas"]
        self.tags = [tag["name"] for tag in self.document["tags"]]
        self.operations = [
            (method, path, operation)
            for path, item in sorted(self.document["paths"].items()) for method, operation in sorted(item.items())
            if not TAGS_LEFT_OUT & set(operation["tags"]) and self.success(operation) is not None
        ]
        used = self.behind([[operation.get("requestBody"), operation["responses"], operation.get("parameters")]
                            for _, _, operation in self.operations], *FURTHER, "Problem")
        self.used = sorted(used)
        self.sent = self.behind([operation.get("requestBody") for _, _, operation in self.operations])
        known = collections.Counter(code for *_, operation in self.operations for code in operation["x-problem-codes"])
        # Those of most operations, which none names by itself.
        self.common_codes = sorted(code for code, count in known.items() if count * 2 > len(self.operations))

    def behind(self, value, *names):
        """Names of all schemas that a value leads to."""
        found, todo = set(), set(names) | self.references(value)
        while todo:
            one = todo.pop()
            found.add(one)
            todo |= self.references(self.schemas[one]) - found
        return found

    def references(self, value):
        if isinstance(value, list):
            return set().union(*map(self.references, value))
        if not isinstance(value, dict) or value.get("deprecated") is True:
            return set()
        own = {target(value["$ref"])} if value.get("$ref", "").startswith("#/components/schemas/") else set()
        return own.union(*(self.references(each) for key, each in value.items() if key != "example"))

    @staticmethod
    def success(operation):
        """The response that an operation gives where it did what was asked."""
        return next((each for status, each in sorted(operation["responses"].items()) if status.startswith("2")), None)

    @staticmethod
    def choice(schema):
        """The only type of a value with `anyOf`, and whether it can be `null`."""
        others = [each for each in schema["anyOf"] if each != {"type": "null"}]
        is_nullable = len(others) < len(schema["anyOf"])
        # One of the values of this release, or a later one.
        if {"type": "string"} in others and len(others) == 2:
            others.remove({"type": "string"})
        if len(others) != 1:
            raise SystemExit(f"a choice needs a name: {schema}")
        return others[0], is_nullable

    @staticmethod
    def members(schema):
        """Each member with its schema and whether it is required, those that are required first."""
        required = schema.get("required", [])
        members = [(member, schema["properties"][member]) for member in required]
        members += [each for each in sorted(schema["properties"].items()) if each[0] not in required]
        # Whoever begins with the client now needs only the members that took their place.
        return [(member, each, member in required) for member, each in members if not each.get("deprecated")]

    def parameters(self, operation, path):
        """Each parameter of an operation, with the name that a client gives it."""
        for parameter in operation.get("parameters", []):
            if "$ref" in parameter:
                parameter = self.document["components"]["parameters"][target(parameter["$ref"])]
            if parameter["name"].lower() not in HEADERS_OF_CLIENT:
                yield self.label(parameter, path), parameter

    @staticmethod
    def label(parameter, path):
        text = parameter["name"]
        if text in VAGUE and parameter["in"] == "path":
            parts = path.split("/")
            text = parts[parts.index(f"{{{text}}}") - 1].removesuffix("s")
        return name(text)

    @staticmethod
    def access(operation):
        """What an operation asks of its caller: `open`, `session`, `sessionIfAny` or `recoveryToken`."""
        schemes = [next(iter(each), None) for each in operation["security"]]
        if "recoveryToken" in schemes:
            return "recoveryToken"
        return "sessionIfAny" if None in schemes else "session" if schemes else "open"

    @classmethod
    def reply(cls, operation):
        """The schema of what an operation answers; `None` where it answers nothing."""
        success = cls.success(operation)
        return success["content"]["application/json"]["schema"] if "content" in success else None

    @classmethod
    def is_versioned(cls, operation):
        return "ETag" in cls.success(operation)["headers"]

    @staticmethod
    def body(operation):
        """The name of the body's schema, and whether it is required; `None` where there is no body."""
        body = operation.get("requestBody")
        return body and (target(body["content"]["application/json"]["schema"]["$ref"]), body["required"])

    def codes(self, operation):
        return [code for code in operation["x-problem-codes"] if code not in self.common_codes]


def write(folder, files, script, arguments, others=()):
    """Writes the files, and removes what else is in the folder but `others`. With --check the files are compared."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(f"usage: {script} [--check]")
    present = {each.name: each.read_text() for each in folder.glob("*") if each.name not in others}
    if files == present:
        return
    if arguments:
        raise SystemExit(f"{folder.relative_to(ROOT)} does not fit the messages: run scripts/{script}")
    folder.mkdir(parents=True, exist_ok=True)
    for file in set(present) - set(files):
        (folder / file).unlink()
    for file, text in files.items():
        (folder / file).write_text(text)
