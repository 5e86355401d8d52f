"""What `scripts/chaos` decides without a system: its plan, its judgement of histories, and whether there was a load.

`recorded.jsonl` is a part of the history of a run: a profile, an answer, and who signed in. Nothing was wrong with it; each test
plants one fault in a copy. Small histories made by chance are judged as well by trying every order of their calls.
"""

import copy
import pathlib
import random
import socket
import sys
import threading
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import chaos_end
import chaos_faults
import chaos_history
import chaos_load
import chaos_plan
import chaos_relay
import chaos_revisions

RECORDED = chaos_history.read(pathlib.Path(__file__).with_name("recorded.jsonl"))
PROFILE = next(line["object"] for line in RECORDED if line.get("object", "").startswith("profile"))


class Planted(unittest.TestCase):
    """Faults in a recorded history."""

    def setUp(self):
        self.lines = copy.deepcopy(RECORDED)
        self.changes = sorted((
            line for line in self.lines if line.get("object") == PROFILE and line.get("call") == "change"
            and line["result"] == "acknowledged"), key=lambda line: line["revision"])
        self.final = self.one(final="object")
        self.kept = self.one(final="kept")["revisions"]

    def one(self, **members):
        """The first line with these members, of the profile where it has an object."""
        return next(line for line in self.lines if all(line.get(name) == value for name, value in members.items())
                    and line.get("object", PROFILE) == PROFILE)

    def expect(self, *words):
        wrong = chaos_history.judge(self.lines)
        for word in words:
            self.assertTrue(any(word in each for each in wrong), f"{word} is not in {wrong}")

    def test_what_was_recorded_is_right(self):
        self.assertEqual(chaos_history.judge(self.lines), [])

    def test_a_bad_network_costs_too_many_answers(self):
        self.lines = [line for line in self.lines if "fault" not in line]
        self.lines.append({"fault": "bus-delay", "effect": "done"})
        answered = {"call": "read", "result": "acknowledged", "sent": 0, "answered": 1}
        calls = sum("call" in line for line in self.lines)
        unknown = sum(line.get("result") == "unknown" for line in self.lines)
        self.lines += [answered] * (unknown * 1000 - calls)
        self.assertEqual(chaos_history.judge(self.lines), [])
        self.lines.append(answered | {"result": "unknown"})
        self.expect("on a bad network")
        self.lines.append({"fault": "kill", "effect": "done"})
        self.assertEqual(chaos_history.judge(self.lines), [])

    def test_an_acknowledged_change_is_lost_at_the_end(self):
        # The last acknowledged change, and what followed it, was rolled back.
        self.final |= {"revision": self.changes[-1]["revision"] - 1, "value": "older"}
        self.expect("lost", self.changes[-1]["key"])

    def test_an_acknowledged_change_is_lost_on_the_way(self):
        self.kept[str(self.changes[-2]["revision"])] = "another"
        self.expect(f"lost: the change {self.changes[-2]['key']}")

    def test_a_change_is_done_twice(self):
        self.final |= {"revision": self.final["revision"] + 1, "value": self.changes[-2]["value"]}
        self.expect(f"double effect: the change {self.changes[-2]['key']}")

    def test_a_repeated_call_is_done_again(self):
        again = self.changes[-1] | {"revision": self.final["revision"] + 1}
        self.lines.append(again)
        self.final |= {"revision": again["revision"], "value": again["value"]}
        self.expect(f"double effect: the change {again['key']}")

    def test_a_change_follows_another_revision_than_it_expected(self):
        careful = next(each for each in self.changes if each.get("expected"))
        careful["expected"] -= 1
        self.expect(f"stale: the change {careful['key']}")

    def test_a_change_without_an_acknowledgement_follows_another_revision(self):
        careful = next(each for each in self.changes[-20:] if each.get("expected"))
        careful |= {"result": "unknown", "expected": careful["expected"] - 1}
        self.expect(f"stale: the change {careful['key']}")

    def test_a_revision_was_made_by_nobody(self):
        self.lines.remove(self.changes[-1])
        self.expect(f"gap: nobody made revision {self.changes[-1]['revision']}")

    def test_an_event_is_missing(self):
        events = self.one(final="events")
        events["taken"] -= 1
        self.expect("gap", events["about"])

    def test_an_effect_is_older_than_what_was_read_before(self):
        # It was sent when a later revision had been acknowledged already.
        early, late = self.changes[0], self.changes[1]
        early |= {"sent": late["answered"] + 1, "answered": late["answered"] + 2}
        self.expect("time travel")

    def test_an_old_revision_is_read(self):
        old = self.one(call="read", result="acknowledged")
        old |= {"sent": self.changes[-1]["answered"] + 1, "answered": self.changes[-1]["answered"] + 2}
        self.expect("time travel")

    def test_a_refused_change_is_there(self):
        self.changes[-1] |= {"result": "refused"}
        self.expect(f"not executed: the change {self.changes[-1]['key']}")

    def test_who_was_not_late_is_refused(self):
        self.lines.append({"call": "change", "object": PROFILE, "key": "k", "value": "k", "expected": self.final["revision"], "sent": 0,
                           "answered": 1, "result": "refused", "isConflict": True, "status": 412})
        self.expect("refused")

    def test_a_session_ends(self):
        renewal = self.one(call="renew", result="acknowledged")
        renewal |= {"result": "refused", "status": 401, "code": "refresh_token_reused"}
        self.expect("the session ended")

    def test_a_sign_in_is_done_twice(self):
        sessions = self.one(final="sessions")["sessions"]
        sessions.append("another")
        self.expect("double effect")

    def test_a_session_is_lost(self):
        session = self.one(final="sessions")["sessions"].pop()
        self.expect(f"lost: session {session}")

    def test_somebody_gets_a_second_account(self):
        sign_in = self.one(call="sign-in", result="acknowledged")
        self.lines.append(sign_in | {"account": "another", "key": "another"})
        self.expect("2 accounts")

    def test_a_fault_never_took_effect(self):
        def fault(name, *effects):
            self.lines += [{"fault": name, "effect": each} for each in effects]
        fault("kill", "none", "none")
        fault("stop", "none", "some")
        fault("disk-full", "skipped")
        self.assertEqual(chaos_history.judge(self.lines), ["no effect: kill found nobody"])

    def test_what_is_left_is_told(self):
        self.lines.append({"final": "left", "of": "dead letters", "found": 2})
        self.expect("left: 2 dead letters")


class Orders(unittest.TestCase):
    """Small histories, each compared with a search through all orders."""

    def test_the_judgement_is_that_of_a_search(self):
        chance, found = random.Random(7), {True: 0, False: 0}
        for _ in range(4000):
            calls, final = make(chance)
            is_right = is_possible(calls, final)
            self.assertEqual(not chaos_revisions.judge_object(calls, [final]), is_right, f"{calls} {final}")
            found[is_right] += 1
        self.assertGreater(min(found.values()), 500, "too few histories of one kind")


def make(chance):
    """A history of three devices, of which a bit may be changed afterwards."""
    revision, value, maker, now = 0, None, "", 0
    calls = [{"call": "begin", "revision": 0, "value": None, "sent": 0, "answered": 0, "result": "acknowledged"}]
    for place in range(chance.randint(2, 5)):
        # The effect of each call is at a moment of its own, and the calls overlap around these.
        now += 10
        call = {"sent": now - chance.randint(1, 25), "answered": now + chance.randint(1, 25), "result": "acknowledged"}
        if chance.random() < 0.4:
            calls.append(call | {"call": "read", "revision": revision, "value": value})
            continue
        call |= {"call": "change", "key": f"k{place}", "value": f"v{place}", "expected": chance.choice([None, None, revision])}
        if revision and chance.random() < 0.2:
            calls.append(call | {"result": "refused", "isConflict": True, "expected": chance.randrange(revision)})
            continue
        if chance.random() < 0.3:
            call["result"] = "unknown"
        elif chance.random() < 0.1 and maker == "acknowledged":
            call["value"] = value
        is_done = call["result"] == "acknowledged" or chance.random() < 0.5
        # A change to what is there makes no revision.
        if is_done and call["value"] != value:
            revision, value, maker = revision + 1, call["value"], call["result"]
        if call["result"] == "acknowledged":
            call["revision"] = revision
        calls.append(call)
        if call["result"] == "acknowledged" and call["value"] == f"v{place}" and chance.random() < 0.1:
            # It is answered with what another device made of it.
            now, revision, value, maker = now + 10, revision + 1, f"w{place}", "acknowledged"
            del call["revision"]
            call |= {"answered": now + chance.randint(1, 25), "found": {"revision": revision, "value": value}}
            calls.append({"call": "change", "key": value, "value": value, "expected": None, "sent": now - chance.randint(1, 25),
                          "answered": now + chance.randint(1, 25), "result": "acknowledged", "revision": revision})
    final = {"final": "object", "revision": revision, "value": value}
    if chance.random() < 0.6:
        damage(chance, calls, final)
    return calls, final


def damage(chance, calls, final):
    call = chance.choice(calls[1:])
    kind = chance.randrange(4)
    if kind == 0:
        call["sent"], call["answered"] = call["sent"] + 30, call["answered"] + 30
    elif kind == 1 and "revision" in call:
        call["revision"] += chance.choice([-1, 1])
    elif kind == 2 and call.get("expected") is not None:
        call["expected"] += 1
    elif kind == 3:
        final["revision"] += 1


def is_possible(calls, final):
    """Whether some order of the calls, each between its sending and its answer, explains all of them."""
    must = [each for each in calls if each["result"] != "unknown"]
    may = [each for each in calls if each["result"] == "unknown"]

    def go_on(must, may, revision, value):
        if not must:
            if (revision, value) == (final["revision"], final["value"]):
                return True
        last = min((each["answered"] for each in must), default=chaos_revisions.NEVER)
        for call in must + may:
            if call["sent"] > last:
                continue
            left = [each for each in must if each is not call], [each for each in may if each is not call]
            if call["call"] != "change":
                if (call["revision"], call["value"]) == (revision, value) and go_on(*left, revision, value):
                    return True
            elif call["result"] == "refused":
                if revision > call["expected"] and go_on(*left, revision, value):
                    return True
            elif call["expected"] in (None, revision):
                made = revision + (call["value"] != value)
                if "found" in call:
                    left[0].append(call["found"] | {"call": "read", "sent": call["sent"], "answered": call["answered"]})
                if call.get("revision", made) == made and go_on(*left, made, call["value"]):
                    return True
        return False
    return go_on(must, may, 0, None)


class Slopes(unittest.TestCase):
    """What processes take over time."""

    def test_the_rise_in_an_hour(self):
        hour = range(0, 3600, 10)

        def sample(at, memory):
            return {"sample": "auth", "process": 1, "at": at * 1000, "memory": memory, "descriptors": 40, "threads": 9}

        def timers(more=lambda at: 0):
            return [{"sample": "timers of auth", "process": "i", "at": at * 1000, "timers": 40 + at % 70 // 10 + more(at)} for at in hour]

        def in_use(rise=0):
            return [{"sample": "in use of auth", "process": "i", "at": at * 1000, "in use": 3000 + at * 7919 % 301 + at * rise}
                    for at in hour]

        def risen(*samples):
            return list(chaos_history.risen([{"seconds": 3600}, *(line for each in samples for line in each)]))

        def auth(figures=lambda at: {}):
            return [sample(at, 1000) | figures(at) for at in hour]
        # The first third, in which caches fill, does not count; nor does a process that was there for less than the run.
        lines = [sample(at, 900 if at < 1000 else 1000 + at / 36) for at in hour]
        lines[1:1] = [{"sample": "auth-2", "process": 2, "at": 5000, "memory": 1, "descriptors": 1, "threads": 1}]
        (name, figures), *_ = chaos_history.slopes(lines + timers() + in_use())
        self.assertEqual(name, "auth")
        self.assertAlmostEqual(figures["memory"][1], 100)
        self.assertEqual(figures["threads"], (9, 0, 0))
        self.assertEqual(risen(lines, timers(), in_use()), [])
        leaking = [sample(at, 1000 + at / 12) for at in hour]
        [found] = risen(leaking, timers(), in_use())
        self.assertTrue(found.startswith("not flat: auth ends with memory of 1,299,"), found)
        # Seven timers up and down are no leak. One more every three minutes is.
        [found] = risen(auth(), timers(lambda at: at // 180), in_use())
        self.assertTrue(found.startswith("not flat: timers of auth ends with timers of 6"), found)
        # A hundred connections that come and go are no leak. One more every minute is. So it is with threads.
        for what in "descriptors", "threads":
            for more, found in ((lambda at: 0, 0), (lambda at: at // 60, 1)):
                self.assertEqual(
                    len(risen(auth(lambda at: {what: 100 + at * 7919 % 101 + more(at)}), timers(), in_use())), found, what)
        # Memory that calls take and give back is no leak. A fifth more in an hour is.
        for rise, found in ((0, 0), (0.2, 1)):
            self.assertEqual(len(risen(auth(), timers(), in_use(rise))), found)
        # Ten minutes are too few to tell.
        self.assertEqual(list(chaos_history.risen([{"seconds": 600}, *leaking[:60]])), [])
        # A soak in which nobody tells of a figure shows nothing of it.
        self.assertEqual(risen(auth(), in_use()), ["not flat: nobody told of timers"])
        self.assertEqual(risen(auth(), timers()), ["not flat: nobody told of in use"])

    def test_gauges_are_read_from_what_the_gateway_answers(self):
        page = ('# TYPE vestibule_loop_timers gauge\nvestibule_loop_timers{service="auth",instance="i"} 12.0\n'
                'vestibule_memory_in_use_bytes{service="auth",instance="i"} 2048.0\n'
                'vestibule_uptime_seconds{service="auth",instance="i"} 3.5\n')
        found = [("loop_timers", "auth", "i", "12.0"), ("memory_in_use_bytes", "auth", "i", "2048.0")]
        self.assertEqual(chaos_end.GAUGES.findall(page), found)


class Loads(unittest.TestCase):
    """The load beside the people."""

    def test_a_load_that_ends_at_once_is_a_failure(self):
        load = chaos_load.Load(types.SimpleNamespace(vestibule="/bin/false", state="/nowhere"), 2)
        load.join()
        [failure] = load.failures()
        self.assertEqual(str(failure), "the load did 0 actions in 2 s: ")


class Plans(unittest.TestCase):
    """The plan of the faults."""

    def test_a_seed_gives_the_same_plan(self):
        names = list(chaos_plan.FAULTS)
        self.assertEqual(chaos_plan.plan(5, 180, names), chaos_plan.plan(5, 180, names))
        self.assertNotEqual(chaos_plan.plan(5, 180, names), chaos_plan.plan(6, 180, names))

    def test_a_longer_plan_begins_as_a_shorter_one(self):
        names = list(chaos_plan.FAULTS)
        longer, shorter = chaos_plan.plan(5, 180, names), chaos_plan.plan(5, 60, names)
        self.assertEqual(longer[:len(shorter) - 1], shorter[:-1])

    def test_each_fault_is_done_and_two_at_a_time_touch_different_things(self):
        for seed in range(50):
            faults = chaos_plan.plan(seed, 180, list(chaos_plan.FAULTS))
            self.assertEqual({each["fault"] for each in faults}, set(chaos_plan.FAULTS))
            for first, second in zip(faults, faults[1:]):
                if second["at"] < first["at"] + first["for"]:
                    self.assertNotEqual(chaos_plan.FAULTS[first["fault"]][0], chaos_plan.FAULTS[second["fault"]][0])


class Tries(unittest.TestCase):
    """A fault that found nobody."""

    def effects(self, *found):
        """What is noted where a fault finds these, one after the other; `None` for nobody."""
        left, notes = list(found), []

        def do(_):
            name = left.pop(0)
            if name is None:
                raise chaos_faults.Nobody("gone")
            return name
        target = types.SimpleNamespace(do=do, over=threading.Event(), failures=[])
        chaos_faults.carry_out(target, [{"fault": "bus-flip", "at": 0}], notes.append)
        return [(each["done"], each["effect"]) for each in notes]

    def test_it_is_done_once_more(self):
        self.assertEqual(self.effects("auth-2"), [("auth-2", "some")])
        self.assertEqual(self.effects(None, "auth-2"), [("auth-2", "some")])
        self.assertEqual(self.effects(None, None), [("nobody: gone", "none")])


class Networks(unittest.TestCase):
    """What the relay does to bytes on their way to a server that sends them back."""

    def setUp(self):
        self.server, self.came = socket.create_server(("127.0.0.1", 0)), []
        threading.Thread(target=self.answer, daemon=True).start()
        self.relay, port = chaos_relay.before_gateway(self.server.getsockname()[1])
        self.client = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.assertEqual(self.sent_back(b"before"), b"before")

    def tearDown(self):
        self.client.close()
        self.relay.close()
        # Closing alone does not wake the thread that accepts.
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def answer(self):
        try:
            while True:
                connection, _ = self.server.accept()
                with connection:
                    while data := connection.recv(65536):
                        self.came.append(data)
                        connection.sendall(data)
        except OSError:
            # The test or the relay has ended.
            pass

    def send_into(self, mode):
        """Sends a piece, and waits until the relay has it."""
        self.relay.behave(mode)
        self.client.sendall(b"piece")
        while not self.relay.touched:
            threading.Event().wait(0.001)

    def sent_back(self, data):
        self.client.sendall(data)
        return self.client.recv(65536)

    def is_over(self):
        try:
            return self.client.recv(65536) == b""
        except ConnectionError:
            return True

    def test_delay_changes_nothing(self):
        self.relay.behave("delay", 1)
        self.assertEqual(self.sent_back(b"late"), b"late")
        self.assertEqual(self.relay.touched, 2)

    def test_the_first_piece_is_flipped(self):
        self.relay.behave("flip", 1)
        self.assertNotEqual(self.sent_back(b"piece"), b"piece")

    def test_what_stalls_goes_on(self):
        self.send_into("stall")
        self.assertEqual(self.came, [b"before"])
        self.relay.behave("pass")
        self.assertEqual(self.client.recv(65536), b"piece")

    def test_a_reset_ends_the_connection(self):
        self.relay.behave("reset")
        self.assertTrue(self.is_over())

    def test_half_open_loses_answers_and_ends_afterwards(self):
        self.send_into("half-open")
        self.assertEqual(self.came, [b"before", b"piece"])
        self.relay.behave("pass")
        self.assertTrue(self.is_over())

    def test_flips_change_one_bit_of_some_pieces(self):
        self.relay.behave("flip", 1)
        changes = [sum((a ^ b).bit_count() for a, b in zip(b"piece", self.sent_back(b"piece"))) for _ in range(60)]
        self.assertTrue(sum(changes) > 0 and max(changes) <= 2, changes)


if __name__ == "__main__":
    unittest.main()
