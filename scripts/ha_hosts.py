"""Hosts on one machine for `scripts/ha-test`: each has a network, processes and files of its own.

The caller is in namespaces of its own already (`enter`), so that all of it ends with the caller, whatever happens.
"""

import os
import pathlib
import pwd
import signal
import subprocess

# What a host is asked with knows nothing of the caller.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
NETWORK = "10.203.114"
# The first process of a host. Its files are the machine's, and what it changes of them it keeps for itself. It collects the
# processes that end, as a first process does.
FIRST = """set -e
mount -t overlay overlay -o lowerdir=/,upperdir=$1/upper,workdir=$1/work $1/root
mount --rbind /dev $1/root/dev
mount -t proc proc $1/root/proc
mount -t tmpfs tmpfs $1/root/run
ip link set lo up
exec chroot $1/root bash -c 'echo ready; while :; do sleep 1000; done'"""


def enter(command):
    """Runs a command in namespaces of its own, and ends it with everything that it started. Its exit code."""
    # It ends with this process even if that is killed.
    inside = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--net", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child",
         "--", *command])

    asked = []

    def end(number, _):
        asked.append(number)
        inside.kill()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, end)
    code = inside.wait()
    return 128 + asked[0] if asked else code


def make_network(folder, names):
    """Makes the network that the caller and the hosts share, with names for their addresses."""
    # The files of the hosts lie in memory: a file system cannot lie over itself.
    run("mount", "-t", "tmpfs", "-o", "mode=711", "tmpfs", folder)
    lines = [f"{address(number)} {name}\n" for number, name in enumerate(names, 11)]
    hosts = pathlib.Path(folder, "hosts")
    hosts.write_text("127.0.0.1 localhost\n" + "".join(lines))
    run("mount", "--bind", hosts, "/etc/hosts")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "net", "type", "bridge")
    run("ip", "address", "add", f"{address(1)}/24", "dev", "net")
    run("ip", "link", "set", "net", "up")
    return [Host(folder, name, address(number), hosts.read_text()) for number, name in enumerate(names, 11)]


def address(number):
    return f"{NETWORK}.{number}"


def run(*command):
    """What a command prints. It has to go well."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, command[:6]))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Host:
    """A host of the network."""

    def __init__(self, folder, name, address, hosts):
        self.name, self.address = name, address
        place = pathlib.Path(folder, name)
        for each in ("upper", "work", "root"):
            (place / each).mkdir(parents=True)
        unshare = ["unshare", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--", "sh", "-c", FIRST, "sh", place]
        self.outer = subprocess.Popen(unshare, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True)
        if self.outer.stdout.readline() != "ready\n":
            raise OSError(f"{name} does not start")
        [self.first] = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", self.first)
        run("ip", "link", "set", name, "master", "net", "up")
        self.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.put("etc/hosts", hosts)

    def path(self, path):
        """Where a file of the host is for the caller."""
        return pathlib.Path(f"/proc/{self.first}/root", path)

    def put(self, path, text, user="root", mode=0o644):
        """Writes a file of the host."""
        place = self.path(path)
        self.folder(str(pathlib.Path(path).parent))
        place.write_text(text)
        place.chmod(mode)
        os.chown(place, *owner(user))

    def folder(self, path, user="root"):
        if not self.path(path).exists():
            self.path(path).mkdir(parents=True)
            os.chown(self.path(path), *owner(user))

    def command(self, *arguments, user="root"):
        """What runs a command on the host."""
        return ["nsenter", "--target", self.first, "--mount", "--net", "--ipc", "--pid", "--root", "--",
                "env", "-C", "/", "setpriv", "--reuid", user, "--regid", user, "--init-groups", "--", *map(str, arguments)]

    def run(self, *arguments, user="root", **options):
        """What a command prints. It has to go well."""
        done = self.ask(*arguments, user=user, **options)
        if done.returncode != 0:
            raise OSError(f"{self.name}: {' '.join(map(str, arguments[:3]))}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def ask(self, *arguments, user="root", **options):
        """A command, however it ended."""
        return subprocess.run(self.command(*arguments, user=user), capture_output=True, text=True, env=ENVIRONMENT, **options)

    def start(self, log, *arguments, user="root", **variables):
        """Starts a program that goes on."""
        with open(log, "a") as file:
            subprocess.Popen(self.command(*arguments, user=user), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                             env=ENVIRONMENT | variables, start_new_session=True)

    def processes(self, user):
        """The processes of a user."""
        space, (number, _) = os.readlink(f"/proc/{self.first}/ns/pid"), owner(user)
        found = []
        for each in pathlib.Path("/proc").iterdir():
            try:
                if each.name.isdigit() and each.stat().st_uid == number and os.readlink(each / "ns/pid") == space:
                    found.append(int(each.name))
            except OSError:
                # It has ended.
                continue
        return found

    def signal(self, user, number, is_reached):
        """Sends a signal to all processes of a user until each is reached, and returns how many there were."""
        reached = set()
        while waiting := [each for each in self.processes(user) if not is_reached(each)]:
            for each in waiting:
                try:
                    os.kill(each, number)
                    reached.add(each)
                except ProcessLookupError:
                    continue
        return len(reached)

    def kill(self, user):
        return self.signal(user, signal.SIGKILL, lambda process: state(process) in ("Z", ""))

    def freeze(self, user):
        return self.signal(user, signal.SIGSTOP, lambda process: state(process) in ("T", "Z", ""))

    def thaw(self, user):
        return self.signal(user, signal.SIGCONT, lambda process: state(process) != "T")

    def cut(self):
        run("ip", "link", "set", self.name, "down")

    def join(self):
        run("ip", "link", "set", self.name, "up")


def owner(user):
    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def state(process):
    """The state of a process as the kernel names it; empty once it has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return ""
