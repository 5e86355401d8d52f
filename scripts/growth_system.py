"""A system of bench-growth: its processor time and tables, and people by the million.

The fill writes the rows of person n for every n. All that a test needs to act for somebody follows from the number: the
person's id, the questionnaire session, and a refresh token under the system's own key. So any of millions can be asked about over
HTTP, as an app would.
"""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import threading
import time
import uuid

from local_system import System, processor_time

SERVICES = ["auth", "profile", "questionnaire", "recovery", "visual_preference", "verification"]
# What the fill changes of PostgreSQL while it runs, and resets before anything is measured.
FILLING = {"full_page_writes": "off", "max_wal_size": "'8GB'", "autovacuum": "off", "maintenance_work_mem": "'512MB'"}
EPOCH = 1_790_000_000_000


class GrowingSystem(System):
    """A system whose folder may stay, so that one part can begin where another one ended."""

    def __init__(self, programs, port, keep=None):
        super().__init__(programs, port)
        self.keeps = keep is not None
        # Gateways beside the one that `vestibule up` starts.
        self.more_gateways = []
        if keep:
            os.rmdir(self.folder)
            self.folder = os.path.abspath(keep)
            os.makedirs(self.folder, exist_ok=True)
            os.chmod(self.folder, 0o711)
            self.state = f"{self.folder}/state"

    def start(self, *options):
        super().start(*options)
        # A fill that was interrupted leaves its settings in the folder.
        self.set_server({})
        self.settle()

    def stop(self):
        if self.keeps:
            subprocess.run([self.vestibule, "down", "--state", self.state], capture_output=True)
        else:
            super().stop()

    # PostgreSQL, as its superuser.

    def as_owner(self, program, *words, options=""):
        """A command that runs psql or pgbench as the superuser, who is the owner of the server's process."""
        socket = pathlib.Path(self.state, "postgres/postmaster.pid").read_text().splitlines()[4]
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        return [*user, "env", f"PGOPTIONS={options}", program, "-h", socket, "-U", "postgres", *words]

    def sql(self, text):
        """The rows of a query, each a list of texts."""
        done = subprocess.run(self.as_owner("psql", "-d", "vestibule", "-qXAt", "-F", "\t", "-v", "ON_ERROR_STOP=1"),
                              input=text, capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr.strip()
        return [line.split("\t") for line in done.stdout.splitlines()]

    def set_server(self, settings):
        """Changes settings of the running server; none: all as `vestibule up` starts it."""
        for name, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {name} = {value}")
        if not settings:
            self.sql("ALTER SYSTEM RESET ALL")
        self.sql("SELECT pg_reload_conf()")
        time.sleep(1)

    # Processor time.

    def parts(self):
        """The processes of each part of the system."""
        parts = {}
        for name, process in self.processes().items():
            parts.setdefault(name.rstrip("0123456789").rstrip("-"), []).append(process)
        parts["gateway"] += [gateway.pid for gateway in self.more_gateways]
        parts["database"], parts["database, background"] = [], []
        for process in self.backends():
            try:
                title = pathlib.Path(f"/proc/{process}/cmdline").read_text()
            except OSError:
                continue
            is_connection = any(title.startswith(f"postgres: {service} ") for service in SERVICES)
            parts["database" if is_connection else "database, background"].append(process)
        return parts

    def spent(self):
        """Nanoseconds of processor time of each process, by part."""
        return {part: {process: processor_time(process) for process in processes} for part, processes in self.parts().items()}

    def settle(self):
        """Waits until the system does no more than it does all the time, a minute at most, and notes what that is."""
        self.idle = self.idle_time()
        for _ in range(12):
            before, self.idle = self.idle, self.idle_time()
            if sum(self.idle.values()) > 0.8 * sum(before.values()):
                break

    def idle_time(self, seconds=5):
        """Nanoseconds of processor time that each part takes in a second in which nobody asks for anything."""
        before = self.spent()
        time.sleep(seconds)
        return {part: time / seconds for part, time in growth(before, self.spent()).items()}

    def cost(self, work):
        """What some work returns, which is how many requests it made, and the microseconds of each part for one of them.

        What the parts spend when nobody asks for anything is subtracted.
        """
        before, began = self.spent(), time.monotonic()
        result = work()
        seconds = time.monotonic() - began
        costs = growth(before, self.spent())
        requests = result["requests"]
        costs = {part: max(0, time - self.idle.get(part, 0) * seconds) / requests / 1000 for part, time in costs.items()}
        return result | {"parts": {part: round(cost, 1) for part, cost in costs.items() if cost >= 0.5}}

    # Tables.

    def read_all_files(self):
        """Reads every file of the database, so that the kernel has in its cache what fits there, as after a long time of use."""
        for file in pathlib.Path(self.state, "postgres/base").glob("*/*"):
            with open(file, "rb", buffering=0) as data:
                while data.read(2 ** 20):
                    pass

    def sizes(self):
        """Bytes of each table and index of the services, with the rows of a table as ANALYZE saw them."""
        rows = self.sql("""
            SELECT n.nspname || '.' || c.relname, c.relkind, coalesce(t.relname, ''), greatest(c.reltuples, 0)::bigint,
                pg_relation_size(c.oid) + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
                LEFT JOIN pg_class t ON t.oid = i.indrelid
            WHERE n.nspname IN (%s) AND c.relkind IN ('r', 'i') AND pg_relation_size(c.oid) > 0 ORDER BY 1
            """ % ", ".join(f"'{service}'" for service in SERVICES))
        return {name: {"kind": kind, "table": f"{name.split('.')[0]}.{table}" if table else name, "rows": int(count),
                       "bytes": int(size)} for name, kind, table, count, size in rows}

    def touched(self):
        """What PostgreSQL has counted so far for each table and index: blocks that statements touched, and rows that they wrote."""
        # An idle connection reports within ten seconds what it did.
        time.sleep(11)
        rows = self.sql("""
            SELECT schemaname || '.' || relname, heap_blks_hit + heap_blks_read, n_tup_ins, n_tup_upd, n_tup_hot_upd
                FROM pg_statio_user_tables JOIN pg_stat_user_tables USING (relid, schemaname, relname)
            UNION ALL
            SELECT schemaname || '.' || indexrelname, idx_blks_hit + idx_blks_read, 0, 0, 0 FROM pg_statio_user_indexes
            """)
        return {name: dict(zip(["blocks", "inserted", "updated", "hot"], map(int, counts))) for name, *counts in rows}

    # People by the million.

    def filled(self):
        """How many people were filled so far."""
        file = pathlib.Path(self.folder, "filled")
        return int(file.read_text()) if file.exists() else 0

    def fill_up_to(self, people):
        """Fills people until there are so many, as fast as PostgreSQL takes them."""
        first = self.filled() + 1
        if people < first:
            return 0
        began = time.monotonic()
        self.set_server(FILLING)
        middle = (first + people) // 2
        lines = [account_rows(self.token_key(), first, people) + profile_rows(first, people)]
        lines += [session_rows(first, middle)] + ([session_rows(middle + 1, people)] if people > middle else [])
        problems = []

        def run(line):
            try:
                self.sql("SET session_replication_role = replica; SET synchronous_commit = off;" + line)
            except AssertionError as problem:
                problems.append(problem)

        threads = [threading.Thread(target=run, args=[line]) for line in lines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems, problems[0]
        pathlib.Path(self.folder, "filled").write_text(str(people))
        self.sql("VACUUM ANALYZE")
        self.set_server({})
        self.sql("CHECKPOINT")
        return time.monotonic() - began

    def token_key(self):
        """The key under which auth hashes tokens. Auth derives it from its key ring in the same way (Secrets.swift)."""
        _, secret = pathlib.Path(self.state, "keys/auth.keys").read_text().split()[:2]
        extracted = hmac.new(bytes(32), base64.b64decode(secret), hashlib.sha256).digest()
        return hmac.new(extracted, b"vestibule/token\x01", hashlib.sha256).digest()


def growth(before, after):
    """What each part spent in between, also in processes that began since.

    >>> growth({"gateway": {1: 5}}, {"gateway": {1: 9, 2: 3}})
    {'gateway': 7}
    """
    return {part: sum(time - before.get(part, {}).get(process, 0) for process, time in times.items()) for part, times in after.items()}


def person_id(number):
    return str(uuid.UUID(hashlib.md5(f"person {number}".encode()).hexdigest()))


def session_id(number):
    """The questionnaire session of a person."""
    return str(uuid.UUID(f"{EPOCH + number:012x}{hashlib.md5(f'form {number}'.encode()).hexdigest()[:20]}"))


def refresh_token(number):
    return f"rf_{hashlib.md5(f'token {number}'.encode()).hexdigest()}00000000000"


# Ids as the services make them: those of people at random, all others by the time.
PERSON = "md5('person ' || n)::uuid"


def ordered(what):
    return f"(lpad(to_hex({EPOCH} + n), 12, '0') || substr(md5('{what} ' || n), 1, 20))::uuid"


def account_rows(key, first, last):
    """An account with a phone, a device, a session and its refresh token, as bench-sign-ins fills them."""
    inner, outer = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")).hex() for pad in (0x36, 0x5C))
    token = "convert_to('rf_' || md5('token ' || n) || '00000000000', 'UTF8')"
    return f"""
        SET search_path = auth;
        CREATE TEMP TABLE people AS SELECT n, {PERSON} AS person, {ordered("device")} AS device, {ordered("session")} AS session,
            now() - random() * interval '29 days' AS at FROM generate_series({first}, {last}) AS n;
        INSERT INTO accounts (id, created_at) SELECT person, at FROM people;
        INSERT INTO phones (hash, key_id, person_id, sealed)
            SELECT sha256(uuid_send(person)), 'k1', person, repeat('0', 44)::bytea FROM people;
        INSERT INTO devices (id, person_id, secret_hash, name, platform)
            SELECT device, person, sha256(uuid_send(device)), 'Pixel 9', 'android' FROM people;
        INSERT INTO sessions (id, person_id, device_id, created_at, last_used_at, access_id, otp_at)
            SELECT session, person, device, at, at + random() * (now() - at), {ordered("access")}, at FROM people;
        INSERT INTO refresh_tokens (hash, session_id, generation)
            SELECT sha256('\\x{outer}'::bytea || sha256('\\x{inner}'::bytea || {token})), session, 1 FROM people;
        DROP TABLE people;
        """


def profile_rows(first, last):
    """A profile as bench-profiles fills it, each field also in the history, and the plan of the first real person."""
    return f"""
        SET search_path = profile;
        INSERT INTO profiles (person_id, fields, catalogue_version, revision, copied_plans)
            SELECT {PERSON}, jsonb_build_object(
                'displayName', jsonb_build_object('state', 'answered', 'value', 'Eva ' || n),
                'gender', '{{"state": "answered", "value": "female"}}'::jsonb,
                'lookingFor', '{{"state": "answered", "value": ["everyone"]}}'::jsonb,
                'city', '{{"state": "answered", "value": "Umeå"}}'::jsonb,
                'bio', jsonb_build_object('state', 'answered', 'value', repeat('Te är livet. ', 8))),
                t.catalogue_version, 2, t.copied_plans
            FROM generate_series({first}, {last}) AS n, (SELECT * FROM profiles ORDER BY created_at LIMIT 1) AS t;
        INSERT INTO profile_field_history (person_id, key, state, value, changed_at)
            SELECT {PERSON}, key, 'answered', '"Te är livet."', now()
            FROM generate_series({first}, {last}) AS n, unnest('{{displayName,gender,lookingFor,city,bio}}'::text[]) AS key;
        INSERT INTO person_plans (person_id, app, plan, version, entry, steps, began_at)
            SELECT {PERSON}, t.app, t.plan, t.version, t.entry, t.steps, now()
            FROM generate_series({first}, {last}) AS n, (SELECT * FROM person_plans ORDER BY began_at LIMIT 1) AS t;
        """


def session_rows(first, last):
    """An open questionnaire session with ten answers, and each answer in the history, as bench-questionnaire fills them."""
    answers = {"relationshipGoal": "long_term", "coreValues": ["family", "honesty", "kindness"], "familyPlans": "open",
               "moneyOutlook": "planner", "faithInDailyLife": 3, "causes": ["animals", "health"], "weekendRhythm": "friends",
               "smoking": "never", "drinking": "socially", "conflictStyle": "talk_later"}
    questions = f"'{{{','.join(answers)}}}'::text[]"
    values = "ARRAY[" + ", ".join(f"'{json.dumps(value)}'" for value in answers.values()) + "]::jsonb[]"
    # OFFSET 0 keeps PostgreSQL from making the ids again for each answer.
    people = f"(SELECT {PERSON} AS person, {ordered('form')} AS session FROM generate_series({first}, {last}) AS n OFFSET 0)"
    return f"""
        SET search_path = questionnaire;
        INSERT INTO sessions (person_id, session_id, questionnaire, version, content_hash, facts, revision)
            SELECT person, session, t.questionnaire, t.version, t.content_hash, t.facts, 10 FROM {people} AS p,
                (SELECT * FROM sessions ORDER BY opened_at LIMIT 1) AS t;
        INSERT INTO answers (person_id, session_id, question, state, value, revision, changed_at, took)
            SELECT person, session, unnest({questions}), 'answered', unnest({values}), 1, now(), 4.2 FROM {people} AS p;
        INSERT INTO answer_history (person_id, session_id, question, state, value, revision, changed_at)
            SELECT person, session, unnest({questions}), 'answered', unnest({values}), 1, now() FROM {people} AS p;
        """
