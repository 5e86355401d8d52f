"""What requests of people at random cost in a system of bench-growth, one request at a time and with 64 connections."""

import os
import pathlib
import random
import re
import subprocess
import time
import uuid

from growth_system import refresh_token, session_id

# People who are met one after the other, others who are met from an empty cache, and others who renew tokens with 64 connections.
ALONE, COLD, RENEWING = 2000, 200, 9000
CONNECTIONS, SECONDS = 64, 4
FIRST, AGAIN = "GET /auth/sessions, a new token", "GET /auth/sessions"
# Whose tables a request touches. Meanwhile the other services tidy up.
SCHEMAS = {"refresh": ("auth", "profile"), "GET /users/me": ("profile",), "PATCH /users/me": ("profile",), "autosave": ("questionnaire",)}
LUA = """\
local people, turn, threads = {}, 0, 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end
-- Each thread has people of its own, so that each of its writes is a change.
function init(arguments)
    local line = 0
    for word, session in io.open(arguments[1]):read("*a"):gmatch("(%S+) (%S+)\\n") do
        if line % 2 == number then people[#people + 1] = { word = word, session = session } end
        line = line + 1
    end
    what, began = arguments[2], os.time()
end
function request()
    turn = turn + 1
    local person = people[turn % #people + 1]
    local headers = { ["Content-Type"] = "application/json", Authorization = "Bearer " .. person.word }
    if what == "GET /users/me" then return wrk.format("GET", "/users/me", headers) end
    if what == "PATCH /users/me" then
        return wrk.format("PATCH", "/users/me", headers, '{"bio":"No. ' .. turn .. ' says hello."}')
    end
    if what == "refresh" then
        headers.Authorization = nil
        return wrk.format("POST", "/auth/token/refresh", headers, '{"refreshToken":"' .. person.word .. '"}')
    end
    local mutation = ("%08x-%04x-4000-8000-%012x"):format(began, number, turn)
    return wrk.format("PUT", "/questionnaires/yoked-compat/sessions/" .. person.session .. "/answers/socialEnergy", headers,
        '{"mutationId":"' .. mutation .. '","state":"answered","value":' .. 1 + math.floor(turn / #people) % 5 .. "}")
end
"""


def quantile(values, share):
    """
    >>> quantile([5, 1, 4, 2, 3], 0.5), quantile([5, 1, 4, 2, 3], 0.99)
    (3, 5)
    """
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Crowd:
    """People of a filled system, each of whom is met once for each kind of request."""

    def __init__(self, system, people):
        self.system, self.people, self.tokens = system, people, {}
        self.file = pathlib.Path(system.folder, "met")
        met = set(map(int, self.file.read_text().split())) if self.file.exists() else set()
        # A token is renewed once, so whoever was met before is left out.
        drawn = random.sample(range(1, people + 1), min(people, ALONE + COLD + RENEWING + len(met)))
        chosen = [number for number in drawn if number not in met]
        self.alone, chosen = chosen[:ALONE], chosen[ALONE:]
        self.cold, self.renewing = chosen[:COLD], chosen[COLD:COLD + RENEWING]
        with self.file.open("a") as file:
            print(*self.alone, *self.cold, *self.renewing, file=file)

    def refresh(self, number):
        self.tokens[number] = self.system.ask("POST", "/auth/token/refresh", {"refreshToken": refresh_token(number)})["accessToken"]

    def list_sessions(self, number):
        """The gateway tells auth when a new access token is used first, so the first list of a token costs more than the next."""
        self.system.ask("GET", "/auth/sessions", token=self.tokens[number])

    def get(self, number):
        self.system.ask("GET", "/users/me", token=self.tokens[number])

    def patch(self, number):
        self.system.ask("PATCH", "/users/me", {"bio": f"{random.random()} says hello."}, self.tokens[number])

    def autosave(self, number):
        self.system.ask("PUT", f"/questionnaires/yoked-compat/sessions/{session_id(number)}/answers/socialEnergy", {
            "mutationId": str(uuid.uuid4()), "state": "answered", "value": random.randint(1, 5)}, self.tokens[number])

    def one_by_one(self, ask, numbers):
        """Each is asked once, one after the other."""
        def work():
            times = []
            for number in numbers:
                began = time.perf_counter()
                ask(number)
                times.append(time.perf_counter() - began)
            return {"requests": len(times), "p50": round(quantile(times, 0.5) * 1000, 2), "p99": round(quantile(times, 0.99) * 1000, 2)}
        return self.system.cost(work)

    def loaded(self, what):
        """The same people with 64 connections, round and round for some seconds."""
        numbers = self.renewing if what == "refresh" else self.alone
        word = refresh_token if what == "refresh" else self.tokens.get
        listed = pathlib.Path(self.system.folder, "people")
        listed.write_text("".join(f"{word(number)} {session_id(number)}\n" for number in numbers))
        seconds = 2 if what == "refresh" else SECONDS
        return self.system.cost(lambda: wrk(self.system, self.system.port, what, listed, CONNECTIONS, seconds))

    def measure(self):
        """Each kind of request, one at a time and with 64 connections, while the caches hold what they can."""
        alone, loaded, touched = {}, {}, {}
        self.system.read_all_files()
        self.system.settle()
        before = self.system.touched()
        kinds = [("refresh", self.refresh), (FIRST, self.list_sessions), (AGAIN, self.list_sessions), ("GET /users/me", self.get),
                 ("PATCH /users/me", self.patch), ("autosave", self.autosave)]
        for what, ask in kinds:
            alone[what] = self.one_by_one(ask, self.alone)
            if what in SCHEMAS:
                after = self.system.touched()
                touched[what] = difference(before, after, len(self.alone), SCHEMAS[what])
                before = after
        for what in ("GET /users/me", "PATCH /users/me", "autosave", "refresh"):
            loaded[what] = self.loaded(what)
        idle = {part: round(time / 1e6, 2) for part, time in self.system.idle.items()}
        return {"idle": idle, "alone": alone, "loaded": loaded, "touched": touched}

    def measure_cold(self):
        """The first requests for people of whom nothing is in memory; nothing where this user may not empty the cache."""
        if os.getuid() != 0:
            return {}
        costs = {}
        self.empty_cache()
        costs["refresh"] = self.one_by_one(self.refresh, self.cold)
        self.one_by_one(self.list_sessions, self.cold)
        for what, ask in ("GET /users/me", self.get), ("autosave", self.autosave):
            self.empty_cache()
            costs[what] = self.one_by_one(ask, self.cold)
        return costs

    def empty_cache(self):
        """Empties PostgreSQL's buffers and the kernel's cache, and lets the programs read themselves again."""
        # Reads of others at random, in a table that none of the requests reads, fill PostgreSQL's buffers.
        self.system.sql(f"""
            CHECKPOINT;
            SELECT count(h.state) FROM generate_series(1, 40000) AS n, LATERAL (
                SELECT state FROM questionnaire.answer_history
                WHERE person_id = md5('person ' || 1 + n * 7919::bigint % {self.people})::uuid LIMIT 1) AS h""")
        os.sync()
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        number = self.alone[0]
        for ask in (self.list_sessions, self.get, self.autosave) * 20:
            ask(number)


def difference(before, after, requests, schemas):
    """Of each table and index of some schemas that most requests touch: blocks, and rows written, for one request.

    >>> difference({"auth.sessions": {"blocks": 5}}, {"auth.sessions": {"blocks": 25, "hot": 0}}, 10, ["auth"])
    {'auth.sessions': {'blocks': 2.0}}
    """
    found = {}
    for name, counts in after.items():
        each = {kind: round((count - before.get(name, {}).get(kind, 0)) / requests, 2) for kind, count in counts.items()}
        # The relays look into outbox, whether somebody asks or not.
        if name.split(".")[0] in schemas and each["blocks"] >= 0.5 and ".outbox" not in name:
            found[name] = {kind: count for kind, count in each.items() if count}
    return found


def wrk(system, port, what, people, connections, seconds, threads=2):
    """What wrk says of a load."""
    script = pathlib.Path(system.folder, "people.lua")
    script.write_text(LUA)
    done = subprocess.run(["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script,
                           f"http://127.0.0.1:{port}", "--", str(people), what], capture_output=True, text=True)
    return read_wrk(done.stdout + done.stderr)


def read_wrk(text):
    """
    >>> read_wrk('''     50%    3.26ms
    ...      99%    7.96ms
    ...   72760 requests in 4.00s, 30.41MB read
    ... Requests/sec:  18190.00''')
    {'requests': 72760, 'rate': 18190, 'p50': 3.26, 'p99': 7.96}
    """
    assert "Requests/sec" in text and "Non-2xx" not in text and "Socket errors" not in text, text
    units = {"us": 0.001, "ms": 1, "s": 1000}
    times = {share: round(float(value) * units[unit], 2) for share, value, unit in re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s)", text)}
    return {"requests": int(re.search(r"(\d+) requests in", text)[1]),
            "rate": round(float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])), "p50": times["50"], "p99": times["99"]}
