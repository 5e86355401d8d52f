"""What is read from a system once the faults are over, as lines of the history."""

import json
import os
import pathlib
import subprocess
import time

SCHEMAS = {"auth": "auth", "profile": "profile", "questionnaire": "questionnaire", "recovery": "recovery",
           "visual-preference": "visual_preference", "verification": "verification"}
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
    return " UNION ALL ".join(f"SELECT '{name}' AS service, {columns} FROM {schema}.{table} WHERE {where}" for name, schema in SCHEMAS.items())


def undelivered(target):
    """How many messages wait that are due."""
    return sum(int(row[1]) for row in target.query(union("count(*)", "outbox", "due_at <= now() AND dead_at IS NULL")))


def left(target):
    """What must not be left anywhere."""
    yield {"of": "messages that are due and not delivered", "found": undelivered(target)}
    dead = target.query(union("count(*)", "outbox", "dead_at IS NOT NULL"))
    yield {"of": "dead letters", "found": sum(int(row[1]) for row in dead)}
    verified = subprocess.run([target.system.vestibule, "audit", "verify", "--state", target.system.state], capture_output=True)
    yield {"of": "audit trails that were changed", "found": int(verified.returncode != 0)}
    gaps = target.query(
        f"""WITH told AS ({union('person_id, last', 'outbox_sequences')}), taken AS ({union('producer, person_id, last', 'event_positions')})
        SELECT count(*) FROM told WHERE last IS DISTINCT FROM (
            SELECT max(last) FROM taken WHERE producer = told.service AND person_id = told.person_id)""")
    yield {"of": "people of whom events were lost", "found": int(gaps[0][0])}
    yield {"of": "processes that ended by themselves", "found": len(ends(target))}


def ends(target):
    """The processes that ended in another way than a fault ends one."""
    log = pathlib.Path(target.system.state, "logs/supervisor.log")
    found = []
    for line in log.read_text().splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            # A disk that was full cuts a line off.
            continue
        if said.get("event") == "process_ended" and said.get("signal") not in ("SIGKILL", "SIGTERM") and said.get("exitCode") != 0:
            found.append(said)
    return found


def events(target, account):
    """The events about a person: how many were told, and which was the last that somebody took."""
    told = target.query(union("last", "outbox_sequences", f"person_id = '{account}'"))
    taken = target.query(union("producer, last", "event_positions", f"person_id = '{account}'"))
    for producer, last in told:
        found = [int(row[2]) for row in taken if row[1] == producer]
        yield {"about": account, "producer": producer, "told": int(last), "taken": max(found, default=0)}


def sessions(target, account):
    return [row[0] for row in target.query(f"SELECT id FROM auth.sessions WHERE person_id = '{account}'")]


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


class Samples:
    """Memory, descriptors and threads of every process, from time to time."""

    EVERY = 10

    def __init__(self, target):
        self.target, self.of = target, {}

    def take(self, seconds):
        for name, process in self.target.system.processes().items():
            try:
                status = pathlib.Path(f"/proc/{process}/status").read_text()
                said = dict(line.split(":", 1) for line in status.splitlines())
                figures = int(said["VmRSS"].split()[0]), len(os.listdir(f"/proc/{process}/fd")), int(said["Threads"])
            except (OSError, KeyError):
                # It has just ended.
                continue
            self.of.setdefault((name, process), []).append((seconds, *figures))

    def slopes(self, kept):
        """Of each process that lived all the time: what it has at the end, and by how much that rises in an hour, after the first third."""
        for (name, _), samples in sorted(self.of.items()):
            if name not in kept:
                continue
            later = samples[len(samples) // 3:]
            yield name, [(each[-1], slope([one[0] for one in later], each)) for each in list(zip(*later))[1:]]


def slope(seconds, figures):
    """The rise in an hour of the line that fits best."""
    middle, mean = sum(seconds) / len(seconds), sum(figures) / len(figures)
    spread = sum((each - middle) ** 2 for each in seconds)
    return 3600 * sum((at - middle) * (each - mean) for at, each in zip(seconds, figures)) / spread if spread else 0
