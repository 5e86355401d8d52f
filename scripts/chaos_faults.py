"""What `scripts/chaos` does to a running system. Each fault ends what it began, whatever happens meanwhile."""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import chaos_relay
from local_system import System

# How long a replica that was asked to end may take until its successor listens, in seconds.
SUCCESSION = 30
# So many pieces, or seconds, show that the callers of a replica use it.
IN_USE = 300, 4


# How often a file system is made smaller that grows meanwhile.
FILLINGS = 1000


class Cannot(Exception):
    """This machine does not allow the fault."""


class Nobody(OSError):
    """What the fault is for is not there, or the fault has touched nothing of it."""


class Disk:
    """A file system of its own for a folder, which can be made full. Only root may have one."""

    def __init__(self, folder):
        self.folder, self.why_not = folder, None

    def mount(self):
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4g,mode=711", "chaos", self.folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.why_not = mounted.stderr.strip()

    @contextlib.contextmanager
    def full(self):
        """Has no free page meanwhile."""
        if self.why_not:
            raise Cannot(self.why_not)
        try:
            # A file system that is made as small as what it holds is full. What it holds may have grown meanwhile.
            if not any(self._resize(self._held()) for _ in range(FILLINGS)):
                raise OSError("the disk cannot be made full")
            yield
        finally:
            self._resize(4 << 30)

    def _held(self):
        pages = os.statvfs(self.folder)
        return (pages.f_blocks - pages.f_bfree) * pages.f_frsize

    def _resize(self, size):
        return subprocess.run(["mount", "-o", f"remount,size={size}", self.folder], capture_output=True).returncode == 0

    def close(self):
        subprocess.run(["umount", "--lazy", self.folder], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Target:
    """A system that faults are done to, with a relay before its gateway."""

    def __init__(self, programs, port, kept=()):
        self.system = System(programs, port)
        self.disk = Disk(self.system.folder)
        # Processes that are neither killed nor ended.
        self.kept = kept
        path = hashlib.sha256(self.system.state.encode()).hexdigest()[:10]
        self.sockets = pathlib.Path(f"/tmp/vestibule-{os.getuid()}-{path}")
        self.gateway, self.port = chaos_relay.before_gateway(port)
        # Set when every fault has to end.
        self.over = threading.Event()
        # The processes that a fault killed or ended, and the faults of this script.
        self.ended, self.failures = set(), []

    def start(self, scale):
        self.disk.mount()
        self.system.start("--scale", ",".join(f"{each}={scale}" for each in
                                              ("auth", "profile", "questionnaire", "recovery", "visual-preference", "verification")))

    def close(self):
        with contextlib.ExitStack() as ends:
            # The last one is first, and each is done whatever becomes of the others.
            ends.callback(self.disk.close)
            ends.callback(shutil.rmtree, self.sockets, ignore_errors=True)
            ends.callback(self.system.stop)
            ends.callback(self.gateway.close)

    def query(self, sql):
        """Rows of the database, each a list of texts."""
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        place = ["-h", self.sockets / "pg", "-U", "postgres", "-d", "vestibule"]
        done = subprocess.run([*user, "psql", *place, "-qAt", "-F", "\t", "-c", sql], capture_output=True, text=True)
        if done.returncode != 0:
            # psql ends with 2 where the database is away.
            raise (Nobody if done.returncode == 2 else OSError)(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]

    def is_audit_whole(self):
        return subprocess.run([self.system.vestibule, "audit", "verify", "--state", self.system.state], capture_output=True).returncode == 0

    def ended_by_themselves(self):
        """The processes that ended in another way than a fault ends one, or that no fault ended."""
        log = pathlib.Path(self.system.state, "logs/supervisor.log")
        found = []
        for line in log.read_text().splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                # A disk that was full cuts a line off.
                continue
            is_meant = said.get("pid") in self.ended and (said.get("signal") in ("SIGKILL", "SIGTERM") or said.get("exitCode") == 0)
            if said.get("event") == "process_ended" and not is_meant:
                found.append(said)
        return found

    # Faults

    def do(self, fault):
        """Does one fault, waits until it is over, and says to what it was done."""
        kind, _, rest = fault["fault"].partition("-")
        seconds = fault["for"] / 1000
        if kind in ("kill", "stop", "end"):
            name = rest or self.name(fault)
            if kind != "stop" and name in self.kept:
                name = self.name(fault | {"replica": 1})
            return getattr(self, kind)(name, seconds)
        if kind == "client":
            return "the network before the gateway, " + self.disturb(self.gateway, rest, fault["seed"], seconds)
        if kind == "bus":
            return self.disturb_bus(fault["service"], rest, fault["seed"], seconds)
        return getattr(self, fault["fault"].replace("-", "_"))(seconds)

    def name(self, fault):
        """The process of a replica, as the supervisor names it."""
        return fault["service"] + (f"-{fault['replica'] + 1}" if fault["replica"] else "")

    def signal(self, name, number):
        """Sends a signal to a process, and returns its number."""
        process = self.system.processes().get(name)
        if not process or not self._send(process, number):
            raise Nobody(f"{name} does not run")
        return process

    def _send(self, process, number):
        """Whether the process was there."""
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.ended.add(process)
        try:
            os.kill(process, number)
        except ProcessLookupError:
            return False
        return True

    def kill(self, name, _):
        self.signal(name, signal.SIGKILL)
        return name

    def end(self, name, _):
        self.signal(name, signal.SIGTERM)
        return name

    def stop(self, name, seconds):
        process = self.signal(name, signal.SIGSTOP)
        try:
            self.over.wait(seconds)
        finally:
            self._send(process, signal.SIGCONT)
        return name

    def disturb(self, relay, mode, seed, seconds):
        before = relay.touched
        try:
            relay.behave(mode, seed)
            self.over.wait(seconds)
        finally:
            relay.behave("pass")
        if relay.touched == before:
            raise Nobody("no piece came")
        return f"{relay.touched - before} pieces"

    def disturb_bus(self, service, mode, seed, seconds):
        """A replica ends in order. The network between its successor and all callers turns bad once they use it."""
        folder, moved = self.sockets / "bus", self.sockets / "moved"
        moved.mkdir(exist_ok=True)
        before = set(folder.glob(f"{service}-[0-9a-f]*.sock"))
        self.signal(f"{service}-2", signal.SIGTERM)
        end = time.monotonic() + SUCCESSION
        while not (came := set(folder.glob(f"{service}-[0-9a-f]*.sock")) - before):
            if self.over.wait(0.005) or time.monotonic() > end:
                raise Nobody(f"no successor of {service}-2 came")
        path = came.pop()
        try:
            relay = chaos_relay.before_replica(str(path), str(moved / path.name))
        except FileNotFoundError:
            raise Nobody(f"the successor of {service}-2 has gone")
        try:
            end = time.monotonic() + IN_USE[1]
            while relay.carried < IN_USE[0] and time.monotonic() < end and not self.over.wait(0.005):
                pass
            touched = self.disturb(relay, mode, seed, seconds)
        finally:
            chaos_relay.leave_replica(relay, str(path), str(moved / path.name))
        return f"the network before {service}-2, {touched}"

    def postmaster(self):
        """The database's first process; none while it does not run."""
        try:
            return int(pathlib.Path(self.system.state, "postgres/postmaster.pid").read_text().splitlines()[0])
        except (FileNotFoundError, IndexError):
            return None

    def database_backends(self, _):
        ended = self.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'vestibule' AND pid <> pg_backend_pid()")
        if not ended:
            raise Nobody("nobody is connected to the database")
        return f"{len(ended)} backends"

    def database_stopped(self, _):
        return self._signal_database(signal.SIGINT)

    def database_crashed(self, _):
        return self._signal_database(signal.SIGQUIT)

    def _signal_database(self, number):
        process = self.postmaster()
        if not process or not self._send(process, number):
            raise Nobody("the database does not run")
        return "the database"

    def database_frozen(self, seconds):
        first = self.postmaster()
        if not first:
            raise Nobody("the database does not run")
        processes = [first, *map(int, self.system.backends())]
        try:
            frozen = sum(self._send(each, signal.SIGSTOP) for each in processes)
            self.over.wait(seconds)
        finally:
            for each in processes:
                self._send(each, signal.SIGCONT)
        if not frozen:
            raise Nobody("the database does not run")
        return f"the database's {frozen} processes"

    def disk_full(self, seconds):
        with self.disk.full():
            self.over.wait(seconds)
        return "the disk of the database, the spool and the logs"


def carry_out(target, faults, note):
    """Does each fault at its time, beside one that lasts. `note` is called with each once it is over."""
    began = time.monotonic()

    def tried(fault):
        try:
            return target.do(fault), "some"
        except Nobody as why:
            return f"nobody: {why}", "none"

    def one(fault):
        started = time.monotonic()
        try:
            done, effect = tried(fault)
            # Another fault may have killed the replica whose network was to turn bad.
            if effect == "none" and not target.over.is_set():
                done, effect = tried(fault)
        except Cannot as why:
            done, effect = f"skipped: {why}", "skipped"
        except Exception as error:
            # A fault of this script, which the run reports.
            target.failures.append(error)
            return target.over.set()
        note(fault | {"done": done, "effect": effect, "began": started, "ended": time.monotonic()})
    running = []
    for fault in faults:
        if target.over.wait(max(0, began + fault["at"] / 1000 - time.monotonic())):
            break
        running.append(threading.Thread(target=one, args=(fault,)))
        running[-1].start()
    for each in running:
        each.join()
