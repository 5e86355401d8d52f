"""A system on this machine for measurements, and people who are signed in to it."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

# Measurements send more requests and codes than a person would. The limit of requests is so high that nobody meets it: what it counts is a
# part of each request.
LIMITS = {
    "LOG_LEVEL": "warning", "GATEWAY_RATE_LIMIT": "1000000", "AUTH_OTP_PER_ADDRESS_HOUR": "100000", "AUTH_OTP_RESEND_AFTER": "1s",
    "AUTH_OTP_PER_HOUR": "100", "AUTH_SMS_PER_HOUR": "off", "AUTH_SMS_PER_HOUR_COUNTRY": "off",
}


def processor_time(process):
    """Nanoseconds of processor time of a process, also of its threads that have ended; 0 if the process has ended."""
    try:
        # The kernel's clock of a process (clock_getcpuclockid).
        return time.clock_gettime_ns(~int(process) << 3 | 2)
    except OSError:
        return 0


class System:
    """A system of the programs of one folder, in a new folder of its own."""

    def __init__(self, programs, port):
        self.programs, self.port = programs, port
        self.vestibule = os.path.abspath(f"{programs}/vestibule")
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o711)
        self.state = f"{self.folder}/state"

    def run(self, *arguments):
        """What `vestibule` prints."""
        done = subprocess.run([self.vestibule, *arguments, "--state", self.state], env={**os.environ, **LIMITS},
                              capture_output=True, text=True)
        assert done.returncode == 0, f"vestibule {arguments[0]}: {(done.stdout + done.stderr).strip()}"
        return done.stdout

    def start(self, *options):
        self.run("up", "--detach", "--http", f"127.0.0.1:{self.port}", *options)
        self.connect()

    def connect(self):
        """All requests go over one connection."""
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self.connection.request(method, path, body and json.dumps(body), headers)
        response = self.connection.getresponse()
        content = response.read()
        assert response.status < 300, f"{method} {path}: {response.status} {content[:300]}"
        return json.loads(content)

    def codes(self, phone):
        """The bodies of all SMS to a number."""
        spool = pathlib.Path(self.state, "spool/sms.jsonl")
        lines = spool.read_text().splitlines() if spool.exists() else []
        return [line["body"] for line in map(json.loads, lines) if line["to"] == phone]

    def sign_in(self, phone):
        """The answer to a sign-in by a code."""
        known = len(self.codes(phone))
        challenge = self.ask("POST", "/auth/otp/send", {"phone": phone})["challengeId"]
        end = time.monotonic() + 60
        while len(codes := self.codes(phone)) == known:
            assert time.monotonic() < end, "no SMS came within a minute"
            time.sleep(0.01)
        return self.ask("POST", "/auth/otp/verify", {
            "challengeId": challenge, "code": codes[-1][:6], "device": {"name": "bench", "platform": "web"}})

    def person(self, phone):
        """The same for somebody whose profile has the required fields."""
        session = self.sign_in(phone)
        self.ask("PATCH", "/users/me", {
            "displayName": "Åsa", "dateOfBirth": "1990-02-28", "gender": "female", "lookingFor": ["everyone"],
        }, session["accessToken"])
        return session

    def processes(self):
        """The process of each program, as the supervisor notes it."""
        noted = json.loads(pathlib.Path(self.state, "run.json").read_text())
        return {each["name"]: each["pid"] for each in noted["processes"] if not each["waits"]}

    def backends(self):
        """The processes that the database's first one has started."""
        first = pathlib.Path(self.state, "postgres/postmaster.pid").read_text().splitlines()[0]
        return subprocess.run(["pgrep", "-P", first], capture_output=True, text=True).stdout.split()

    def stop(self):
        subprocess.run([self.vestibule, "down", "--state", self.state], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
