"""Plays the rendered manifests in podman, carries a person through them, and ends them as a cluster would. What a cluster does
beyond starting containers is done here by hand, from the same manifests: the probes, preStop, the Secrets' modes, and their
content, which podman 4.3 leaves in base64.

Usage: rehearsal.py FOLDER, with staging.yaml, production.yaml and secrets in it; as root, with a container engine, in
namespaces of its own.
"""

import base64
import copy
import ipaddress
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import yaml

import manifests

NETWORK = "vestibule"
CACHE_SECONDS = 30
# Everybody here comes from one address.
LIMITS = {
    "auth": {"AUTH_OTP_PER_ADDRESS_HOUR": "100000", "AUTH_OTP_PREFIX_BREAKER": "off", "AUTH_SMS_PER_HOUR": "off"},
    "gateway": {"GATEWAY_RATE_LIMIT": "100000"},
}
IMAGE, DATABASE_IMAGE = "localhost/vestibule:rehearsal", "localhost/vestibule-postgres:rehearsal"
# The names that the Deployments have, in the order in which they are started.
ORDER = ["auth", "profile", "questionnaire", "recovery", "visual-preference", "verification", "gateway"]


class Unexpected(Exception):
    """What was expected and what was seen."""


def playable(everything, workload, name, names):
    """The documents that podman plays for one pod of a workload, under a name.

    Podman has no use for ports and probes: it would publish each port of a pod at the same port of the machine, and start
    probes with systemd. Version 4.3 reads `optional` of a Secret without asking whether it is there.
    """
    template = copy.deepcopy(workload["spec"]["template"])
    spec = template["spec"]
    container = manifests.program(workload)
    for key in ("ports", "startupProbe", "readinessProbe", "livenessProbe", "lifecycle"):
        spec["containers"][0].pop(key, None)
    for volume in spec["volumes"]:
        if "secret" in volume:
            volume["secret"]["optional"] = False
    spec["dnsConfig"] = {"nameservers": [names.asked], "searches": [names.ZONE]}
    maps = {source["configMapRef"]["name"] for source in container["envFrom"]}
    maps |= {volume["configMap"]["name"] for volume in spec["volumes"] if "configMap" in volume}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": manifests.labels(workload)}, "spec": spec}
    return [*(everything.of("ConfigMap")[one] for one in sorted(maps)), pod]


def secret_modes(workload):
    """For each Secret of a workload, who the kubelet gives its files to, and their mode."""
    spec = workload["spec"]["template"]["spec"]
    return {
        volume["secret"]["secretName"]: (spec["securityContext"]["fsGroup"], volume["secret"]["defaultMode"])
        for volume in spec["volumes"] if "secret" in volume
    }


def probe_command(workload, kind, container, address):
    """What asks a probe."""
    probe = manifests.program(workload)[kind]
    if "exec" in probe:
        return ["exec", container, *probe["exec"]["command"]]
    port = next(one["containerPort"] for one in manifests.program(workload)["ports"] if one["name"] == probe["httpGet"]["port"])
    return ["curl", "-fsS", "--max-time", "5", f"http://{address}:{port}{probe['httpGet']['path']}"]


class Engine:
    """podman, with all that it keeps in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.base = [
            "podman", "--root", f"{folder}/storage", "--runroot", f"{folder}/run", "--network-config-dir", f"{folder}/networks",
            "--cgroup-manager", "cgroupfs", "--runtime", "runc", "--network-backend", "netavark",
        ]

    def run(self, *arguments):
        """The output of a podman command, which has to go well."""
        command = ["curl", *arguments[1:]] if arguments[0] == "curl" else [*self.base, *arguments]
        # The other engine's client has settings of its own.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DOCKER_")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            words = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
            raise Unexpected(f"expected {' '.join(arguments[:4])} to go well, saw: {words[-1]}")
        return done.stdout.strip()

    def logs(self, container):
        """What a container said, on both of its outputs."""
        return subprocess.run([*self.base, "logs", container], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def address(self, container):
        """Where a container is in the network."""
        networks = self.run("inspect", "--format", "{{json .NetworkSettings.Networks}}", container)
        return json.loads(networks)[NETWORK]["IPAddress"]


class Names:
    """The DNS of the network: a server that knows the pods, and before it one that pods ask, which may keep what it was told."""

    ZONE = "vestibule.svc.cluster.local"

    def __init__(self, engine, folder):
        self.folder = folder
        (network,) = json.loads(engine.run("network", "inspect", NETWORK))
        bridge, subnet = network["network_interface"], ipaddress.ip_network(network["subnets"][0]["subnet"])
        # A bridge without an address of its own takes another one with each pod, and pods go on to send to the former.
        (link,) = json.loads(subprocess.check_output(["ip", "-json", "link", "show", bridge]))
        subprocess.run(["ip", "link", "set", bridge, "address", link["address"]], check=True)
        # The last addresses are the last that pods get.
        self.knows, self.asked = str(subnet[-3]), str(subnet[-2])
        for address in (self.knows, self.asked):
            subprocess.run(["ip", "address", "add", f"{address}/{subnet.prefixlen}", "dev", bridge], check=True)
        self.addresses = {}
        self.write()
        self.authority = self.start(
            self.knows, f"--addn-hosts={self.folder}/hosts", f"--local-ttl={CACHE_SECONDS}", "--local=/cluster.local/", "--local=//")
        self.cache = None
        self.keep(0)

    def start(self, address, *arguments):
        return subprocess.Popen([
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--pid-file=",
            "--bind-interfaces", "--listen-address", address, *arguments])

    def keep(self, seconds):
        """Keeps each answer for that long, also that a name is not there."""
        if self.cache:
            self.cache.terminate()
            self.cache.wait()
        size = 1000 if seconds else 0
        self.cache = self.start(
            self.asked, f"--server={self.knows}", f"--cache-size={size}", f"--max-cache-ttl={seconds}", f"--neg-ttl={seconds}")

    def write(self):
        lines = [f"{address} {name}.{self.ZONE}\n" for address, name in self.addresses.values()]
        (self.folder / "hosts").write_text("".join(lines))

    def change(self, pod, entry=None):
        """A pod is there under an address and a name, or not any more."""
        self.addresses.pop(pod, None)
        if entry:
            self.addresses[pod] = entry
        self.write()
        self.authority.send_signal(signal.SIGHUP)


def told(what, began):
    print(f"  {what:<64} {int((time.monotonic() - began) * 1000):6} ms", flush=True)


def within(seconds, what, ask):
    """Asks until it goes well."""
    began = time.monotonic()
    while True:
        try:
            answer = ask()
            told(what, began)
            return answer
        except Unexpected as problem:
            if time.monotonic() - began > seconds:
                raise Unexpected(f"{what}, within {seconds} s: {problem}") from problem
            time.sleep(0.1)


def same(what, expected, seen):
    if expected != seen:
        raise Unexpected(f"expected {what}: {expected}, saw: {seen}")


class System:
    """The pods of one overlay."""

    def __init__(self, engine, names, folder, overlay):
        self.engine, self.names, self.folder = engine, names, folder
        self.manifests = manifests.Manifests(yaml.safe_load_all((folder / f"{overlay}.yaml").read_text()))
        for name, values in LIMITS.items():
            next(one for key, one in self.manifests.of("ConfigMap").items() if key.rsplit("-", 1)[0] == name)["data"].update(values)
        self.pods = {}
        for name, secret in self.manifests.of("Secret").items():
            file = folder / "secret.yaml"
            file.write_text(yaml.safe_dump(secret))
            engine.run("secret", "create", name, str(file))
            file.unlink()
        self.workloads = self.manifests.workloads
        engine.run("tag", IMAGE, manifests.program(self.workloads["gateway"])["image"])

    def play(self, program, number=0):
        """Starts a pod. Its address is one of the program's name at once, as behind a headless Service."""
        workload, name = self.workloads[program], f"{program}-{number}"
        file = self.folder / "pod.yaml"
        file.write_text(yaml.safe_dump_all(playable(self.manifests, workload, name, self.names)))
        self.engine.run("kube", "play", "--start=false", "--network", NETWORK, str(file))
        for secret, (group, mode) in secret_modes(workload).items():
            place = pathlib.Path(self.engine.run("volume", "inspect", "--format", "{{.Mountpoint}}", secret))
            for one in place.iterdir():
                one.write_bytes(base64.b64decode(self.manifests.of("Secret")[secret]["data"][one.name]))
                os.chown(one, 0, group)
                one.chmod(mode)
        self.engine.run("pod", "start", name)
        infra = self.engine.run("pod", "inspect", "--format", "{{.InfraContainerID}}", name)
        self.names.change(name, (self.engine.address(infra), program))
        self.pods[name] = workload
        return name

    def claim(self):
        """Makes the volumes."""
        file = self.folder / "volumes.yaml"
        file.write_text(yaml.safe_dump_all(self.manifests.of("PersistentVolumeClaim").values()))
        self.engine.run("kube", "play", str(file))

    def ask(self, name, kind):
        """Asks a probe of a pod."""
        self.engine.run(*probe_command(self.pods[name], kind, f"{name}-program", self.names.addresses[name][0]))

    def starts(self, name):
        workload = self.pods[name]
        probe = manifests.program(workload)["startupProbe"]
        limit = probe["periodSeconds"] * probe["failureThreshold"]
        within(min(limit, 60), f"{name} has started", lambda: self.ask(name, "startupProbe"))

    def is_confined(self, name):
        """What the kernel says about the program."""
        status = self.engine.run("exec", f"{name}-program", "cat", "/proc/1/status")
        lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        same(f"the user of {name}", "10001", lines["Uid"].split("\t")[0])
        same(f"capabilities of {name}", "0" * 16, lines["CapBnd"])
        same(f"that {name} gains no privileges and is filtered", ("1", "2"), (lines["NoNewPrivs"], lines["Seccomp"]))
        try:
            self.engine.run("exec", f"{name}-program", "touch", "/new")
        except Unexpected as problem:
            same(f"why {name} cannot write", True, "Read-only" in str(problem))
        else:
            raise Unexpected(f"expected that {name} writes nothing to its root, saw: it does")
        own = {pathlib.PurePath(path).name for path in self.manifests.files(self.pods[name]) if path.startswith("/run/secrets")}
        same(f"the secrets of {name}", sorted(own), self.engine.run("exec", f"{name}-program", "ls", "/run/secrets").split())

    def up(self):
        # The migration cannot end before it was looked into: for five seconds it waits for a database that does not answer.
        self.engine.run("kill", "--signal", "STOP", "postgres")
        try:
            self.play("migrate")
            self.is_confined("migrate-0")
        finally:
            self.engine.run("kill", "--signal", "CONT", "postgres")
        same("how the migration ended", "0", self.engine.run("wait", "migrate-0-program"))
        for program in [*ORDER, "operator"]:
            self.play(program)
        for program in ORDER:
            self.starts(f"{program}-0")
        for name in self.pods:
            if name != "migrate-0":
                self.is_confined(name)
        print("  each runs as 10001, without capabilities, on a read-only root, with its own secrets alone", flush=True)
        for program in ORDER:
            if program != "gateway":
                within(10, f"an operator sees one replica of {program}", lambda: sees(self.engine, program, 1))

    def stop(self, name):
        """preStop, SIGTERM, and SIGKILL when the time is over."""
        spec = self.pods[name]["spec"]["template"]["spec"]
        began = time.monotonic()
        for hook in manifests.program(self.pods[name]).get("lifecycle", {}).values():
            self.engine.run("exec", f"{name}-program", *hook["exec"]["command"])
        left = spec["terminationGracePeriodSeconds"] - int(time.monotonic() - began)
        self.engine.run("stop", "--time", str(left), f"{name}-program")
        same(f"the exit code of {name}", "0", self.engine.run("inspect", "--format", "{{.State.ExitCode}}", f"{name}-program"))
        told(f"{name} has ended with 0", began)
        self.remove(name)

    def remove(self, name):
        self.engine.run("pod", "rm", "--force", name)
        self.names.change(name)
        del self.pods[name]

    def down(self):
        for name in reversed(list(self.pods)):
            if name.rsplit("-", 1)[0] in ORDER:
                self.stop(name)
        for name in list(self.pods):
            self.remove(name)
        self.engine.run("secret", "rm", *self.manifests.of("Secret"))


def step(what):
    print(f"\n== {what}", flush=True)


def build(engine, folder):
    """Both images, by compose.yaml."""
    names = {"VESTIBULE_IMAGE": IMAGE, "VESTIBULE_POSTGRES_IMAGE": DATABASE_IMAGE}
    done = subprocess.run(
        ["docker", "compose", "--file", "deploy/compose.yaml", "build", "gateway", "postgres"],
        capture_output=True, text=True, env=os.environ | names)
    if done.returncode != 0:
        raise Unexpected(f"expected the images to be built, saw: {done.stderr.strip().splitlines()[-1]}")
    images = folder / "images.tar"
    subprocess.run(["docker", "save", "--output", images, *names.values()], check=True)
    engine.run("load", "--input", str(images))
    images.unlink()


def start_database(engine, folder):
    """The database that the connection strings name."""
    secrets = ["database-passwords", "database-certificate", "database-key"]
    engine.run(
        "run", "--detach", "--name", "postgres", "--network", NETWORK,
        *[f"--volume={folder}/secrets/{name}:/run/secrets/{name}:ro" for name in secrets],
        "--volume=database:/var/lib/postgresql/data", DATABASE_IMAGE)


def database_answers(engine, names):
    within(60, "the database answers", lambda: engine.run(
        "exec", "postgres", "pg_isready", "-q", "-h", "127.0.0.1", "-U", "auth", "-d", "vestibule"))
    # It may get another one at each start.
    names.change("postgres", (engine.address("postgres"), "postgres"))


def demo(engine, *arguments):
    engine.run(
        "exec", "auth-0-program", "vestibule", "demo", "--spool", "/var/spool/vestibule", "--http", "gateway:8080", *arguments)


def person(engine):
    """Through a plan that needs no reviewer, to its end."""
    began = time.monotonic()
    demo(engine, "--plan", "skin-care")
    told("a person is carried through", began)


def person_with_photos(engine):
    """Through the default plan, with photos, as far as a reviewer, whom staging has none of."""
    began = time.monotonic()
    try:
        demo(engine, "--uploads", "verification:8080")
    except Unexpected as problem:
        same("why the demo ends", True, "leaves photos to reviewers" in str(problem))
        told("a person has sent photos and waits for a reviewer", began)
        return
    raise Unexpected("expected that a person waits for a reviewer, saw: the demo ends by itself")


def sees(engine, program, count):
    """Whether an operator, who asks the DNS afresh, sees so many ready replicas."""
    rows = engine.run("exec", "operator-0-program", "vestibule", "bus", "ls").splitlines()
    ready = sum(row.split()[0] == program and "ready" in row.split() for row in rows if row.strip())
    if ready != count:
        raise Unexpected(f"expected {count} ready replicas of {program}, saw: {ready}")


def scale(system):
    system.play("auth", 1)
    within(10, "an operator sees the second replica, by its address alone", lambda: sees(system.engine, "auth", 2))
    system.starts("auth-1")
    person(system.engine)


def refused(engine):
    """How many requests the gateway answered with 500 or more so far. The demo repeats those."""
    lines = [json.loads(line) for line in engine.logs("gateway-0-program").splitlines()]
    return sum(line["event"] == "request" and line["status"] >= 500 for line in lines)


class People:
    """People who come one after the other until it ends, all of whom have to be carried through."""

    def __init__(self, engine):
        self.count, self.problem, self.ends = 0, None, False
        self.thread = threading.Thread(target=self.come, args=[engine])
        self.thread.start()

    def come(self, engine):
        while not self.ends and not self.problem:
            try:
                demo(engine, "--plan", "skin-care")
                self.count += 1
            except Unexpected as problem:
                self.problem = problem

    def end(self):
        self.ends = True
        self.thread.join()
        if self.problem:
            raise self.problem
        print(f"  meanwhile {self.count} people are carried through", flush=True)


def cache_profile(system):
    """From now on the DNS knows the one replica of profile, and no other for CACHE_SECONDS."""
    system.names.keep(CACHE_SECONDS)
    within(10, "the DNS keeps the address of profile", lambda: sees(system.engine, "profile", 1))


def roll(system):
    """As a Deployment does with one more replica at a time, while the DNS hides the new one."""
    cache_profile(system)
    before = refused(system.engine)
    people = People(system.engine)
    try:
        began = time.monotonic()
        system.play("profile", 1)
        system.starts("profile-1")
        within(CACHE_SECONDS + 5, "a caller knows the new replica of profile", lambda: sees(system.engine, "profile", 2))
        pause = manifests.program(system.workloads["profile"])["readinessProbe"]["initialDelaySeconds"]
        time.sleep(max(0, began + pause - time.monotonic()))
        system.ask("profile-1", "readinessProbe")
        system.stop("profile-0")
    finally:
        people.end()
    person(system.engine)
    same("refused requests", before, refused(system.engine))


def roll_without_pause(system):
    """What the pause of `readinessProbe` is for: callers know the old replica only, and it is gone."""
    cache_profile(system)
    system.play("profile", 2)
    system.starts("profile-2")
    system.stop("profile-1")
    before = refused(system.engine)
    within(2 * CACHE_SECONDS, "people are carried through again", lambda: demo(system.engine, "--plan", "skin-care"))
    count = refused(system.engine) - before
    same("that requests are refused without the pause", True, count > 0)
    print(f"  without the pause {count} requests are refused", flush=True)


def lose_database(system):
    system.engine.run("stop", "postgres")

    def nothing_is_ready():
        try:
            system.ask("gateway-0", "startupProbe")
        except Unexpected:
            return
        raise Unexpected("expected /readyz to say that services are not ready, saw: all are")

    within(30, "/readyz says that services are not ready", nothing_is_ready)
    for program in ORDER:
        system.ask(f"{program}-0", "livenessProbe")
    system.ask("gateway-0", "readinessProbe")
    print("  every liveness probe and the gateway's readiness hold without the database", flush=True)
    system.engine.run("start", "postgres")
    database_answers(system.engine, system.names)
    within(30, "all services are ready again", lambda: system.ask("gateway-0", "startupProbe"))
    person(system.engine)


def main(engine, folder):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for place in ("/run/containers", "/run/netns"):
        os.makedirs(place, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    step(f"build, {engine.run('--version')}")
    build(engine, folder)
    engine.run("network", "create", "--internal", "--disable-dns", NETWORK)
    # The network's bridge is there with its first container.
    start_database(engine, folder)
    names = Names(engine, folder)
    database_answers(engine, names)
    step("staging")
    staging = System(engine, names, folder, "staging")
    staging.claim()
    staging.up()
    person(engine)
    person_with_photos(engine)
    step("a second replica")
    scale(staging)
    step("the database is lost")
    lose_database(staging)
    step(f"a roll, with a DNS that keeps its answers for {CACHE_SECONDS} s")
    roll(staging)
    roll_without_pause(staging)
    names.keep(0)
    step("stop")
    staging.down()
    step("production")
    production = System(engine, names, folder, "production")
    production.up()
    production.down()


def keep_logs(engine, file):
    """What every container said."""
    with open(file, "w") as log:
        for name in engine.run("ps", "--all", "--format", "{{.Names}}").split():
            log.write(f"== {name}\n{engine.logs(name)}")


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    engine = Engine(place / "podman")
    try:
        main(engine, place)
    except Unexpected as problem:
        log = f"{os.environ.get('TMPDIR', '/tmp')}/vestibule-kubernetes-test.log"
        keep_logs(engine, log)
        sys.exit(f"kubernetes-test: {problem}\nThe containers' logs are in {log}.")
