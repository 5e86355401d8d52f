"""Strangers beside the people of a run: `vestibule load`, again and again."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

from local_system import LIMITS_OFF

# How many actions are begun in a second.
RATE = 10
# How many seconds a load lasts at most: its people sign in before it, and their tokens do not last much longer.
LONGEST = 600


class Load(threading.Thread):
    """Loads, one after the other, for so many seconds. Faults make actions fail, and nobody can sign in while the gateway is gone."""

    def __init__(self, system, seconds):
        super().__init__(daemon=True)
        self.system, self.end, self.process = system, time.monotonic() + seconds, None
        # How many actions ended, and what the last load said.
        self.done, self.said = 0, ""
        self.start()

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "record.json")
            while (left := int(self.end - time.monotonic())) > 0:
                record.unlink(missing_ok=True)
                self.process = subprocess.Popen(
                    [self.system.vestibule, "load", "--scenario", "mixed", "--rate", str(RATE), "--for", f"{min(left, LONGEST)}s",
                     "--record", record, "--state", self.system.state],
                    env={**os.environ, **LIMITS_OFF}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.said = self.process.communicate()[0]
                if record.exists():
                    self.done += json.loads(record.read_text())["actions"]["count"]
                else:
                    # Its people could not sign in.
                    time.sleep(1)

    def failures(self):
        """What is wrong if nothing was done."""
        return [] if self.done else [RuntimeError(f"the load did nothing: {self.said[-500:]}")]

    def stop(self):
        """Ends it before its time."""
        self.end = 0
        while self.is_alive():
            if self.process and self.process.poll() is None:
                self.process.terminate()
            self.join(1)
