"""Judges the history of a run of `scripts/chaos`, from its lines alone: nothing runs meanwhile.

A line is one call with when it was sent and answered, or one thing that was read once the faults were over. What became of a call is
`acknowledged`, `refused` (it was not done), or `unknown` (it may have been done).
"""

import collections
import json

from chaos_revisions import grouped, grouped_by, judge_object

# What is sampled of a process.
FIGURES = "memory", "in use", "descriptors", "threads", "timers"
# A process that was there within so many milliseconds of the first and the last sample was there all the time.
SETTLED = 30_000
# The part of a figure by which it may rise in an hour. The memory of sound processes rose by up to 6 %, since they touch more and more of
# what the allocator keeps free.
FLAT = 0.1
# A shorter run, in seconds, cannot tell a leak from the memory of a busier minute.
LONG = 1800


def judge(lines):
    """What is wrong with a history: sentences, none where all is right."""
    calls = [line for line in lines if "call" in line]
    finals = [line for line in lines if "final" in line]
    wrong = []
    for name, of_object in sorted(grouped(calls, "object").items()):
        kept = [each for each in finals if each.get("object") == name]
        wrong += [f"{name}: {each}" for each in judge_object(of_object, kept)]
    for name, of_session in sorted(grouped(calls, "session").items()):
        wrong += [f"{name}: {each}" for each in judge_session(of_session)]
    for name, of_person in sorted(grouped(calls, "person").items()):
        found = [each for each in finals if each.get("person") == name]
        wrong += [f"{name}: {each}" for each in judge_sign_ins(of_person, found)]
    faults = [line for line in lines if "fault" in line]
    wrong += judge_faults(faults) + judge_network(calls, faults)
    return wrong + [each for line in finals for each in judge_final(line)]


def judge_faults(faults):
    """Each fault took effect at least once, unless this machine does not allow it."""
    effects = {name: {each.get("effect") for each in of_name} for name, of_name in grouped(faults, "fault").items()}
    return [f"no effect: {name} found nobody" for name, found in sorted(effects.items()) if found == {"none"}]


# What makes a network bad, and takes nothing from a client.
BAD_NETWORK = {"bus-delay", "bus-stall", "bus-reset", "bus-half-open"}


def judge_network(calls, faults):
    """On a bad network between services, and with no other fault, 999 of 1,000 calls are answered: a demand on the bus."""
    unknown = sum(each["result"] == "unknown" for each in calls)
    if not faults or not {each["fault"] for each in faults} <= BAD_NETWORK or unknown * 1000 <= len(calls):
        return []
    return [f"unknown: {unknown} of {len(calls)} calls on a bad network"]


# Sessions, people, and what is left


def judge_session(calls):
    """The renewals of a session, which nobody ended."""
    refused = [each for each in calls if each["call"] == "renew" and each["result"] == "refused" and each["status"] == 401]
    return [f"the session ended: {each.get('code')} at {each['sent']}" for each in refused]


def judge_sign_ins(calls, finals):
    """Each sign-in makes one session, and whoever has a phone one account."""
    sign_ins = grouped([each for each in calls if each["call"] == "sign-in"], "key")
    made = {key: {each["made"] for each in of_key if each["result"] == "acknowledged"} for key, of_key in sign_ins.items()}
    wrong = [f"double effect: the sign-in {key} made {len(each)} sessions" for key, each in made.items() if len(each) > 1]
    accounts = {each["account"] for of_key in sign_ins.values() for each in of_key if each["result"] == "acknowledged"}
    if len(accounts) > 1:
        wrong.append(f"double effect: {len(accounts)} accounts")
    for final in finals:
        if final["final"] != "sessions":
            continue
        acknowledged = set().union(*made.values())
        wrong += [f"lost: session {each}" for each in sorted(acknowledged - set(final["sessions"]))]
        possible = sum(any(each["result"] != "refused" for each in of_key) for of_key in sign_ins.values())
        if len(final["sessions"]) > possible:
            wrong.append(f"double effect: {len(final['sessions'])} sessions of {possible} sign-ins")
    return wrong


def judge_final(line):
    """What was read at the end, and says by itself whether it is right."""
    kind = line["final"]
    if kind == "events" and line["taken"] != line["told"]:
        return [f"gap: the last event of {line['producer']} about {line['about']} is {line['told']}, and {line['taken']} was taken"]
    if kind == "effect" and line["found"] != line["told"]:
        return [f"lost: {line['about']} has {line['found']}, and the events said {line['told']}"]
    if kind == "twice":
        return [f"double effect: {each}" for each in line["found"]]
    if kind == "left" and line["found"] != 0:
        return [f"left: {line['found']} {line['of']}"]
    return []


# What processes take


def slopes(lines):
    """Of each process that lived all the time: each figure at the end, its rise in an hour after the first third, and that rise's error."""
    samples = [line for line in lines if "sample" in line]
    for (name, _), of_process in sorted(grouped_by(samples, lambda line: (line["sample"], line["process"])).items()):
        if of_process[0]["at"] > samples[0]["at"] + SETTLED or of_process[-1]["at"] < samples[-1]["at"] - SETTLED:
            continue
        later = of_process[len(of_process) // 3:]
        figures = {each: [line[each] for line in later] for each in FIGURES if each in later[0]}
        yield name, {each: (values[-1], *slope([line["at"] for line in later], values)) for each, values in figures.items()}


def risen(lines):
    """What is not flat in a long run: a rise in an hour of more than a tenth, and of more than five descriptors, threads, timers or KB.

    Timers, threads and memory in use are those of calls on their way, and most descriptors of a gateway are connections of its clients.
    So each sample is another number, and a rise of less than three standard errors may be none.
    """
    if lines[0]["seconds"] < LONG:
        return
    found = list(slopes(lines))
    for name, figures in found:
        for what, (now, rise, error) in figures.items():
            if rise > max(FLAT * now, 5, 3 * error if what != "memory" else 0):
                yield f"not flat: {name} ends with {what} of {now:,.0f}, {rise:+,.1f} in an hour"
    for what in FIGURES:
        if not any(what in figures for _, figures in found):
            yield f"not flat: nobody told of {what}"


def slope(moments, figures):
    """The rise in an hour of the line that fits best, and its standard error; moments are in milliseconds."""
    count, middle, mean = len(moments), sum(moments) / len(moments), sum(figures) / len(figures)
    spread = sum((each - middle) ** 2 for each in moments)
    if count < 3 or not spread:
        return 0, 0
    rise = sum((at - middle) * (each - mean) for at, each in zip(moments, figures)) / spread
    missed = sum((each - mean - rise * (at - middle)) ** 2 for at, each in zip(moments, figures))
    return 3_600_000 * rise, 3_600_000 * (missed / (count - 2) / spread) ** 0.5


def read(path):
    """The lines of a history."""
    with open(path) as file:
        return [json.loads(line) for line in file]


def summary(lines):
    """How many calls there were, by what became of them."""
    results = collections.Counter(line["result"] for line in lines if "call" in line)
    return ", ".join(f"{results[each]} {each}" for each in ("acknowledged", "refused", "unknown"))
