"""Says what is wrong with rendered manifests. Who may call whom, which variables there are and who gets to the outer network
comes from docs/operations/configure.md and from deploy/compose*.yaml, so that a new arrow or variable fails here until the
manifests have it. Pure functions: documents in, problems out.
"""

import re

import yaml

# A program ends within this time after SIGTERM (`ServiceContainer.stop`; a gateway needs less).
DRAIN_SECONDS = 8
NAME = "app.kubernetes.io/name"
SERVED = ("service", "gateway")
DATABASE_PORT = 5432
# CoreDNS keeps an answer for up to 30 s (`cache 30`), and callers ask each second.
DNS_SECONDS = 31


class ComposeLoader(yaml.SafeLoader):
    """Reads Compose's own tags, such as `!reset`, as nothing."""


ComposeLoader.add_multi_constructor("!", lambda loader, suffix, node: None)


class House:
    """What the rest of the repository says about the system."""

    def __init__(self, table, compose, production):
        """table: the page of all variables. compose, production: texts of the two Compose files."""
        self.secrets, self.variables, self.arrows = set(), set(), set()
        readers = []
        for line in table.splitlines():
            if line.startswith("## "):
                readers = [name.strip().lower() for name in line[3:].split(",")]
            elif match := re.match(r"\| `([A-Z0-9_]+)`( 🔑)? \|", line):
                name = match[1]
                self.variables.add(name)
                if match[2]:
                    self.secrets.add(name)
                if name.startswith("BUS_") and "Where to find" in line:
                    callee = name[4:].lower().replace("_", "-")
                    self.arrows |= {(reader, callee) for reader in readers}
        services = yaml.load(compose, ComposeLoader)["services"]
        # An operator may ask every service.
        self.arrows |= {("operator", callee) for _, callee in self.arrows}
        laid_over = yaml.load(production, ComposeLoader)["services"]
        self.outside = {name for name, service in laid_over.items() if "outside" in ((service or {}).get("networks") or [])}
        # Beside the edge, who is in its network serves HTTP to it.
        self.http = {
            name for name, service in services.items()
            if "edge" in (service.get("networks") or []) and name not in ("edge", "ready")
        }


class Manifests:
    """Rendered documents, by kind and name."""

    def __init__(self, documents):
        self.documents = [document for document in documents if document]

    def of(self, kind):
        return {document["metadata"]["name"]: document for document in self.documents if document["kind"] == kind}

    @property
    def workloads(self):
        return {**self.of("Deployment"), **self.of("Job")}

    def served(self):
        """The Deployments that run in replicas, by name."""
        return {name: one for name, one in self.of("Deployment").items() if labels(one)["app.kubernetes.io/component"] in SERVED}

    def environment(self, workload):
        """The variables of a program, later sources over earlier ones."""
        maps, values = self.of("ConfigMap"), {}
        container = program(workload)
        for source in container.get("envFrom", []):
            values |= maps[source["configMapRef"]["name"]]["data"]
        return values | {one["name"]: one.get("value") for one in container.get("env", [])}

    def selected(self, selector):
        """The names of the pods that a selector means."""
        return {labels(one)[NAME] for one in self.workloads.values() if matches(selector, labels(one))}

    def files(self, workload):
        """The paths that a program's Secrets and ConfigMaps have in its container."""
        pod, paths = workload["spec"]["template"]["spec"], set()
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for mount in program(workload)["volumeMounts"]:
            volume = volumes[mount["name"]]
            if "secret" in volume:
                held = self.of("Secret")[volume["secret"]["secretName"]]
            elif "configMap" in volume:
                held = self.of("ConfigMap")[volume["configMap"]["name"]]
            else:
                continue
            paths |= {f"{mount['mountPath']}/{key}" for key in held["data"]}
        return paths


def labels(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


def program(workload):
    """The one container of a workload."""
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return container


def matches(selector, those):
    """Whether a label selector means a pod with those labels."""
    if any(those.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(
        one["operator"] == "In" and those.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", []))


def ingress(manifests):
    """Each rule that lets somebody in, as (caller, callee, port). A caller is a pod, or `@` and the label of a namespace."""
    found = []
    for policy in manifests.of("NetworkPolicy").values():
        for rule in policy["spec"].get("ingress", []):
            for callee in manifests.selected(policy["spec"]["podSelector"]):
                for port in [one.get("port") for one in rule.get("ports", [{}])]:
                    for source in rule.get("from", [{}]):
                        callers = {"anybody"}
                        if "namespaceSelector" in source:
                            callers = {"@" + key for key in source["namespaceSelector"].get("matchLabels", {"any": ""})}
                        elif "podSelector" in source:
                            callers = manifests.selected(source["podSelector"])
                        found += [(caller, callee, port) for caller in callers]
    return found


def expected_ingress(house, manifests):
    ports = {name: bus_port(one) for name, one in manifests.served().items()}
    return (
        [(caller, callee, ports[callee]) for caller, callee in house.arrows]
        + [("@vestibule/door", callee, 8080) for callee in house.http]
        + [("@vestibule/metrics", "gateway", 8080)])


def bus_port(workload):
    return next((port["containerPort"] for port in program(workload)["ports"] if port["name"] == "bus"), None)


def arrow_problems(house, manifests):
    there, wanted = ingress(manifests), expected_ingress(house, manifests)
    for arrow in sorted(set(there) | set(wanted), key=str):
        if there.count(arrow) != wanted.count(arrow):
            yield f"{arrow}: {there.count(arrow)} rules let it in, expected {wanted.count(arrow)}"
    policies = manifests.of("NetworkPolicy")
    closed = [
        one for one in policies.values()
        if one["spec"]["podSelector"] == {} and set(one["spec"]["policyTypes"]) == {"Ingress", "Egress"}
        and "ingress" not in one["spec"]
    ]
    if len(closed) != 1:
        yield "no policy closes every pod in both directions"
    out = {}
    for policy in policies.values():
        for rule in policy["spec"].get("egress", []):
            way = tuple(sorted({(one["port"], one.get("protocol", "TCP")) for one in rule.get("ports", [])}))
            out.setdefault(way, set()).update(manifests.selected(policy["spec"]["podSelector"]))
            if rule.get("to") == [{"podSelector": {}}] and not way:
                continue
            if not way:
                yield f"{policy['metadata']['name']}: a rule for every port"
    everybody = {labels(one)[NAME] for one in manifests.workloads.values()}
    with_database = {
        labels(one)[NAME] for one in manifests.workloads.values()
        if any("_DATABASE_URL" in name for name in manifests.environment(one))
    }
    wanted_out = {
        (): everybody, ((53, "TCP"), (53, "UDP")): everybody, ((DATABASE_PORT, "TCP"),): with_database,
        ((443, "TCP"),): house.outside,
    }
    if out != wanted_out:
        yield f"who may send where is {out}, expected {wanted_out}"


def container_problems(name, workload):
    pod = workload["spec"]["template"]["spec"]
    container = program(workload)
    security, own = pod.get("securityContext", {}), container.get("securityContext", {})
    wanted = {
        "runAsNonRoot": security.get("runAsNonRoot") is True and security.get("runAsUser", 0) > 0,
        "seccomp RuntimeDefault": security.get("seccompProfile") == {"type": "RuntimeDefault"},
        "no privilege escalation": own.get("allowPrivilegeEscalation") is False,
        "a read-only root": own.get("readOnlyRootFilesystem") is True,
        "no capabilities": own.get("capabilities") == {"drop": ["ALL"]},
        "no token of the cluster": pod.get("automountServiceAccountToken") is False,
        "no variables of Services": pod.get("enableServiceLinks") is False,
        "a limit of memory": "memory" in container.get("resources", {}).get("limits", {}),
        "no limit of processors": "cpu" not in container.get("resources", {}).get("limits", {}),
        "no network, processes or folder of the node": not any(
            pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")) and not any(
            "hostPath" in volume for volume in pod["volumes"]),
    }
    return [f"{name}: expected {what}" for what, holds in wanted.items() if not holds]


def variable_problems(house, manifests, name, workload):
    values, files = manifests.environment(workload), manifests.files(workload)
    for source in program(workload).get("envFrom", []) + program(workload).get("env", []):
        if "secretRef" in source or "secretKeyRef" in source.get("valueFrom", {}):
            yield f"{name}: a secret is a variable"
    for variable, value in values.items():
        plain = variable.removesuffix("_FILE")
        if variable in house.secrets:
            yield f"{name}: {variable} is a secret and has to be a file"
        elif variable not in house.variables and plain not in house.secrets:
            yield f"{name}: no program reads {variable}"
        elif variable not in house.variables and value not in files:
            yield f"{name}: {variable} names {value}, which no Secret has"
    for path in files - set(values.values()):
        # Named in a connection string.
        if not path.endswith("/database-certificate"):
            yield f"{name}: nobody reads {path}"
    for volume in workload["spec"]["template"]["spec"]["volumes"]:
        if "secret" in volume and volume["secret"].get("defaultMode", 0o644) & 0o007:
            yield f"{name}: others may read its secrets"


def replica_problems(manifests, least):
    budgets = [one["spec"] for one in manifests.of("PodDisruptionBudget").values()]
    for name, workload in manifests.served().items():
        pod, container = workload["spec"]["template"]["spec"], program(workload)
        if workload["spec"]["replicas"] < least:
            yield f"{name}: fewer than {least} replicas"
        if [one.get("maxUnavailable") for one in budgets if matches(one["selector"], labels(workload))] != [1]:
            yield f"{name}: expected one budget that lets one replica go at a time"
        if workload["spec"]["strategy"]["rollingUpdate"] != {"maxSurge": 1, "maxUnavailable": 0}:
            yield f"{name}: an old replica may go before a new one has started"
        pause = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        if pod["terminationGracePeriodSeconds"] <= int(pause[1]) + DRAIN_SECONDS:
            yield f"{name}: it is killed before it has ended"
        if (int(pause[1]) > 0) != any(port["name"] == "http" for port in container["ports"]):
            yield f"{name}: exactly what serves HTTP has to wait before it stops"
        if not {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container):
            yield f"{name}: a probe is missing"
        if bus_port(workload) and container["readinessProbe"].get("initialDelaySeconds", 0) <= DNS_SECONDS:
            yield f"{name}: an old replica may go before callers know the new one"
        for kind in ("readinessProbe", "livenessProbe"):
            if container.get(kind, {}).get("httpGet", {}).get("path") == "/readyz":
                yield f"{name}: {kind} asks for other programs"


def service_problems(manifests):
    for name, service in manifests.of("Service").items():
        spec = service["spec"]
        targets = [one for one in manifests.served().values() if matches({"matchLabels": spec["selector"]}, labels(one))]
        if len(targets) != 1:
            yield f"Service {name}: expected one program behind it"
            continue
        (port,) = spec["ports"]
        if port["port"] not in [one["containerPort"] for one in program(targets[0])["ports"]]:
            yield f"Service {name}: nobody listens at {port['port']}"
        is_bus = port["name"] == "bus"
        if (spec.get("clusterIP") == "None", spec.get("publishNotReadyAddresses") is True) != (is_bus, is_bus):
            yield f"Service {name}: exactly a Service of the bus is headless and has every address"
    services = manifests.of("Service")
    for workload in manifests.workloads.values():
        for variable, value in manifests.environment(workload).items():
            if match := re.fullmatch(r"dns:([a-z-]+):(\d+)", value or ""):
                if services.get(match[1], {"spec": {"ports": []}})["spec"]["ports"] != [{"name": "bus", "port": int(match[2])}]:
                    yield f"{variable}: no Service {match[1]} has the port {match[2]}"
    backends = {
        path["backend"]["service"]["name"]
        for one in manifests.of("Ingress").values() for rule in one["spec"]["rules"] for path in rule["http"]["paths"]
    }
    http = {name for name, one in services.items() if one["spec"]["ports"][0]["name"] == "http"}
    if backends != http:
        yield f"the Ingress leads to {backends}, expected {http}"


def problems(house, documents, least_replicas):
    """Everything that is wrong, a line for each."""
    manifests = Manifests(documents)
    found = list(arrow_problems(house, manifests))
    for name, workload in manifests.workloads.items():
        found += container_problems(name, workload)
        found += variable_problems(house, manifests, name, workload)
    return found + list(replica_problems(manifests, least_replicas)) + list(service_problems(manifests))
