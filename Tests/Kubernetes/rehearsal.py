"""Plays the rendered manifests in podman, carries a person through them, and ends them as a cluster would. What a cluster does
beyond starting containers is done here by hand, from the same manifests: the probes, preStop, the Secrets' modes, and their
content, which podman 4.3 leaves in base64.

Usage: rehearsal.py FOLDER, with staging.yaml, production.yaml and secrets in it; as root, with a container engine, in a mount
namespace of its own.
"""

import base64
import copy
import json
import os
import pathlib
import subprocess
import sys
import time

import yaml

import manifests

NETWORK = "vestibule"
IMAGE, DATABASE_IMAGE = "localhost/vestibule:rehearsal", "localhost/vestibule-postgres:rehearsal"
# The names that the Deployments have, in the order in which they are started.
ORDER = ["auth", "profile", "questionnaire", "recovery", "visual-preference", "verification", "gateway"]


class Unexpected(Exception):
    """What was expected and what was seen."""


def playable(everything, workload, name):
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

    def __init__(self, engine, folder, overlay):
        self.engine, self.folder = engine, folder
        self.manifests = manifests.Manifests(yaml.safe_load_all((folder / f"{overlay}.yaml").read_text()))
        self.pods = {}
        for name, secret in self.manifests.of("Secret").items():
            file = folder / "secret.yaml"
            file.write_text(yaml.safe_dump(secret))
            engine.run("secret", "create", name, str(file))
            file.unlink()
        self.workloads = self.manifests.workloads
        engine.run("tag", IMAGE, manifests.program(self.workloads["gateway"])["image"])

    def play(self, program, number=0):
        """Starts a pod. Its address is one of the program's name, as behind a headless Service."""
        workload, name = self.workloads[program], f"{program}-{number}"
        file = self.folder / "pod.yaml"
        file.write_text(yaml.safe_dump_all(playable(self.manifests, workload, name)))
        self.engine.run("kube", "play", "--start=false", "--network", f"{NETWORK}:alias={program}", str(file))
        for secret, (group, mode) in secret_modes(workload).items():
            place = pathlib.Path(self.engine.run("volume", "inspect", "--format", "{{.Mountpoint}}", secret))
            for one in place.iterdir():
                one.write_bytes(base64.b64decode(self.manifests.of("Secret")[secret]["data"][one.name]))
                os.chown(one, 0, group)
                one.chmod(mode)
        self.engine.run("pod", "start", name)
        self.pods[name] = workload
        return name

    def claim(self):
        """Makes the volumes."""
        file = self.folder / "volumes.yaml"
        file.write_text(yaml.safe_dump_all(self.manifests.of("PersistentVolumeClaim").values()))
        self.engine.run("kube", "play", str(file))

    def ask(self, name, kind):
        """Asks a probe of a pod."""
        infra = self.engine.run("pod", "inspect", "--format", "{{.InfraContainerID}}", name)
        networks = json.loads(self.engine.run("inspect", "--format", "{{json .NetworkSettings.Networks}}", infra))
        self.engine.run(*probe_command(self.pods[name], kind, f"{name}-program", networks[NETWORK]["IPAddress"]))

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
        self.play("migrate")
        same("how the migration ended", "0", self.engine.run("wait", "migrate-0-program"))
        for program in ORDER:
            self.play(program)
        for program in ORDER:
            self.starts(f"{program}-0")
        for name in self.pods:
            if name != "migrate-0":
                self.is_confined(name)
        print("  each runs as 10001, without capabilities, on a read-only root, with its own secrets alone", flush=True)

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

    def down(self):
        for name in reversed(self.pods):
            if "strategy" in self.pods[name]["spec"] and self.pods[name]["spec"]["replicas"]:
                self.stop(name)
        for name in self.pods:
            self.engine.run("pod", "rm", "--force", name)
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
        "run", "--detach", "--name", "postgres", "--network", f"{NETWORK}:alias=postgres",
        *[f"--volume={folder}/secrets/{name}:/run/secrets/{name}:ro" for name in secrets],
        "--volume=database:/var/lib/postgresql/data", DATABASE_IMAGE)
    database_answers(engine)


def database_answers(engine):
    within(60, "the database answers", lambda: engine.run(
        "exec", "postgres", "pg_isready", "-q", "-h", "127.0.0.1", "-U", "auth", "-d", "vestibule"))


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


def sees(engine, count):
    """Whether an operator sees so many ready replicas of auth."""
    rows = engine.run("exec", "operator-0-program", "vestibule", "bus", "ls").splitlines()
    ready = sum(row.split()[0] == "auth" and "ready" in row.split() for row in rows if row.strip())
    if ready != count:
        raise Unexpected(f"expected {count} ready replicas of auth, saw: {ready}")


def scale(system):
    system.play("operator")
    within(10, "an operator sees one replica of auth", lambda: sees(system.engine, 1))
    system.play("auth", 1)
    within(10, "and the second, by its address alone", lambda: sees(system.engine, 2))
    system.starts("auth-1")
    person(system.engine)


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
    database_answers(system.engine)
    within(30, "all services are ready again", lambda: system.ask("gateway-0", "startupProbe"))
    person(system.engine)


def main(engine, folder):
    for place in ("/run/containers", "/run/netns"):
        os.makedirs(place, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    step(f"build, {engine.run('--version')}")
    build(engine, folder)
    # Internal: a name that is not there is answered at once, and not asked for elsewhere.
    engine.run("network", "create", "--internal", NETWORK)
    start_database(engine, folder)
    step("staging")
    staging = System(engine, folder, "staging")
    staging.claim()
    staging.up()
    person(engine)
    person_with_photos(engine)
    step("a second replica")
    scale(staging)
    step("the database is lost")
    lose_database(staging)
    step("stop")
    staging.down()
    step("production")
    production = System(engine, folder, "production")
    production.up()
    production.down()


def keep_logs(engine, file):
    """What every container said."""
    with open(file, "w") as log:
        for name in engine.run("ps", "--all", "--format", "{{.Names}}").split():
            log.write(f"== {name}\n")
            log.flush()
            subprocess.run([*engine.base, "logs", name], stdout=log, stderr=subprocess.STDOUT)


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    engine = Engine(place / "podman")
    try:
        main(engine, place)
    except Unexpected as problem:
        log = f"{os.environ.get('TMPDIR', '/tmp')}/vestibule-kubernetes-test.log"
        keep_logs(engine, log)
        sys.exit(f"kubernetes-test: {problem}\nThe containers' logs are in {log}.")
