"""What partitions cost an autosave, and what it costs those who write meanwhile to make them."""

import pathlib
import subprocess
import time

from browser import ROOT
from growth_vacuum import autosave_script, burst

FILE = ROOT / "deploy/partition-table.sql"
TABLES = ["answers", "answer_history"]
PARTITIONS = 4
SECONDS = 30


def measure(system):
    """Autosaves of people at random: before the tables are split, meanwhile and after that."""
    people = system.filled()
    system.read_all_files()
    script = autosave_script(people)
    found = {"people": people, "partitions": PARTITIONS, "before": rate(system, script, lambda seconds: seconds >= SECONDS), "tables": {}}
    # The owner of the server may not look into every folder.
    copy = pathlib.Path(system.folder, "partition-table.sql")
    copy.write_text(FILE.read_text())
    copy.chmod(0o644)
    for table in TABLES:
        rows = int(system.sql(f"SELECT count(*) FROM questionnaire.{table}")[0][0])
        splitting = subprocess.Popen(
            system.as_owner("psql", "-d", "vestibule", "-X", "-v", f"table=questionnaire.{table}", "-v", f"partitions={PARTITIONS}",
                            "-f", str(copy)), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        meanwhile = rate(system, script, lambda _: splitting.poll() is not None)
        assert splitting.returncode == 0, splitting.stderr.read()[-2000:]
        found["tables"][table] = meanwhile | {"rows": rows}
    return found | {"after": rate(system, script, lambda seconds: seconds >= SECONDS)}


def rate(system, script, is_over):
    """Autosaves a second until it is over, and how many took longer than a service waits for a lock."""
    began, count, late = time.monotonic(), 0, 0
    while not is_over(time.monotonic() - began):
        done = burst(system, "questionnaire", script, 5)
        count, late = count + done["count"], late + done["late"]
    seconds = time.monotonic() - began
    return {"rate": round(count / seconds), "count": count, "late": late, "seconds": round(seconds)}
