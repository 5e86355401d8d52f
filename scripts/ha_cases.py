"""What `scripts/ha-test` does to the database while people write, and what must hold of it."""

import contextlib
import threading
import time
import uuid

import chaos_crowd
import chaos_end
import chaos_people
import ha_figures
from ha_cluster import BINARIES, ETCD, Unexpected, await_, expect, wait

# How long nobody may be able to write, in seconds: after a loss, and in a planned switchover.
LOSS, PLANNED = 30, 10
# How long the services may take to find a new primary, from its first write on, in seconds.
FOUND = 10
# How long a primary is paused, in seconds.
PAUSED = 60
# How many changes show how fast people write.
CALM = 1000
# What a host is asked for itself, in a database that no service uses.
PROBE = "CREATE TABLE IF NOT EXISTS probe (id uuid PRIMARY KEY)"


class History(chaos_people.History):
    """A history whose lines stay at hand."""

    def __init__(self, path):
        super().__init__(path)
        # Each change counts once: a repeated one is answered without a write.
        self.lines, self.keys, self.acknowledged = [], set(), {"profiles": [], "answers": []}

    def note(self, **line):
        super().note(**line)
        self.lines.append(line)
        if line.get("call") == "change" and line["result"] == "acknowledged" and line["key"] not in self.keys:
            self.keys.add(line["key"])
            self.acknowledged["profiles" if line["object"].startswith("profile") else "answers"].append(line)

    def all_sent_after(self, moment):
        """The acknowledged changes that were sent after a moment."""
        return [each for of_kind in self.acknowledged.values() for each in of_kind if each["sent"] > moment]


class Run(chaos_crowd.Run):
    """A run whose people can be asked to hold still."""

    def __init__(self, history, port, state, pauses):
        super().__init__(history, port, state, pauses)
        self.gate, self.is_open, self.held = threading.Condition(), True, 0

    def pause(self, seconds):
        super().pause(seconds)
        with self.gate:
            self.held += 1
            self.gate.notify_all()
            self.gate.wait_for(lambda: self.is_open)
            self.held -= 1

    @contextlib.contextmanager
    def stillness(self, count):
        """So many writers hold still meanwhile, with no call on its way."""
        with self.gate:
            self.is_open = False
            expect(self.gate.wait_for(lambda: self.held == count, 60), f"{count} writers that hold still, saw {self.held}")
        try:
            yield
        finally:
            with self.gate:
                self.is_open = True
                self.gate.notify_all()


class Crowd(chaos_crowd.Crowd):
    """Devices of people: nobody has more than two, so that few are refused for another's change."""

    def begin(self):
        objects = (self.profiles + self.answers + self.told) * 2
        works = [each.write for each in objects] + [self.newcomers.write] * 2
        self.writers = [chaos_crowd.Writer(self.run, f"{self.seed} {place}", each) for place, each in enumerate(works)]


class Local:
    """Somebody on a host who writes to the database there, whatever the others say of that host."""

    def __init__(self, cluster, host, count=1):
        self.cluster, self.host, self.over = cluster, host, threading.Event()
        self.tried, self.accepted, self.first = [], [], None
        self.threads = [threading.Thread(target=self.write, daemon=True) for _ in range(count)]
        for each in self.threads:
            each.start()

    def write(self):
        while not self.over.is_set():
            row = str(uuid.uuid4())
            self.tried.append(row)
            done = self.cluster.psql(self.host, f"INSERT INTO probe VALUES ('{row}')", "postgres", patience=300)
            # A commit that no standby confirmed says so in a warning.
            if done.returncode == 0 and "WARNING" not in done.stderr:
                self.first = self.first or time.monotonic()
                self.accepted.append(row)
            self.over.wait(0.1)

    def end(self):
        self.over.set()
        for each in self.threads:
            each.join()


class Sampler(threading.Thread):
    """The most connections that a host's database had."""

    def __init__(self, cluster, host):
        super().__init__(daemon=True)
        self.cluster, self.host, self.most, self.over = cluster, host, 0, threading.Event()
        self.limit = int(cluster.rows(host, "SHOW max_connections")[0][0])
        self.start()

    def run(self):
        while not self.over.wait(0.3):
            rows = self.cluster.ask(self.host, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
            self.most = max(self.most, *[int(count) for [count] in rows or []], 0)

    def end(self):
        self.over.set()
        self.join()
        expect(self.most < self.limit, f"fewer than {self.limit} connections, saw {self.most}")
        return f"at most {self.most} of {self.limit} connections"


class Cases:
    """The cases, by the letters that `--only` takes."""

    def __init__(self, cluster, target, crowd, run, history, away):
        """`away` is how long a standby, and both of them in strict mode, are away, in seconds."""
        self.cluster, self.target, self.crowd, self.run, self.history, self.away = cluster, target, crowd, run, history, away
        self.first_timeline = cluster.timeline()
        cluster.query(PROBE, "postgres")

    def carry_out(self, letter):
        name, case = NAMES[letter]
        began = self.history.now()
        said = case(self)
        ended = self.history.now()
        sessions, renewed = self.look()
        counts = ha_figures.writes(self.history.lines, began, ended)
        lost = ha_figures.unknown(self.history.lines, began, ended)
        signing_in = ha_figures.unknown_sign_ins(self.history.lines, began, ended, sessions)
        renewing = ha_figures.unknown_renewals(self.history.lines, began, ended, renewed)
        for each in lost + signing_in + renewing:
            self.history.note(case=letter, unknown=each["key"], **each)

        def said_of(unknown):
            return f"{len(unknown)} unknown, of which {sum(each['isFound'] for each in unknown)} were found"
        print(f"{letter}. {name}: {said}; {counts['acknowledged']} acknowledged, {counts['refused']} refused; changes: {said_of(lost)}; "
              f"sign-ins: {said_of(signing_in)}; renewals: {said_of(renewing)}; {(ended - began) / 1000:.0f} s", flush=True)

    # What the cases have in common

    def rate(self):
        """How many changes are acknowledged in a second."""
        began = self.history.now()
        await_(lambda: len(self.history.all_sent_after(began)) >= CALM, f"{CALM} acknowledged changes")
        return CALM * 1000 / (self.history.now() - began)

    def look(self):
        """Notes what the last revisions are, while nobody writes: the database keeps a few of each object.

        It returns the sessions of each account, and when each person's session was renewed last.
        """
        with self.run.stillness(len(self.crowd.writers)):
            chaos_crowd.read_kept(self.target, self.crowd, self.history.note)
            # The database's hosts have the clock of this machine.
            offset = time.monotonic() - time.time()
            at = {session: self.history.at(moment + offset) for session, moment in chaos_end.renewed(self.target).items()}
            renewed = {f"session of {each.name}": at[each.session["sessionId"]] for each in self.crowd.people if each.session}
            return chaos_end.sessions(self.target), renewed

    def await_writes(self):
        """Waits until a change of a profile and one of an answer are acknowledged that were sent from now on."""
        now = self.history.now()
        for name, of_kind in self.history.acknowledged.items():
            await_(lambda: any(each["sent"] > now for each in of_kind[-50:]), f"acknowledged changes of {name}")

    def harmed(self, harm, limit):
        """The longest time in seconds without an acknowledged change, of profiles or of answers, from a harm on."""
        began = self.history.now()
        harm()
        self.await_writes()
        ended = self.history.now()
        self.look()
        pause = max(ha_figures.longest_pause([each["answered"] for each in of_kind], began, ended)
                    for of_kind in self.history.acknowledged.values()) / 1000
        expect(pause <= limit, f"at most {limit} s without writes, saw {pause:.1f} s")
        return pause

    def replaced(self, harm, limit):
        """As `harmed`, where another host becomes primary: that time, and how much of it passed after that host's first write."""
        primary = self.cluster.primary()
        others = [Local(self.cluster, each) for each in self.cluster.databases if each != primary]
        try:
            pause = self.harmed(harm, limit)
            await_(lambda: any(each.accepted for each in others), "a write to the new primary")
            self.await_writes()
        finally:
            for each in others:
                each.end()
        accepted = [each.first for each in others if each.first]
        expect(len(accepted) == 1, f"one host that takes writes in the primary's place, saw {len(accepted)}")
        found = max(ha_figures.next_after(self.history.at(accepted[0]), [each["answered"] for each in of_kind])
                    for of_kind in self.history.acknowledged.values()) / 1000
        expect(found <= FOUND, f"that the services find the new primary within {FOUND} s, saw {found:.1f} s")
        return f"{pause:.1f} s without writes, of which {found:.1f} s after the new primary's first write"

    def await_successor(self, former):
        await_(lambda: self.cluster.leader() not in (None, former.name), f"another primary than {former.name}")

    def refused_all(self, local):
        """Nothing that somebody wrote to a former primary was accepted, or is there now."""
        local.end()
        expect(local.tried, "writes to the former primary")
        expect(not local.accepted, f"that the former primary accepts nothing, saw {len(local.accepted)} of {len(local.tried)}")
        words = ", ".join(f"'{each}'" for each in local.tried)
        found = self.cluster.query(f"SELECT id FROM probe WHERE id IN ({words})", "postgres")
        expect(not found, f"that nothing of the former primary is left, saw {found}")
        return f"none of {len(local.tried)} local writes accepted or left"

    def compare(self):
        """All rows of the services are the same on each host."""
        with self.run.stillness(len(self.crowd.writers)):
            tables = self.cluster.query(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'")
            each = [f"SELECT '{name}', count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) FROM {name} t"
                    for [name] in tables]
            # Without an order, parallel workers return the tables in any.
            sql = " UNION ALL ".join(each) + " ORDER BY 1"

            unlike = {}

            def is_same():
                rows = self.cluster.query(sql)
                for host in self.cluster.databases:
                    unlike[host.name] = [one[0] for one, other in zip(rows, self.cluster.rows(host, sql)) if one != other]
                return not any(unlike.values())
            expect(wait(is_same), f"the same rows on three hosts within three minutes, saw other ones in {unlike}")
        return f"{len(tables)} tables the same on three hosts"

    # The cases

    def killed(self):
        primary = self.cluster.primary()
        timeline = self.cluster.timeline()
        said = self.replaced(lambda: self.cluster.kill(primary), LOSS)
        expect(self.cluster.leader() != primary.name, f"another primary than {primary.name}")
        self.cluster.start_database(primary)
        self.cluster.await_whole()
        return f"{said}; timeline {timeline} to {self.cluster.timeline()}; {self.compare()}"

    def switched_over(self):
        primary, [candidate] = self.cluster.primary(), self.cluster.with_role("sync_standby")

        def switch():
            self.cluster.control("switchover", "vestibule", "--leader", primary.name, "--candidate", candidate.name, "--force")
            self.await_successor(primary)
        said = self.replaced(switch, PLANNED)
        self.cluster.await_whole()
        return said

    def cut_off(self):
        primary, local = self.cluster.primary(), None

        def cut():
            nonlocal local
            primary.cut()
            self.cluster.away.add(primary.name)
            # From here on nothing that somebody writes there may be accepted.
            local = Local(self.cluster, primary)
        try:
            said = self.replaced(cut, LOSS)
            primary.join()
            self.cluster.away.discard(primary.name)
            self.cluster.await_whole()
        finally:
            if local:
                local.over.set()
        return f"{said}; {self.refused_all(local)}; {self.compare()}"

    def paused(self):
        primary = self.cluster.primary()
        began = time.monotonic()

        def freeze():
            self.cluster.away.add(primary.name)
            primary.freeze("postgres")
        said = self.replaced(freeze, LOSS)
        # They wait at its door when it thaws.
        local = Local(self.cluster, primary, 5)
        try:
            time.sleep(max(0, began + PAUSED - time.monotonic()))
            primary.thaw("postgres")
            self.cluster.away.discard(primary.name)
            self.cluster.await_whole()
        finally:
            local.over.set()
        return f"{said}; {self.refused_all(local)}; {self.compare()}"

    def without_standbys(self):
        primary, [synchronous], [other] = self.cluster.primary(), *map(self.cluster.with_role, ("sync_standby", "replica"))
        sampler = Sampler(self.cluster, primary)

        def lose_both():
            # One vanishes, one ends: the database learns of an end at once, and of the other by its silence.
            synchronous.cut()
            self.cluster.away.add(synchronous.name)
            self.cluster.kill(other)
        both = self.harmed(lose_both, LOSS)
        synchronous.join()
        self.cluster.away.discard(synchronous.name)
        await_(lambda: self.cluster.with_role("sync_standby"), "a synchronous standby")
        self.cluster.start_database(other)
        self.cluster.await_whole()

        def lose_one():
            self.cluster.kill(self.cluster.with_role("sync_standby")[0])
            time.sleep(self.away)
        one = self.harmed(lose_one, LOSS)
        for each in self.cluster.databases:
            if each.name in self.cluster.away:
                self.cluster.start_database(each)
        self.cluster.await_whole()
        said = sampler.end()
        return (f"{both:.1f} s without writes when both go, {one:.1f} s when one goes for {self.away} s; {said}; "
                f"strict: {self.without_standbys_strictly()}")

    def without_standbys_strictly(self):
        """No write is acknowledged until a standby is back."""
        primary = self.cluster.primary()
        self.set_strict("true")
        sampler = Sampler(self.cluster, primary)
        standbys = [each for each in self.cluster.databases if each != primary]
        for each in standbys:
            self.cluster.kill(each)
        gone = self.history.now()
        time.sleep(self.away)
        expect(not self.history.all_sent_after(gone), "that no write is acknowledged in strict mode")
        for each in standbys:
            self.cluster.start_database(each)
        self.await_writes()
        self.set_strict("false")
        self.cluster.await_whole()
        return f"none in {self.away} s, {sampler.end()}"

    def set_strict(self, value):
        self.cluster.control("edit-config", "vestibule", "--force", "--quiet", "--set", f"synchronous_mode_strict={value}")

    def without_etcd(self):
        etcd = self.cluster.hosts[ETCD]

        def lose():
            etcd.kill("etcd")
            await_(lambda: not any(map(self.cluster.is_primary, self.cluster.databases)), "no host that takes writes")
            self.cluster.start_etcd()
        pause = self.harmed(lose, LOSS)
        self.cluster.await_whole()
        return f"{pause:.1f} s without writes, where etcd is back once no host takes writes any more"

    def unconfirmed(self):
        said = [self.unconfirmed_by(function) for function in ("pg_cancel_backend", "pg_terminate_backend")]
        return "; ".join(said)

    def unconfirmed_by(self, function):
        """A backend is told to end its waiting for the standby. The caller must not read that the change is done."""
        profile = self.crowd.profiles[0]
        [standby] = self.cluster.with_role("sync_standby")
        answers = []

        def write():
            text = str(uuid.uuid4())
            answers.append(profile.person.call(
                chaos_people.Caller(self.run.port), "change", "PATCH", "/users/me", {"bio": text}, token=profile.person.token(),
                object=profile.name, key=text, value=text, read=lambda body: {"revision": body["revision"]}))
        waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = 'profile'"
        with self.run.stillness(len(self.crowd.writers)):
            [receiver] = self.cluster.rows(standby, "SELECT pid FROM pg_stat_wal_receiver")
            standby.run("kill", "-STOP", *receiver)
            try:
                writing = threading.Thread(target=write)
                writing.start()
                await_(lambda: self.cluster.query(f"SELECT {function}(pid) {waits}") or answers, "a backend that waits for the standby")
                writing.join()
            finally:
                standby.run("kill", "-CONT", *receiver)
        [answer] = answers
        expect(answer.status == 503, f"{function}: 503, saw {answer.status} {answer.body}")
        self.cluster.await_whole()
        return f"{function}: {answer.status} {answer.code}"

    def restored(self):
        """To a folder of a standby, from the backup of the first timeline."""
        while self.cluster.timeline() < self.first_timeline + 2:
            self.switched_over()
        before = self.history.now()
        [[moment]] = self.cluster.query("SELECT clock_timestamp()")
        after = self.history.now()
        self.await_writes()
        [[segment]] = self.cluster.query("SELECT pg_walfile_name(pg_switch_wal())")
        await_(lambda: self.cluster.query("SELECT last_archived_wal FROM pg_stat_archiver")[0][0] >= segment, "the segment in the archive")
        [host] = self.cluster.with_role("replica")
        place = "/var/lib/postgresql/15/restored"
        host.run("pgbackrest", "--stanza=vestibule", f"--pg1-path={place}", "--type=time", f"--target={moment}",
                 "--target-action=promote", "restore", user="postgres")
        alone = "-p 5433 -c listen_addresses='' -c archive_mode=off -c synchronous_standby_names=''"
        server = [f"{BINARIES}/pg_ctl", "-D", place, "-s"]
        host.run(*server, "-w", "-l", "/tmp/restored.log", "-o", alone, "start", user="postgres")
        try:
            restored = Restored(self.cluster, host)
            await_(lambda: restored.query("SELECT pg_is_in_recovery()") == [["f"]], "the end of the recovery")
            kept = {}

            def note(**line):
                if line["final"] == "kept":
                    kept[line["object"]] = line["revisions"]
            chaos_crowd.read_kept(restored, self.crowd, note)
            wrong = ha_figures.wrongly_restored(self.history.lines, kept, before, after)
            if wrong:
                raise Unexpected("; ".join(wrong[:5]))
            said = restored.query("SELECT timeline_id FROM pg_control_checkpoint()")[0][0]
        finally:
            host.run(*server, "-m", "immediate", "stop", user="postgres")
        return f"from timeline {self.first_timeline} to a moment of {self.cluster.timeline()}, now {said}"


class Restored:
    """A database that was restored to a folder of a host, beside the one that runs there."""

    def __init__(self, cluster, host):
        self.cluster, self.host = cluster, host

    def query(self, sql):
        done = self.host.ask("psql", "-qAt", "-F", "\t", "-p", 5433, "-d", "vestibule", "-c", sql, user="postgres")
        if done.returncode != 0:
            raise OSError(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]


NAMES = {
    "a": ("primary killed", Cases.killed),
    "b": ("planned switchover", Cases.switched_over),
    "c": ("primary cut off", Cases.cut_off),
    "d": ("primary paused", Cases.paused),
    "e": ("standbys gone", Cases.without_standbys),
    "f": ("commit not confirmed", Cases.unconfirmed),
    "g": ("restored to a moment", Cases.restored),
    "h": ("etcd gone", Cases.without_etcd),
}
