"""What is read from a system once the faults are over, as lines of the history."""

import http.client
import os
import pathlib
import re
import time
import urllib.request

SCHEMAS = {"auth": "auth", "profile": "profile", "questionnaire": "questionnaire", "recovery": "recovery",
           "visual-preference": "visual_preference", "verification": "verification"}
# The services whose events in a run are all for the profile. A sequence does not say to whom its events were told.
TELLS_PROFILE = "auth", "questionnaire", "visual-preference"
# What a replica says of its timers, and of the bytes that it has allocated.
GAUGES = re.compile(r'^vestibule_(loop_timers|memory_in_use_bytes)\{service="(.+?)",instance="(.+?)"\} ([\d.]+)$', re.MULTILINE)
# How long a machine with other work may take for what has to come, in seconds.
PATIENCE = 180


def wait(is_there):
    """Waits until something holds. Whether it came to hold."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if is_there():
                return True
        except OSError:
            # The database or the gateway is not back yet.
            pass
        time.sleep(0.1)
    return False


def union(columns, table, where="true"):
    """Rows of a table that every schema has, with the service first."""
    selects = [f"SELECT '{name}' AS service, {columns} FROM {schema}.{table} WHERE {where}" for name, schema in SCHEMAS.items()]
    return " UNION ALL ".join(selects)


def undelivered(target):
    """How many messages wait that are due, or that were tried in vain and wait for their next time."""
    waiting = "(due_at <= now() OR attempts > 0) AND dead_at IS NULL"
    return sum(int(row[1]) for row in target.query(union("count(*)", "outbox", waiting)))


def end_leases(target):
    """Has messages delivered again at once that were tried in vain, or that a killed replica had taken: else these wait for 30 s."""
    target.query("; ".join(
        f"UPDATE {schema}.outbox SET locked_until = now(), due_at = least(due_at, now()) WHERE attempts > 0" for schema in SCHEMAS.values()))


def left(target):
    """What must not be left anywhere. The last look at everybody has made new messages."""
    wait(lambda: not undelivered(target))
    yield {"of": "messages that are not delivered", "found": undelivered(target)}
    dead = target.query(union("count(*)", "outbox", "dead_at IS NOT NULL"))
    yield {"of": "dead letters", "found": sum(int(row[1]) for row in dead)}
    yield {"of": "audit trails that were changed", "found": int(not target.is_audit_whole())}
    lost = [each for of_account in events(target).values() for each in of_account if each["told"] != each["taken"]]
    yield {"of": "accounts of which events were lost", "found": len(lost)}
    yield {"of": "processes that ended by themselves", "found": len(target.ended_by_themselves())}


def events(target):
    """The events about each account for the profile: the number of the last one that a service told, and that the profile took."""
    rows = target.query("SELECT producer, person_id, last FROM profile.event_positions")
    taken = {(account, producer): int(last) for producer, account, last in rows}
    found = {}
    for producer, account, last in target.query(union("person_id, last", "outbox_sequences")):
        if producer in TELLS_PROFILE:
            said = {"about": account, "producer": producer, "told": int(last), "taken": taken.get((account, producer), 0)}
            found.setdefault(account, []).append(said)
    return found


def sessions(target):
    """The sessions of each account."""
    found = {}
    for account, session in target.query("SELECT person_id, id FROM auth.sessions"):
        found.setdefault(account, []).append(session)
    return found


def renewed(target):
    """When each session was renewed last, in seconds since 1970."""
    return {session: float(at) for session, at in target.query("SELECT id, extract(epoch FROM last_used_at) FROM auth.sessions")}


def profile(target, account):
    """The revision and the text of a profile."""
    return target.query(f"SELECT revision, fields -> 'bio' ->> 'value' FROM profile.profiles WHERE person_id = '{account}'")


def kept_texts(target, account, revision):
    """The last texts of a profile by revision, which end with this one: each change of it has one."""
    rows = target.query(
        f"SELECT value #>> '{{}}' FROM profile.profile_field_history WHERE person_id = '{account}' AND key = 'bio' ORDER BY id DESC")
    return {revision - place: row[0] for place, row in enumerate(rows)}


def kept_mutations(target, account, question):
    rows = target.query(
        f"SELECT revision, mutation_id FROM questionnaire.mutations WHERE person_id = '{account}' AND question = '{question}'")
    return {int(revision): key for revision, key in rows}


def kept_answers(target, account, question):
    """The last states of an answer that is not sealed."""
    rows = target.query(
        f"""SELECT revision, value #>> '{{}}' FROM questionnaire.answer_history
        WHERE person_id = '{account}' AND question = '{question}' ORDER BY revision""")
    return {int(revision): value for revision, value in rows}


def repeated(values):
    """What is in a list more than once."""
    return sorted({each for each in values if values.count(each) > 1})


def sample(target):
    """Memory in KB, descriptors and threads of every process, and what those say of themselves that the gateway reaches."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{target.system.port}/metrics", timeout=5) as page:
            for gauge, service, instance, value in GAUGES.findall(page.read().decode()):
                figure = {"timers": float(value)} if gauge == "loop_timers" else {"in use": float(value) / 1024}
                yield {"sample": f"{next(iter(figure))} of {service}", "process": instance, **figure}
    except (OSError, http.client.HTTPException):
        # A fault has the gateway or a replica.
        pass
    for name, process in target.system.processes().items():
        try:
            status = pathlib.Path(f"/proc/{process}/status").read_text()
            said = dict(line.split(":", 1) for line in status.splitlines())
            yield {"sample": name, "process": process, "memory": int(said["VmRSS"].split()[0]),
                   "descriptors": len(os.listdir(f"/proc/{process}/fd")), "threads": int(said["Threads"])}
        except (OSError, KeyError):
            # It has just ended.
            continue
