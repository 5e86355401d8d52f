"""What `scripts/chaos` does to a running system. Each fault ends what it began, whatever happens meanwhile."""

import contextlib
import hashlib
import os
import pathlib
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


class Cannot(Exception):
    """This machine does not allow the fault."""


class Disk:
    """A file system of its own for a folder, which can be made full. Only root may have one."""

    def __init__(self, folder):
        self.folder, self.why_not = folder, None
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4g,mode=711", "chaos", folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.why_not = mounted.stderr.strip()

    def fill(self):
        if self.why_not:
            raise Cannot(self.why_not)
        # A file system that is made as small as what it holds has no free page. What it holds may have grown meanwhile.
        while not self._resize(self._held()):
            pass

    def empty(self):
        self._resize(4 << 30)

    def _held(self):
        pages = os.statvfs(self.folder)
        return (pages.f_blocks - pages.f_bfree) * pages.f_frsize

    def _resize(self, size):
        return subprocess.run(["mount", "-o", f"remount,size={size}", self.folder], capture_output=True).returncode == 0

    def close(self):
        if not self.why_not:
            subprocess.run(["umount", "--lazy", self.folder])
            os.rmdir(self.folder)


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

    def start(self, scale):
        self.system.start("--scale", ",".join(f"{each}={scale}" for each in
                                              ("auth", "profile", "questionnaire", "recovery", "visual-preference", "verification")))

    def close(self):
        self.gateway.close()
        self.system.stop()
        self.disk.close()

    def query(self, sql):
        """Rows of the database, each a list of texts."""
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        place = ["-h", self.sockets / "pg", "-U", "postgres", "-d", "vestibule"]
        done = subprocess.run([*user, "psql", *place, "-qAt", "-F", "\t", "-c", sql], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]

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
        process = self.system.processes().get(name)
        with contextlib.suppress(ProcessLookupError):
            if process:
                os.kill(process, number)
        return process

    def kill(self, name, _):
        self.signal(name, signal.SIGKILL)
        return name

    def end(self, name, _):
        self.signal(name, signal.SIGTERM)
        return name

    def stop(self, name, seconds):
        process = self.signal(name, signal.SIGSTOP)
        time.sleep(seconds)
        if process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        return name

    def disturb(self, relay, mode, seed, seconds):
        before = relay.touched
        relay.behave(mode, seed)
        time.sleep(seconds)
        relay.behave("pass")
        return f"{relay.touched - before} pieces"

    def disturb_bus(self, service, mode, seed, seconds):
        """A replica ends in order. The network between its successor and all callers turns bad once they use it."""
        folder, moved = self.sockets / "bus", self.sockets / "moved"
        moved.mkdir(exist_ok=True)
        before = set(folder.glob(f"{service}-[0-9a-f]*.sock"))
        self.signal(f"{service}-2", signal.SIGTERM)
        end = time.monotonic() + SUCCESSION
        while not (came := set(folder.glob(f"{service}-[0-9a-f]*.sock")) - before):
            if time.monotonic() > end:
                return f"nobody: no successor of {service}-2 came"
            time.sleep(0.005)
        path = came.pop()
        relay = chaos_relay.before_replica(str(path), str(moved / path.name))
        end = time.monotonic() + IN_USE[1]
        while relay.carried < IN_USE[0] and time.monotonic() < end:
            time.sleep(0.005)
        touched = self.disturb(relay, mode, seed, seconds)
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
        return f"{len(ended)} backends"

    def database_stopped(self, _):
        return self._signal_database(signal.SIGINT)

    def database_crashed(self, _):
        return self._signal_database(signal.SIGQUIT)

    def _signal_database(self, number):
        if process := self.postmaster():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        return "the database"

    def database_frozen(self, seconds):
        first = self.postmaster()
        if not first:
            return "nobody: the database does not run"
        frozen = [first, *map(int, self.system.backends())]
        self._each(frozen, signal.SIGSTOP)
        time.sleep(seconds)
        self._each(frozen, signal.SIGCONT)
        return f"the database's {len(frozen)} processes"

    def _each(self, processes, number):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def disk_full(self, seconds):
        self.disk.fill()
        time.sleep(seconds)
        self.disk.empty()
        return "the disk of the database, the spool and the logs"


def carry_out(target, faults, note):
    """Does each fault at its time, beside one that lasts. `note` is called with each once it is over."""
    began = time.monotonic()

    def one(fault):
        started = time.monotonic()
        try:
            done = target.do(fault)
        except Cannot as why:
            done = f"nobody: {why}"
        except OSError as error:
            # While the database is away, a fault that asks it finds nobody.
            done = f"nobody: {error}"
        note(fault | {"done": done, "began": started, "ended": time.monotonic()})
    running = []
    for fault in faults:
        time.sleep(max(0, began + fault["at"] / 1000 - time.monotonic()))
        running.append(threading.Thread(target=one, args=(fault,)))
        running[-1].start()
    for each in running:
        each.join()
