"""Vestibule's message bus for Python.

A `Schema` reads `docs/schema`: the layout of a frame, and the messages. A `Connection` speaks to one replica of a service,
encrypted, one request at a time, and checks every request and reply against its schema. It neither chooses among replicas nor
repeats a request: `BusFailure.executed` says whether the caller may.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import itertools
import json
import math
import pathlib
import struct
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

import jsonschema
import zmq
import zmq.utils.monitor
from zmq.utils import z85

Executed = Literal["no", "yes", "unknown"]

# The milliseconds of silence after which a caller sends a PING before it sends a request.
HEARTBEAT_MS = 300
HANDSHAKE_ENDED = (
    zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.HANDSHAKE_FAILED_NO_DETAIL | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
    | zmq.Event.HANDSHAKE_FAILED_AUTH)


class BusFailure(Exception):
    """What went wrong. `executed` says whether the service did the work."""

    executed: Executed = "no"


class InvalidFrame(BusFailure):
    """The bytes are no frame, or the body of a HELLO, a PONG or an error does not fit its schema."""

    executed = "unknown"


class UnknownMessage(BusFailure):
    """The schema has no such message."""


class InvalidRequest(BusFailure):
    """The request does not fit its schema, or is too large. It was not sent."""


class InvalidReply(BusFailure):
    """The reply does not fit its schema."""

    executed = "yes"


class NotConnected(BusFailure):
    """Nobody listens, the replica does not allow the caller's key, or it has none of the keys that the caller expects."""


class NotGreeted(BusFailure):
    """The replica does not take the caller's HELLO: the key has another name, or the two have no wire version in common."""


class ReplicaLost(BusFailure):
    """The replica does not answer. The request was not sent."""


class NotReady(BusFailure):
    """The replica takes no requests, since it starts or ends. The request was not sent."""


class DeadlineExceeded(BusFailure):
    """The replica did not answer within the budget. It may still do the work."""

    executed = "unknown"


class ErrorReply(BusFailure):
    """The service's refusal.

    `status` and `code` are for the program. `detail` is a sentence that a person may be shown. `errors` names each member that is
    wrong. `retry_after_ms` is how long to wait before the request is repeated. `body` is all of it.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.status: str = body["status"]
        self.code: str = body["code"]
        self.detail: str = body["detail"]
        self.executed = body["executed"]
        self.errors: Sequence[Mapping[str, Any]] = body.get("errors", [])
        self.retry_after_ms: int | None = body.get("retryAfterMs")
        super().__init__(f"{self.code}: {self.detail}")


@dataclasses.dataclass(frozen=True)
class Frame:
    """One frame. `kind` and the keys of `fields` and of `flags` are names of the schema's `x-zmtp`."""

    kind: str
    body: bytes = b""
    correlation_id: int = 0
    budget_ms: int = 0
    fields: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    attempt: int = 1


class Layout:
    """Writes and reads frames as `x-zmtp` describes them."""

    def __init__(self, zmtp: Mapping[str, Any]) -> None:
        sizes = {1: "B", 2: "H", 4: "I", 8: "Q"}
        self._names = [each["name"] for each in zmtp["fixed"]]
        # Of what has no size of a number the bytes follow one another: the magic.
        self._fixed = struct.Struct("<" + "".join(sizes.get(each["bytes"], f"{each['bytes']}s") for each in zmtp["fixed"]))
        self._field = struct.Struct("<BH")
        self._length = struct.Struct("<I")
        self._magic = bytes(zmtp["magic"])
        self._kinds: Mapping[str, int] = zmtp["kinds"]
        self._flags = {name: flag["bit"] for name, flag in zmtp["flags"].items()}
        self._fields = {name: field["id"] for name, field in zmtp["fields"].items()}
        self._bodies = {kind: jsonschema.Draft202012Validator(schema) for kind, schema in zmtp["bodies"].items()}
        #: The wire versions, oldest first.
        self.versions = sorted(int(version) for version in zmtp["parts"])

    def encode(self, frame: Frame, version: int) -> list[bytes]:
        """The parts of a ZeroMQ message with one frame."""
        values = {
            "magic": self._magic,
            # A frame that goes alone is the same in each version from 2 on.
            "wireVersion": min(version, 2),
            "kind": self._kinds[frame.kind],
            "flags": sum(self._flags[name] for name in frame.flags),
            "attempt": frame.attempt,
            "reserved": 0,
            "correlationID": frame.correlation_id,
            "bodyLength": len(frame.body),
            "budget": frame.budget_ms,
            "sentAt": time.monotonic_ns() // 1_000_000,
        }
        header = self._fixed.pack(*(values[name] for name in self._names)) + b"".join(
            self._field.pack(self._fields[name], len(content)) + content for name, content in frame.fields.items())
        return [header, frame.body] if version == 1 else [header + frame.body]

    def decode(self, parts: Sequence[bytes]) -> list[Frame]:
        """The frames of a ZeroMQ message. Throws `InvalidFrame`."""
        try:
            if len(parts) == 2:
                return [self._frame(*parts)]
            [message] = parts
            if not message.startswith(self._magic + b"\3"):
                return [self._split(message)]
            return [self._split(frame) for frame in self._bundle(message[len(self._magic) + 1:])]
        except (struct.error, ValueError) as error:
            raise InvalidFrame(str(error)) from error

    def body(self, frame: Frame) -> Any:
        """What a HELLO, a PONG or an error says. Throws `InvalidFrame`."""
        return read(frame.body, self._bodies[frame.kind], InvalidFrame)

    def _bundle(self, rest: bytes) -> Iterator[bytes]:
        while rest:
            (length,) = self._length.unpack_from(rest)
            begin = self._length.size
            yield rest[begin:begin + length]
            rest = rest[begin + length:]

    def _split(self, message: bytes) -> Frame:
        fixed = dict(zip(self._names, self._fixed.unpack_from(message)))
        begin = len(message) - fixed["bodyLength"]
        return self._frame(message[:begin], message[begin:])

    def _frame(self, header: bytes, body: bytes) -> Frame:
        fixed = dict(zip(self._names, self._fixed.unpack_from(header)))
        if fixed["magic"] != self._magic or fixed["bodyLength"] != len(body):
            raise ValueError("the magic or the length of the body is wrong")
        fields: dict[str, bytes] = {}
        place = self._fixed.size
        names = {number: name for name, number in self._fields.items()}
        while place < len(header):
            number, length = self._field.unpack_from(header, place)
            place += self._field.size + length
            if names.get(number) in fields:
                raise ValueError(f"field {number} occurs twice")
            if number in names:
                fields[names[number]] = header[place - length:place]
            elif number >= 128:
                raise ValueError(f"field {number} is not known and must be")
        if place != len(header):
            raise ValueError("a field is longer than the header")
        [kind] = [name for name, number in self._kinds.items() if number == fixed["kind"]]
        flags = frozenset(name for name, bit in self._flags.items() if fixed["flags"] & bit)
        return Frame(kind, body, fixed["correlationID"], fixed["budget"], fields, flags, fixed["attempt"])


class Message:
    """A message type in one version. `rules` is its `x-vestibule`: who answers, who may ask, the effect, the errors."""

    def __init__(self, type: str, version: int, document: Mapping[str, Any]) -> None:
        self.type, self.version = type, version
        self.rules: Mapping[str, Any] = document["x-vestibule"]
        self._request = self._validator(document, "request")
        self._reply = self._validator(document, "reply")

    @staticmethod
    def _validator(document: Mapping[str, Any], name: str) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator({**document, "$ref": f"#/$defs/{name}"})

    def field(self) -> bytes:
        """The header's field `message`."""
        return self.type.encode("ascii") + struct.pack("<H", self.version)

    def request(self, body: Any) -> bytes:
        """The bytes of a request. Throws `InvalidRequest`."""
        content = json.dumps(body, ensure_ascii=False).encode()
        if len(content) > self.rules["largestBodyBytes"]:
            raise InvalidRequest(f"{len(content)} bytes are too many")
        read(content, self._request, InvalidRequest)
        return content

    def reply(self, content: bytes) -> Any:
        """What the bytes of a reply say. Throws `InvalidReply`."""
        return read(content, self._reply, InvalidReply)


def read(content: bytes, schema: jsonschema.Draft202012Validator, failure: type[BusFailure]) -> Any:
    """What JSON says. Throws the failure where it does not fit the schema, without a value of it: that may be personal."""
    try:
        body = json.loads(content)
    except ValueError as error:
        raise failure("not JSON") from error
    if problem := jsonschema.exceptions.best_match(schema.iter_errors(body)):
        raise failure(f"{problem.json_path} does not fit the schema's {problem.validator}")
    return body


class Schema:
    """What the folder `docs/schema` says."""

    def __init__(self, folder: str | pathlib.Path) -> None:
        self._folder = pathlib.Path(folder)
        document = json.loads((self._folder / "asyncapi.json").read_text())
        self.layout = Layout(document["x-zmtp"])
        self._versions: dict[str, list[int]] = {}
        for name in document["channels"]:
            type, _, version = name.rpartition(".v")
            self._versions.setdefault(type, []).append(int(version))

    def message(self, type: str, version: int | None = None) -> Message:
        """A message type, in its newest version where none is named. Throws `UnknownMessage`."""
        versions = self._versions.get(type, [])
        version = version or max(versions, default=0)
        if version not in versions:
            raise UnknownMessage(f"{type}, version {version}")
        return Message(type, version, json.loads((self._folder / f"messages/{type}.v{version}.json").read_text()))


def read_secret_key(path: str | pathlib.Path) -> bytes:
    """The secret key of a program, from its file."""
    return base64.b64decode(pathlib.Path(path).read_text())


def read_allowed_keys(path: str | pathlib.Path, service: str) -> list[bytes]:
    """The public keys of a service, from the list of all that may connect."""
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines()]
    return [base64.b64decode(words[1]) for words in lines if words[:1] == [service]]


@dataclasses.dataclass(frozen=True)
class Actor:
    """The person behind a request. Only a gateway may name one."""

    person: uuid.UUID
    session: uuid.UUID
    role: str = "user"

    def field(self) -> bytes:
        """The header's field `actor`."""
        return self.person.bytes + self.session.bytes + self.role.encode("ascii")


@dataclasses.dataclass(frozen=True)
class Reply:
    """A reply: its body, and the revision of the resource that it shows, where it has one."""

    body: Any
    revision: int | None
    entity_tag: str | None


class Connection:
    """One caller's connection to one replica. Not for several threads at once.

    `caller` is the name that the list of allowed keys has for the caller's key. `replica_keys` are the keys that the list has for
    the service. Throws `NotConnected`, `NotGreeted` and `ReplicaLost`.
    """

    #: The DEALER socket, for whoever polls several.
    socket: zmq.Socket[bytes]
    #: What the replica said of itself in HELLO.
    hello: Mapping[str, Any]
    #: What the replica said last of its state, its queue and the requests in flight.
    pong: Mapping[str, Any]

    def __init__(
        self, schema: Schema, endpoint: str, caller: str, secret_key: bytes, replica_keys: Sequence[bytes], *,
        greeting_ms: int = 5_000,
    ) -> None:
        self._schema, self._layout, self._caller = schema, schema.layout, caller
        self._instance = str(uuid.uuid4())
        self._version = self._layout.versions[0]
        self._correlation_ids = itertools.count(1)
        self._unread: collections.deque[Frame] = collections.deque()
        self._heard = time.monotonic()
        deadline = self._heard + greeting_ms / 1000
        self.socket = self._connected(endpoint, secret_key, replica_keys, deadline)
        try:
            self._begin(deadline)
        except BaseException:
            self.close()
            raise

    def _begin(self, deadline: float) -> None:
        self._greet()
        # A replica that did not take the HELLO answers this with one that wants HELLO.
        self.send(Frame("ping"))
        while frame := self.receive(deadline, greets=False):
            if "wantsHello" in frame.flags:
                raise NotGreeted(f"the replica does not know {self._caller} with this key in its wire versions")
            if frame.kind == "pong":
                return
        raise ReplicaLost("the replica does not answer HELLO")

    @staticmethod
    def _connected(
        endpoint: str, secret_key: bytes, replica_keys: Sequence[bytes], deadline: float
    ) -> zmq.Socket[bytes]:
        # pyzmq has no types for Z85. The other keys may be raw.
        public_key = zmq.curve_public(z85.encode(secret_key))  # type: ignore[no-untyped-call]
        for key in replica_keys:
            socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
            socket.linger = 0
            socket.curve_secretkey, socket.curve_publickey, socket.curve_serverkey = secret_key, public_key, key
            events = socket.get_monitor_socket(addr=f"inproc://{uuid.uuid4()}")
            socket.connect(endpoint)
            event = zmq.Event(0)
            while not event & HANDSHAKE_ENDED and events.poll(milliseconds_until(deadline)):
                event = zmq.Event(zmq.utils.monitor.recv_monitor_message(events)["event"])
            socket.disable_monitor()
            if event == zmq.Event.HANDSHAKE_SUCCEEDED:
                return socket
            socket.close()
        raise NotConnected("nobody listens, or the keys of the two sides do not fit")

    def close(self) -> None:
        """Ends the connection."""
        self.socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def ping(self, *, within_ms: int = 800) -> Mapping[str, Any]:
        """Asks for the replica's state, its queue and its requests in flight. Throws `ReplicaLost`."""
        self._read_all()
        self.send(Frame("ping"))
        deadline = time.monotonic() + within_ms / 1000
        while frame := self.receive(deadline):
            if frame.kind == "pong":
                return self.pong
        raise ReplicaLost("the replica does not answer PING")

    def request(
        self, type: str, body: Any = None, *, budget_ms: int = 5_000, version: int | None = None, actor: Actor | None = None,
        idempotency_key: str | None = None, as_operator: bool = False,
    ) -> Reply:
        """Sends a request and waits for its reply, at most for the budget. `body` is an object, empty without it.

        `as_operator` must be set for a request of an operator's key that changes something. Throws a `BusFailure`: `ErrorReply`
        where the service refuses.
        """
        message = self._schema.message(type, version)
        fields = {"message": message.field(), "messageID": uuid.uuid4().bytes}
        if idempotency_key is not None:
            fields["idempotencyKey"] = idempotency_key.encode("ascii")
        if actor is not None:
            fields["actor"] = actor.field()
        flags = frozenset({"asOperator"} if as_operator else {})
        content = message.request({} if body is None else body)
        deadline = time.monotonic() + budget_ms / 1000
        self._read_all()
        if time.monotonic() > self._heard + HEARTBEAT_MS / 1000:
            self.ping(within_ms=budget_ms)
        if self.pong["state"] != "ready":
            raise NotReady(f"the replica is {self.pong['state']}")
        answer = self.exchange(
            Frame("request", content, next(self._correlation_ids), milliseconds_until(deadline), fields, flags))
        revision = answer.fields.get("entityRevision")
        tag = answer.fields.get("entityTag")
        return Reply(
            message.reply(answer.body), None if revision is None else int.from_bytes(revision, "little"),
            None if tag is None else tag.decode())

    def exchange(self, request: Frame) -> Frame:
        """Sends any request and waits for its reply, at most for the budget. Throws `ErrorReply` and `DeadlineExceeded`."""
        self.send(request)
        deadline = time.monotonic() + request.budget_ms / 1000
        while frame := self.receive(deadline):
            if frame.correlation_id == request.correlation_id and frame.kind == "reply":
                return frame
            if frame.correlation_id == request.correlation_id and frame.kind == "error":
                raise ErrorReply(self._layout.body(frame))
        raise DeadlineExceeded(f"no answer within {request.budget_ms} ms")

    def send(self, frame: Frame) -> None:
        """Sends any frame."""
        self.socket.send_multipart(self._layout.encode(frame, self._version))

    def receive(self, deadline: float, *, greets: bool = True) -> Frame | None:
        """The next frame, or none until the deadline on `time.monotonic()`. Throws `InvalidFrame`.

        `greets`: says HELLO again where the replica wants it, as after a pause of its process.
        """
        if not self._unread:
            if not self.socket.poll(milliseconds_until(deadline)):
                return None
            self._unread.extend(self._layout.decode(self.socket.recv_multipart()))
        self._heard = time.monotonic()
        frame = self._unread.popleft()
        if frame.kind == "hello":
            self.hello = self._layout.body(frame)
            self._version = min(self._layout.versions[-1], self.hello["wire"][1])
            if greets and "wantsHello" in frame.flags:
                self._greet()
        elif frame.kind == "pong":
            self.pong = self._layout.body(frame)
        elif frame.kind == "goAway":
            self.pong = {**self.pong, "state": "draining"}
        return frame

    def _read_all(self) -> None:
        while self.receive(time.monotonic()):
            pass

    def _greet(self) -> None:
        hello = {
            "service": self._caller, "instance": self._instance, "build": "python",
            "wire": [self._layout.versions[0], self._layout.versions[-1]], "catalogue": "", "credit": 1,
            "heartbeatMs": HEARTBEAT_MS,
        }
        self.socket.send_multipart(self._layout.encode(Frame("hello", json.dumps(hello).encode()), self._layout.versions[0]))


def milliseconds_until(deadline: float) -> int:
    """How long a poll may wait until a moment on `time.monotonic()`."""
    return max(0, math.ceil((deadline - time.monotonic()) * 1000))
