"""The services of `scripts/ha-test`, each a process, with the connection strings of several database hosts."""

import json
import os
import pathlib
import subprocess

import chaos_people
from browser import ROOT, free_port
from chaos_end import SCHEMAS
from ha_cluster import DATABASES, await_, expect
from local_system import LIMITS

# The services that count people for statistics.
COUNTING = ["profile", "questionnaire", "visual-preference"]
# What a service reads for the short time that a development system is there.
DEVELOPMENT = {"VESTIBULE_PROFILE": "development", "VERIFICATION_JUDGE": "local", "VERIFICATION_HTTP": "127.0.0.1:0",
               "VISUAL_PREFERENCE_HTTP": "127.0.0.1:0", "AUTH_OTP_PREFIX_BREAKER": "off"}


class Target:
    """The programs beside a cluster."""

    def __init__(self, programs, cluster, folder, logs):
        self.programs, self.cluster, self.folder, self.logs = pathlib.Path(programs), cluster, pathlib.Path(folder), logs
        self.state, self.port, self.processes = self.folder / "state", free_port(), {}
        self.secrets = self.folder / "secrets"

    def make_secrets(self):
        """Makes the secrets, with strings that name each database host: the steps of docs/operations/failover.md."""
        subprocess.run([ROOT / "deploy/make-secrets", self.secrets], check=True, stdout=subprocess.DEVNULL)

    def connect_to_hosts(self):
        certificate = self.folder / "tls/authority.crt"
        for path in [*self.secrets.glob("*-database"), *self.secrets.glob("*-database-owner")]:
            text = path.read_text().replace("host=postgres", f"host={','.join(DATABASES)}")
            path.write_text(text.replace("/run/secrets/database-certificate", str(certificate)))

    def variables(self):
        """The variables of all programs."""
        bus = f"ipc:{self.state}/bus"
        given = DEVELOPMENT | LIMITS | {
            "BUS_BIND": bus, "BUS_ALLOWED": f"{self.secrets}/bus/allowed", "SPOOL_DIR": f"{self.state}/spool",
            "AUDIT_ANCHOR_FOLDER": f"{self.state}/audit", "GATEWAY_HTTP": f"127.0.0.1:{self.port}",
            "VERIFICATION_BLOBS": f"{self.state}/pictures", "VERIFICATION_KEY_STORE": f"{self.state}/picture-keys"}
        for service in SCHEMAS:
            prefix = service.replace("-", "_").upper()
            given |= {f"BUS_{prefix}": bus, f"{prefix}_DATABASE_URL_FILE": f"{self.secrets}/{service}-database",
                      f"{prefix}_KEYS_FILE": f"{self.secrets}/{service}-keys"}
            if service in COUNTING:
                given[f"{prefix}_STATISTICS_HOST"] = ",".join(DATABASES)
        return given

    def start(self):
        for each in ("bus", "spool", "audit", "pictures", "picture-keys"):
            (self.state / each).mkdir(parents=True, mode=0o700)
        owners = {f"{each.replace('-', '_').upper()}_DATABASE_OWNER_URL_FILE": f"{self.secrets}/{each}-database-owner" for each in SCHEMAS}
        self.command("migrate", **owners)
        for each in [*SCHEMAS, "gateway"]:
            self.start_program(each)
        caller = chaos_people.Caller(self.port)
        await_(lambda: caller.send("GET", "/readyz").result == "acknowledged", "all services")
        self.count_people()

    def count_people(self):
        """The funnel is counted on a standby, and the primary has no connection for statistics."""
        self.command("funnel", BUS_KEY_FILE=f"{self.secrets}/operator-bus-key")
        counted = "SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name LIKE 'vestibule-%-statistics/%'"
        expect(not self.query(counted), "no connection for statistics on the primary")
        standbys = [each for each in self.cluster.databases if each != self.cluster.primary()]
        found = {user for standby in standbys for [user] in self.cluster.rows(standby, counted)}
        expect(len(found) == len(COUNTING), f"connections of {', '.join(COUNTING)} on the standbys, saw {', '.join(found)}")
        # A backend says what it ran last.
        ended = f"{counted} AND query = 'COMMIT'"
        expect([["profile"]] in [self.cluster.rows(standby, ended) for standby in standbys], "a count on a standby")

    def start_program(self, name):
        program = self.programs / ("Gateway" if name == "gateway" else "".join(map(str.capitalize, name.split("-"))) + "Service")
        # A program refuses a variable that it does not know.
        known = {each["name"] for each in json.loads(subprocess.check_output([program, "--describe-config"]))}
        given = {key: value for key, value in self.variables().items() if key.removesuffix("_FILE") in known}
        given |= {"BUS_KEY_FILE": f"{self.secrets}/{name}-bus-key", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        with open(self.logs / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen([program], env=given, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def command(self, *arguments, **variables):
        done = subprocess.run([self.programs / "vestibule", *arguments], capture_output=True, text=True,
                              env=self.variables() | variables | {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        if done.returncode != 0:
            raise OSError(f"vestibule {arguments[0]}: {(done.stdout + done.stderr).strip()}")
        return done.stdout

    # What `chaos_end` asks

    def query(self, sql):
        return self.cluster.query(sql)

    def is_audit_whole(self):
        try:
            return bool(self.command("audit", "verify"))
        except OSError:
            return False

    def ended_by_themselves(self):
        return [name for name, each in self.processes.items() if each.poll() is not None]
