"""Judges the revisions of one object by the calls that changed and read it.

An object is what has revisions of its own: somebody's profile, or one answer of a session. Every change of it makes the next one.

Each acknowledged change and each reading names its revision, so their order is known. Two things are left to find. Each revision that
nobody acknowledged needs a change of unknown fate (`attribute`). And each call needs a moment between its sending and its answer, in the
order of the revisions (`walk`): the earliest ones fit where any do.
"""

import collections

NEVER = float("inf")


def grouped(lines, member):
    return grouped_by([line for line in lines if line.get(member) is not None], lambda line: line[member])


def grouped_by(lines, key):
    groups = collections.defaultdict(list)
    for line in lines:
        groups[key(line)].append(line)
    return groups


class Change:
    """A change of an object: one call, or several with the same key, which may have one effect together."""

    def __init__(self, calls):
        self.calls = calls
        self.key, self.value, self.expected = (calls[0].get(each) for each in ("key", "value", "expected"))
        self.sent = min(each["sent"] for each in calls)
        acknowledged = [each for each in calls if each["result"] == "acknowledged"]
        self.revisions = sorted({each["revision"] for each in acknowledged if "revision" in each})
        # An answer may be of the state after later changes: it then says that state and not which revision this change made.
        self.is_overtaken = bool(acknowledged) and not self.revisions
        self.newest = min((each["found"]["revision"] for each in acknowledged if "found" in each), default=NEVER)
        # A refusal says nothing of an earlier call with the same key whose answer was lost.
        self.is_refused = all(each["result"] == "refused" for each in calls)
        self.answered = min((each["answered"] for each in acknowledged), default=NEVER)

    def is_what(self, said):
        """Whether everything that was read somewhere is of this change."""
        return all(each in (self.key, self.value) for each in said)

    def __str__(self):
        return f"the change {self.key}"


def judge_object(calls, finals):
    """The changes and readings of one object, and what is left of it."""
    changes = [Change(each) for each in grouped([each for each in calls if each["call"] == "change"], "key").values()]
    readings = [each for each in calls if each["call"] in ("begin", "read") and each["result"] == "acknowledged"]
    # Whoever is refused for what stands there has read it.
    readings += [each for each in calls if each["call"] == "change" and each.get("found") is not None]
    readings = [each | each.get("found", {}) for each in readings]
    end = max(each["answered"] for each in calls)
    last = [each for each in finals if each["final"] == "object"]
    readings += [each | {"sent": end, "answered": NEVER} for each in last]
    if not readings:
        return ["nothing was read of it"]
    kept = {int(revision): said for each in finals if each["final"] == "kept" for revision, said in each["revisions"].items()}

    first = min(each["revision"] for each in readings)
    owners, read_too, wrong = own(changes, first)
    readings += read_too
    values, differing = seen_values(readings)
    wrong += twice(changes) + differing
    newest = max([each["revision"] for each in readings] + list(owners))
    for each in last:
        wrong += lost(each, owners, newest)
    wrong += conflicting(owners, values, kept, first)
    if wrong:
        return wrong
    refusals = refused_before(calls)
    bounds = latest_moments(owners, grouped(readings, "revision"), refusals, first, newest)
    return attribute(changes, owners, values, kept, bounds) or walk(readings, owners, refusals, first, newest)


def twice(changes):
    return [f"double effect: {each} was acknowledged as revisions {each.revisions}" for each in changes if len(each.revisions) > 1]


def own(changes, first):
    """Whose each acknowledged revision is. A change to what stands there already makes none: it has read one.

    Whoever expected the revision before has made it; else whoever was sent first, since the others may have read it later.
    """
    owners, readings, wrong = {}, [], []
    for change in sorted(changes, key=lambda each: (each.expected is None, each.sent)):
        for revision in change.revisions:
            if revision > first and revision not in owners and change.expected != revision:
                owners[revision] = change
                continue
            readings.append({"revision": revision, "value": change.value, "sent": change.sent, "answered": change.answered})
            if change.expected not in (None, revision):
                wrong.append(f"stale: {change} expected revision {change.expected}, and found {revision}")
    return owners, readings, wrong


def seen_values(readings):
    """What was read at each revision, and where two readings of one revision differ."""
    values, wrong = {}, []
    for each in readings:
        if values.setdefault(each["revision"], each["value"]) != each["value"]:
            wrong.append(f"revision {each['revision']} was read as {values[each['revision']]} and as {each['value']}")
    return values, wrong


def lost(final, owners, newest):
    """Where the object ends at an older revision than was acknowledged or read."""
    if final["revision"] == newest:
        return []
    acknowledged = [str(owners[each]) for each in owners if each > final["revision"]]
    return [f"lost: revision {newest} was there, and the last one is {final['revision']}; acknowledged: {', '.join(acknowledged)}"]


def conflicting(owners, values, kept, first):
    """Where an acknowledged change is not what stands at its revision."""
    wrong = []
    for revision, change in sorted(owners.items()):
        if values.get(revision, change.value) != change.value:
            wrong.append(f"lost: {change} was acknowledged as revision {revision}, which has {values[revision]}")
        elif revision > first and kept.get(revision, change.key) not in (change.key, change.value):
            wrong.append(f"lost: {change} was acknowledged as revision {revision}, which is kept as {kept[revision]}")
    return wrong


def refused_before(calls):
    """Until when a revision must have been there, since somebody was refused who expected the one before it."""
    refusals = {}
    for each in calls:
        if each["call"] == "change" and each["result"] == "refused" and each.get("isConflict") and each.get("found") is None:
            revision = each["expected"] + 1
            refusals[revision] = min(refusals.get(revision, NEVER), each["answered"])
    return refusals


def latest_moments(owners, reading_of, refusals, first, newest):
    """The latest moment at which each revision can have been made: what needs it, or a later one, was answered then."""
    bounds, bound = {}, NEVER
    for revision in range(newest, first, -1):
        answered = [each["answered"] for each in reading_of[revision]] + [refusals.get(revision, NEVER)]
        bound = min([bound, *answered] + ([owners[revision].answered] if revision in owners else []))
        bounds[revision] = bound
    return bounds


def attribute(changes, owners, values, kept, bounds):
    """Finds the change behind each revision that nobody acknowledged; `owners` then has them all."""
    lost = [each for each in changes if not each.revisions and not each.is_refused]
    often = collections.Counter(each.value for each in changes)
    elsewhere = {each for each in [*values.values(), *kept.values()] if often[each] < 2}
    said = {
        revision: [source[revision] for source in (values, kept) if revision in source]
        for revision in bounds if revision not in owners}
    fitting = {revision: [
        each for each in lost if each.expected in (None, revision - 1) and each.sent <= bounds[revision] and revision <= each.newest
        # What was read at another revision is not the one where nothing was read.
        and (each.is_what(words) if words else not {each.key, each.value} & elsewhere)] for revision, words in said.items()}
    places = {each: [revision for revision in said if each in fitting[revision]] for each in lost}
    maker = {}
    nowhere = [each for each in lost if each.is_overtaken and not pair(each, places, maker)]
    wrong = [f"lost: {each} was acknowledged, and is no revision" for each in nowhere]
    # Whoever has a place keeps one.
    place = {change: revision for revision, change in maker.items()}
    wrong += [unowned(each, said[each], bounds[each], changes) for each in sorted(said)
              if each not in maker and not pair(each, fitting, place)]
    owners |= {revision: change for change, revision in place.items()}
    return wrong


def pair(one, choices, partners, tried=None):
    """Finds a partner for one more, while others may get another partner. Whether there is one."""
    tried = set() if tried is None else tried
    for other in choices[one]:
        if other not in tried:
            tried.add(other)
            if other not in partners or pair(partners[other], choices, partners, tried):
                partners[other] = one
                return True
    return False


def unowned(revision, said, bound, changes):
    """Why nobody may have made a revision."""
    makers = [each for each in changes if said and each.is_what(said)]
    for change in makers:
        if change.is_refused:
            return f"not executed: {change} was refused, and is revision {revision}"
        if change.revisions:
            return f"double effect: {change} is revision {change.revisions[0]}, and {revision} too"
        if change.expected not in (None, revision - 1):
            return f"stale: {change} expected revision {change.expected}, and made {revision}"
        if change.sent > bound:
            return f"time travel: {change} is revision {revision}, and what follows was answered before it was sent"
    return f"gap: nobody made revision {revision}" + (f", which has {said[0]}" if said else "")


def walk(readings, owners, refusals, first, newest):
    """Goes through the revisions, with a moment for each call in the order of the revisions."""
    wrong, reading_of = [], grouped(readings, "revision")
    before = reading_of[first][0]["value"]
    wrong += [f"refused: revision {each - 1} was expected and there" for each in refusals if each > newest]
    moment = -NEVER
    for revision in range(first, newest + 1):
        change = owners.get(revision) if revision > first else None
        if change:
            if change.expected not in (None, revision - 1):
                wrong.append(f"stale: {change} expected revision {change.expected}, and made {revision}")
            if change.value == before:
                wrong.append(f"double effect: revision {revision} has what was there before it, {before}")
            before, moment = change.value, max(moment, change.sent)
            if moment > min(change.answered, refusals.get(revision, NEVER)):
                wrong.append(f"time travel: {change} made revision {revision}, and what it follows was sent after its answer")
        for each in reading_of[revision]:
            if max(moment, each["sent"]) > each["answered"]:
                wrong.append(f"time travel: revision {revision} was read before it was there")
        moment = max([moment] + [each["sent"] for each in reading_of[revision]])
    return wrong
