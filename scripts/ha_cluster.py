"""The database of `scripts/ha-test`: three hosts of it, etcd and a repository of backups, from the files of deploy/ha."""

import http.client
import json
import pathlib
import ssl
import subprocess

import ha_hosts
from browser import ROOT
from chaos_end import wait

DATABASES, ETCD, BACKUP = ["db1", "db2", "db3"], "etcd1", "backup"
FILES = ROOT / "deploy/ha"
TLS = "etc/vestibule/tls"
PATRONI = "/etc/patroni/config.yml"
BINARIES = "/usr/lib/postgresql/15/bin"
# How long a host that does not answer is waited for, in seconds.
PATIENCE = 3


class Unexpected(Exception):
    """What was expected, and what was seen."""


def expect(is_so, what):
    if not is_so:
        raise Unexpected(what)


def await_(is_there, what):
    expect(wait(is_there), f"{what}: not within three minutes")


class Cluster:
    """Three hosts with Patroni, one with etcd, one with the repository."""

    def __init__(self, folder, logs):
        self.folder, self.logs = pathlib.Path(folder), pathlib.Path(logs)
        hosts = ha_hosts.make_network(folder, [*DATABASES, ETCD, BACKUP])
        self.hosts = {each.name: each for each in hosts}
        self.databases = [self.hosts[each] for each in DATABASES]
        # Hosts that are killed, frozen or cut off are not asked.
        self.away = set()
        # The last primary that was asked.
        self.last = None

    def start(self, passwords):
        """Makes the cluster with the roles of a file of passwords, and a first backup."""
        ha_hosts.run(FILES / "make-certificates", self.folder / "tls", *self.hosts)
        self.context = ssl.create_default_context(cafile=self.folder / "tls/authority.crt")
        self.context.load_cert_chain(self.folder / "tls/db1/host.crt", self.folder / "tls/db1/host.key")
        for name, host in self.hosts.items():
            self.configure(host, "etcd" if name == ETCD else "postgres")
        self.start_etcd()
        self.start_backup_server(self.hosts[BACKUP])
        self.start_database(self.databases[0])
        await_(lambda: self.leader(), "a first primary")
        for each in self.databases[1:]:
            self.start_database(each)
        self.await_whole()
        primary = self.primary()
        primary.run("createdb", "vestibule", user="postgres")
        roles = subprocess.run([ROOT / "deploy/roles-and-schemas"], stdin=open(passwords), capture_output=True, text=True, check=True)
        primary.run("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", "vestibule", "-f", "-", user="postgres", input=roles.stdout)
        self.backup("stanza-create")
        self.backup("backup")

    def configure(self, host, user):
        """Puts the files of deploy/ha where a host of this kind has them."""
        for each in ("authority.crt", "host.crt", "host.key"):
            host.put(f"{TLS}/{each}", (self.folder / "tls" / host.name / each).read_text(), user, 0o600)
        if host.name == ETCD:
            host.folder("var/lib/etcd", user)
        elif host.name == BACKUP:
            host.put("etc/pgbackrest.conf", (FILES / "pgbackrest-repository.conf").read_text(), user)
        else:
            host.put("etc/pgbackrest.conf", (FILES / "pgbackrest-database.conf").read_text(), user)
            host.put("etc/patroni/config.yml", (FILES / "patroni.yml").read_text().replace("HOST", host.name), user)
            host.folder("run/postgresql", user)

    def start_etcd(self):
        lines = [line for line in (FILES / "etcd").read_text().splitlines() if line and not line.startswith("#")]
        self.hosts[ETCD].start(self.logs / "etcd.log", "etcd", user="etcd", **dict(line.split("=", 1) for line in lines))

    def start_backup_server(self, host):
        host.start(self.logs / f"{host.name}-pgbackrest.log", "pgbackrest", "server", user="postgres")

    def start_database(self, host):
        """Starts what systemd starts on a database host."""
        self.start_backup_server(host)
        host.start(self.logs / f"{host.name}.log", "patroni", PATRONI, user="postgres")
        self.away.discard(host.name)

    def kill(self, host):
        """All of it, as when the host loses its power."""
        self.away.add(host.name)
        return host.kill("postgres")

    def backup(self, command, *options):
        """A command of pgBackRest at the repository."""
        return self.hosts[BACKUP].run("pgbackrest", "--stanza=vestibule", *options, command, user="postgres")

    def control(self, *arguments):
        """A command of patronictl on a host that is there."""
        [host, *_] = self.present()
        return host.run("patronictl", "-c", PATRONI, *arguments, user="postgres")

    # What there is

    def present(self):
        return [each for each in self.databases if each.name not in self.away]

    def members(self):
        """What the first host that answers says of each member: its role, state, timeline and lag."""
        for host in self.present():
            connection = http.client.HTTPSConnection(host.name, 8008, timeout=PATIENCE, context=self.context)
            try:
                connection.request("GET", "/cluster")
                return {each["name"]: each for each in json.loads(connection.getresponse().read())["members"]}
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                continue
            finally:
                connection.close()
        return {}

    def leader(self):
        """The name of the primary, if it takes writes."""
        leaders = [name for name, each in self.members().items() if each["role"] == "leader" and name not in self.away]
        return next((each for each in leaders if self.is_primary(self.hosts[each])), None)

    def is_primary(self, host):
        return self.ask(host, "SELECT pg_is_in_recovery()", "postgres") == [["f"]]

    def primary(self):
        await_(self.leader, "a primary")
        return self.hosts[self.leader()]

    def with_role(self, role):
        return [self.hosts[name] for name, each in self.members().items() if each["role"] == role and name not in self.away]

    def is_whole(self):
        """Whether a primary has its synchronous standby, and a second one beside it that is as far."""
        members = self.members()
        synchronous = [name for name, each in members.items() if each["role"] == "sync_standby"]
        roles = sorted(each["role"] for each in members.values())
        if roles != ["leader", "replica", "sync_standby"] or len({each.get("timeline") for each in members.values()}) > 1:
            return False
        # Patroni may know before the database, or after it.
        standbys = self.query("SELECT application_name, sync_state FROM pg_stat_replication WHERE state = 'streaming'", "postgres")
        return len(standbys) == 2 and [name for name, state in standbys if state == "sync"] == synchronous

    def await_whole(self):
        def is_whole():
            try:
                return self.is_whole()
            except OSError:
                return False
        await_(is_whole, "three hosts that are in step")

    def timeline(self):
        return int(self.query("SELECT timeline_id FROM pg_control_checkpoint()", "postgres")[0][0])

    # Rows

    def query(self, sql, database="vestibule"):
        """Rows of the primary, each a list of texts."""
        place = f"dbname={database} target_session_attrs=read-write"
        if self.last and self.last.name not in self.away and (rows := self.ask(self.last, sql, place)) is not None:
            return rows
        if not (leader := self.leader()):
            raise OSError("there is no primary")
        self.last = self.hosts[leader]
        return self.rows(self.last, sql, place)

    def rows(self, host, sql, database="vestibule"):
        done = self.psql(host, sql, database)
        if done.returncode != 0:
            raise OSError(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]

    def ask(self, host, sql, database="vestibule"):
        """The same; `None` where the host does not answer."""
        try:
            return self.rows(host, sql, database)
        except (OSError, subprocess.TimeoutExpired):
            return None

    def psql(self, host, sql, database="vestibule", patience=60):
        return host.ask("psql", "-qAt", "-F", "\t", "-d", database, "-c", sql, user="postgres", timeout=patience)
