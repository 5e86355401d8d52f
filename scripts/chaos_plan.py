"""Which fault comes when: a seed gives the same plan each time, to the millisecond."""

import random

# Of each fault what it touches, and how long it lasts in milliseconds, at least and at most. Two faults at a time touch
# different things.
FAULTS = {
    "kill": ("process", 0, 0),
    "stop": ("process", 300, 4000),
    "end": ("process", 0, 0),
    "kill-gateway": ("gateway", 0, 0),
    "stop-gateway": ("gateway", 300, 3000),
    "database-backends": ("database", 0, 0),
    "database-stopped": ("database", 0, 0),
    "database-crashed": ("database", 0, 0),
    "database-frozen": ("database", 500, 9500),
    "disk-full": ("database", 1000, 4000),
    "client-delay": ("client", 1000, 4000),
    "client-stall": ("client", 500, 7000),
    "client-reset": ("client", 500, 3000),
    "client-half-open": ("client", 500, 3000),
    "bus-delay": ("bus", 2000, 5000),
    "bus-stall": ("bus", 2000, 5000),
    "bus-reset": ("bus", 2000, 5000),
    "bus-half-open": ("bus", 2000, 5000),
    "bus-flip": ("bus", 2000, 5000),
}
# Those of a run of a few seconds.
QUICK = ["kill", "bus-flip", "database-backends", "client-reset", "stop"]
# Most calls of this run go to the first three.
SERVICES = ["auth", "profile", "questionnaire"] * 3 + ["recovery", "visual-preference", "verification"]


def plan(seed, seconds, names, pace=1):
    """Faults in the order of their times: each of these names once where the time is enough, then all of them again.

    A pace of 2 has faults half as long, with pauses half as long.
    """
    chance = random.Random(seed)
    faults, at, left = [], 500, []
    while at < seconds * 1000:
        left = left or chance.sample(names, len(names))
        name = left.pop()
        first = one(name, at, chance, pace)
        faults.append(first)
        beside = [each for each in names if FAULTS[each][0] != FAULTS[name][0]]
        end = at + first["for"]
        if beside and chance.random() < 0.3:
            second = one(chance.choice(beside), at + chance.randint(0, max(first["for"], 300)), chance, pace)
            faults.append(second)
            end = max(end, second["at"] + second["for"])
        at = end + chance.randint(300, 2500) // pace
    return sorted(faults, key=lambda each: each["at"])


def one(name, at, chance, pace):
    _, least, most = FAULTS[name]
    return {"fault": name, "at": at, "for": chance.randint(least, most) // pace, "service": chance.choice(SERVICES),
            "replica": chance.randrange(2), "seed": chance.randrange(2**32)}
