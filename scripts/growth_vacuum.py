"""What changes leave in the tables of bench-growth, and what autovacuum does about it; and what one person leaves in each table."""

import pathlib
import re
import subprocess
import time

from browser import ROOT
from growth_system import PERSON, SERVICES

PROFILES = ROOT / "Sources/ProfileService/Store/ProfileStore.swift"
ANSWERS = ROOT / "Sources/QuestionnaireService/Store/QuestionnaireSessionStore+Writing.swift"
TABLES = ["profile.profiles", "profile.profile_field_history", "questionnaire.sessions", "questionnaire.answers",
          "questionnaire.answer_history", "questionnaire.mutations"]
CLIENTS, PATIENCE = 8, 120
# The ID of a message: milliseconds, then chance. A change by a message that is older than the last one takes another way.
MESSAGE = ("(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) "
           "|| '8' || substr(md5(random()::text), 1, 15))::uuid")
# Milliseconds that a service waits for a lock.
LATE = 200
# Long enough that a fifth of the profiles has changed.
SECONDS = {"PATCH": 150, "autosave": 60}
# A leaf of an index is 70 % full where keys come at random (A. Yao, "On random 2-3 trees", Acta Informatica 9, 1978: ln 2).
FULL = 0.7


def statement(file, marker):
    """The SQL of the first text in a Swift file behind a marker."""
    text = file.read_text()
    return re.search(r'"""\n(.*?)"""', text[text.index(marker):], re.DOTALL)[1]


def with_values(sql, values):
    """A statement with SQL instead of its parameters.

    >>> with_values("SELECT $1::uuid[], $10", ["a"] + ["b"] * 8 + ["c"])
    'SELECT (a)::uuid[], (c)'
    """
    return re.sub(r"\$(\d+)", lambda match: f"({values[int(match[1]) - 1]})", sql)


def patch_script(people):
    """For pgbench: profile's statement, which changes the text about somebody at random."""
    person = PERSON.replace("|| n", "|| :n::bigint")
    values = [
        person, "NULL::bytea", "false",
        "jsonb_build_object('bio', jsonb_build_object('state', 'answered', 'value', 'No. ' || :word::bigint || ' says hello.'))",
        "false", "NULL::text", f"(SELECT revision FROM profiles WHERE person_id = {person})", "now()", MESSAGE, "NULL::uuid"]
    sql = statement(PROFILES, "func changing(").replace("\\(order)", ">")
    sql = with_values(sql, [f"ARRAY[{value}]" for value in values])
    return f"\\set n random(1, {people})\n\\set word random(1, 1000000)\n{one_line(sql)};\n"


def autosave_script(people):
    """For pgbench: questionnaire's statement, which changes one of ten answers of somebody at random."""
    person = PERSON.replace("|| n", "|| :n::bigint")
    session = f"(SELECT session_id FROM sessions WHERE person_id = {person})"
    values = [
        person, session, "'faithInDailyLife'",
        f"(SELECT revision + 1 FROM answers WHERE person_id = {person} AND session_id = {session} AND question = 'faithInDailyLife')",
        "'answered'", "to_jsonb(:word::bigint)", "now()", "NULL::timestamptz", "gen_random_uuid()", "sha256('digest')",
        "'{\"next\": {\"before\": [], \"question\": \"socialEnergy\"}, \"progress\": {\"total\": 25, \"answered\": 10}}'::jsonb",
        "NULL::text", "NULL::jsonb", "now()",
        f"(SELECT revision FROM sessions WHERE person_id = {person})", "false"]
    turn = statement(ANSWERS, "let saveAnswers = saving")
    sql = statement(ANSWERS, "func saving(").replace("\\(turn)", turn)
    sql = with_values(sql, [f"ARRAY[{value}]" for value in values])
    return f"\\set n random(1, {people})\n\\set word random(1, 5)\n{one_line(sql)};\n"


def one_line(sql):
    return " ".join(line for line in map(str.strip, sql.splitlines()) if not line.startswith("--"))


def burst(system, service, script, seconds):
    """Runs a script in the role of a service for so long; returns how often it ran, and how often that took too long."""
    file = pathlib.Path(system.folder, f"{service}.sql")
    file.write_text(script)
    # pgbench runs as the owner of the server, which may not look into every folder.
    file.chmod(0o644)
    command = system.as_owner("pgbench", "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2", "-T", str(seconds), "-L", str(LATE), "-f",
                              str(file), "vestibule", options=f"-c role={service} -c search_path={service}")
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and "number of failed transactions: 0 " in done.stdout, (done.stdout + done.stderr)[-2000:]
    return {"count": int(re.search(r"transactions actually processed: (\d+)", done.stdout)[1]),
            "late": int(re.search(r"latency limit: (\d+)/", done.stdout)[1])}


def state(system):
    """Of each table: its rows, what was changed, dead rows, and bytes of heap and indexes."""
    time.sleep(2)
    rows = system.sql("""
        SELECT schemaname || '.' || relname, n_live_tup, n_dead_tup, n_tup_ins, n_tup_upd, n_tup_hot_upd, autovacuum_count,
            pg_table_size(relid), pg_indexes_size(relid)
        FROM pg_stat_user_tables WHERE schemaname || '.' || relname = ANY ('{%s}')""" % ",".join(TABLES))
    keys = ["rows", "dead", "inserted", "updated", "hot", "autovacuums", "heap", "indexes"]
    return {name: dict(zip(keys, map(int, counts))) for name, *counts in rows}


def wal(system):
    """Bytes of WAL that PostgreSQL has written so far, and the images of whole pages in it."""
    # A connection that ends reports what it did.
    return dict(zip(["bytes", "images"], map(int, system.sql("SELECT wal_bytes, wal_fpi FROM pg_stat_wal")[0])))


def measure(system):
    """A burst of changes of people at random, then what autovacuum does until it has nothing left to do."""
    people = system.filled()
    system.read_all_files()
    system.set_server({"log_autovacuum_min_duration": "0"})
    log = pathlib.Path(system.state, "postgres/server.log")
    read = log.stat().st_size
    before = state(system)
    changes, logged = {}, {}
    for what, service, script in ("PATCH", "profile", patch_script), ("autosave", "questionnaire", autosave_script):
        written = wal(system)
        changes[what] = burst(system, service, script(people), SECONDS[what])["count"]
        logged[what] = {kind: round((count - written[kind]) / changes[what], 1) for kind, count in wal(system).items()}
    after = state(system)
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE and (is_working(system) or overdue(system)):
        time.sleep(5)
    waited = time.monotonic() - began
    rested = state(system)
    runs = read_log(log.read_bytes()[read:].decode())
    # Tables that autovacuum had no reason to visit are vacuumed at its pace.
    paced = {}
    for table in TABLES:
        if table not in [run["table"] for run in runs]:
            paced[table] = pace(system, table)
    system.set_server({})
    return {"people": people, "changes": changes, "seconds": SECONDS, "clients": CLIENTS, "wal": logged, "before": before,
            "after": after, "rested": rested, "waited": round(waited), "runs": runs, "paced": paced}


def pace(system, table):
    """The seconds of a VACUUM that waits as often as autovacuum does."""
    began = time.monotonic()
    system.sql(f"SET vacuum_cost_delay = '2ms';\nVACUUM {table}")
    return round(time.monotonic() - began, 1)


def is_working(system):
    return system.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'") != [["0"]]


def overdue(system):
    """Tables beyond the threshold at which autovacuum comes, by PostgreSQL's defaults: dead rows, or inserted ones."""
    return system.sql("""
        SELECT s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = relid
        WHERE schemaname || '.' || s.relname = ANY ('{%s}')
            AND (n_dead_tup > 50 + 0.2 * reltuples OR n_ins_since_vacuum > 1000 + 0.2 * reltuples)""" % ",".join(TABLES))


def read_log(text):
    """The visits of autovacuum to tables of the services.

    >>> read_log('''LOG:  automatic vacuum of table "vestibule.profile.profiles": index scans: 1
    ...     pages: 0 removed, 90 remain, 80 scanned (88.89% of total)
    ...     tuples: 70 removed, 100 remain, 0 are dead but not yet removable
    ...     system usage: CPU: user: 0.10 s, system: 0.00 s, elapsed: 2.50 s''')
    [{'table': 'profile.profiles', 'index scans': 1, 'pages': 80, 'removed': 70, 'seconds': 2.5}]
    """
    found = []
    pattern = r'automatic vacuum of table "vestibule\.([\w.]+)": index scans: (\d+)(.*?)elapsed: ([\d.]+) s'
    for visit in re.finditer(pattern, text, re.DOTALL):
        if visit[1] in TABLES:
            found.append({"table": visit[1], "index scans": int(visit[2]), "pages": int(re.search(r"(\d+) scanned", visit[3])[1]),
                          "removed": int(re.search(r"tuples: (\d+) removed", visit[3])[1]), "seconds": float(visit[4])})
    return found


def contents(system):
    """Live rows of each table, their bytes, and the bytes of the entries in its indexes, by pgstattuple."""
    time.sleep(5)
    schemas = ", ".join(f"'{service}'" for service in SERVICES)
    tables = system.sql(f"""
        SELECT n.nspname || '.' || c.relname, t.tuple_count, t.tuple_len + 4 * t.tuple_count
            + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, LATERAL pgstattuple(c.oid) t
        WHERE n.nspname IN ({schemas}) AND c.relkind = 'r'""")
    indexes = system.sql(f"""
        SELECT n.nspname || '.' || t.relname, sum(
            CASE WHEN s.leaf_pages > 0 THEN s.leaf_pages * 8192 * s.avg_leaf_density / 100 ELSE 0 END)::bigint
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
            JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am a ON a.oid = c.relam, LATERAL pgstatindex(c.oid) s
        WHERE n.nspname IN ({schemas}) AND a.amname = 'btree' GROUP BY 1""")
    entries = {name: int(size) for name, size in indexes}
    return {name: {"rows": int(rows), "heap": int(size), "indexes": round(entries.get(name, 0) / FULL)} for name, rows, size in tables}


def for_each(before, after, people):
    """
    >>> for_each({}, {"auth.accounts": {"rows": 10, "heap": 700, "indexes": 400}}, 10)
    {'auth.accounts': {'rows': 1.0, 'heap': 70.0, 'indexes': 40.0}}
    """
    each = {name: {kind: round((count - before.get(name, {}).get(kind, 0)) / people, 2) for kind, count in counts.items()}
            for name, counts in after.items()}
    return {name: counts for name, counts in each.items() if counts["rows"] > 0}
