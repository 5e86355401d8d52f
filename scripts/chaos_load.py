"""Strangers beside the people of a run: `vestibule load`, again and again."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

from local_system import LIMITS

# How many actions are begun in a second.
RATE = 10
# How many seconds a load lasts at most: its people sign in before it, and their tokens do not last much longer.
LONGEST = 600


class Load(threading.Thread):
    """Loads, one after the other, for so many seconds. Faults make actions fail, and nobody can sign in while the gateway is gone."""

    def __init__(self, system, seconds):
        super().__init__(daemon=True)
        self.system, self.seconds, self.end, self.process = system, seconds, time.monotonic() + seconds, None
        # How many actions were done, what the last load said, and a fault of this script.
        self.done, self.said, self.failure = 0, "", None
        self.start()

    def run(self):
        try:
            self.repeat()
        except Exception as error:
            self.failure = error

    def repeat(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "record.json")
            while (left := int(self.end - time.monotonic())) > 0:
                record.unlink(missing_ok=True)
                self.process = subprocess.Popen(
                    [self.system.vestibule, "load", "--scenario", "mixed", "--rate", str(RATE), "--for", f"{min(left, LONGEST)}s",
                     "--record", record, "--state", self.system.state],
                    env={**os.environ, **LIMITS}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.said = self.process.communicate()[0]
                if record.exists():
                    actions = json.loads(record.read_text())["actions"]
                    self.done += actions["count"] - sum(actions["errors"].values())
                else:
                    # Its people could not sign in.
                    time.sleep(1)

    def failures(self):
        """What is wrong if not even half of the actions were done."""
        if not self.failure and self.done < RATE * self.seconds / 2:
            self.failure = RuntimeError(f"the load did {self.done} actions in {self.seconds} s: {self.said[-500:]}")
        return [self.failure] if self.failure else []

    def stop(self):
        """Ends it before its time."""
        self.end = 0
        while self.is_alive():
            if self.process and self.process.poll() is None:
                self.process.terminate()
            self.join(1)
