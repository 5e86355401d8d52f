"""Faults that somebody may make in the manifests. Each one has to be found, or manifests.py looks at nothing."""

import copy

import manifests


def policy(documents, name):
    return manifests.Manifests(documents).of("NetworkPolicy")[name]["spec"]


def deployment(documents, name):
    return manifests.Manifests(documents).of("Deployment")[name]


def data(documents, name):
    """The ConfigMap with this name before its hash."""
    return next(
        one["data"] for key, one in manifests.Manifests(documents).of("ConfigMap").items() if key.rsplit("-", 1)[0] == name)


def pod(documents, name):
    return deployment(documents, name)["spec"]["template"]["spec"]


def program(documents, name):
    return pod(documents, name)["containers"][0]


def secret_volume(documents, name):
    return next(one["secret"] for one in pod(documents, name)["volumes"] if one["name"] == "secrets")


def without(documents, kind, name):
    documents.remove(manifests.Manifests(documents).of(kind)[name])


def callers(documents, name):
    return policy(documents, name)["ingress"][0]["from"][0]["podSelector"]["matchExpressions"][0]["values"]


FAULTS = {
    "a caller too many": lambda all: callers(all, "auth").append("questionnaire"),
    "a caller too few": lambda all: callers(all, "recovery").remove("gateway"),
    "a rule without callers": lambda all: policy(all, "profile")["ingress"][0].pop("from"),
    "a rule without a port": lambda all: policy(all, "profile")["ingress"][0].pop("ports"),
    "nothing is closed": lambda all: without(all, "NetworkPolicy", "nothing-else"),
    "the same arrow twice": lambda all: all.append(
        {**copy.deepcopy(manifests.Manifests(all).of("NetworkPolicy")["auth"]), "metadata": {"name": "again"}}),
    "profile gets outside": lambda all: policy(all, "outside")["podSelector"]["matchExpressions"][0]["values"].append("profile"),
    "the gateway gets to the database": lambda all: policy(all, "database").update(podSelector={}),
    "root": lambda all: pod(all, "auth")["securityContext"].update(runAsUser=0),
    "a root that can be written": lambda all: program(all, "gateway")["securityContext"].pop("readOnlyRootFilesystem"),
    "a capability": lambda all: program(all, "auth")["securityContext"]["capabilities"].update(add=["NET_RAW"]),
    "no seccomp": lambda all: pod(all, "profile")["securityContext"].pop("seccompProfile"),
    "variables of Services": lambda all: pod(all, "gateway").pop("enableServiceLinks"),
    "a misspelt variable": lambda all: data(all, "auth").update(AUTH_SMS_COUNTRY="SE"),
    "a secret as a variable": lambda all: data(all, "gateway").update(GATEWAY_OPS_KEY="x"),
    "a file that is nowhere": lambda all: data(all, "auth").update(AUTH_KEYS_FILE="/run/secrets/profile-keys"),
    "a secret that others read": lambda all: secret_volume(all, "auth").update(defaultMode=0o444),
    "killed while it ends": lambda all: pod(all, "verification").update(terminationGracePeriodSeconds=13),
    "no pause before the stop": lambda all: program(all, "gateway").pop("lifecycle"),
    "no budget": lambda all: without(all, "PodDisruptionBudget", "recovery"),
    "one replica": lambda all: deployment(all, "auth")["spec"].update(replicas=0),
    "counted before callers know it": lambda all: program(all, "auth")["readinessProbe"].pop("initialDelaySeconds"),
    "liveness asks for others": lambda all: program(all, "gateway")["livenessProbe"]["httpGet"].update(path="/readyz"),
    "bus callers see ready ones only": lambda all: manifests.Manifests(all).of("Service")["auth"]["spec"].pop(
        "publishNotReadyAddresses"),
    "a wrong port of the bus": lambda all: data(all, "house").update(BUS_AUTH="dns:auth:7002"),
    "the Ingress leads nowhere": lambda all: without(all, "Service", "verification-http"),
}


def missed(house, documents, least_replicas):
    """The faults that nothing finds."""
    silent = []
    for name, plant in FAULTS.items():
        planted = copy.deepcopy(documents)
        plant(planted)
        if not manifests.problems(house, planted, least_replicas):
            silent.append(name)
    return silent
