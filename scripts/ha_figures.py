"""What `scripts/ha-test` reads from its history: how long nobody could write, and what became of each write."""

import collections

from chaos_revisions import grouped

WRITES = "change", "sign-in", "renew"


def longest_pause(moments, began, ended):
    """The longest time between a beginning and an end without one of these moments."""
    inside = [began, *sorted(each for each in moments if began < each < ended), ended]
    return max(later - earlier for earlier, later in zip(inside, inside[1:]))


def next_after(moment, moments):
    """How long it is from a moment to the next one of others."""
    return min(each for each in moments if each >= moment) - moment


def fate(calls):
    """What became of a write, by all calls with its key."""
    results = {each["result"] for each in calls}
    return next(each for each in ("acknowledged", "unknown", "refused") if each in results)


def writes(lines, began, ended):
    """How many writes that were sent in a time were acknowledged, refused or are unknown."""
    calls = [each for each in lines if each.get("call") in WRITES and began <= each["sent"] <= ended]
    return collections.Counter(fate(of_key) for of_key in grouped(calls, "key").values())


def unknown(lines, began, ended):
    """The changes without a known fate that were sent in a time, each with whether a revision is of it."""
    words = collections.defaultdict(set)
    for each in lines:
        if each.get("final") == "kept":
            words[each["object"]].update(each["revisions"].values())
    changes = grouped([each for each in lines if each.get("call") == "change"], "key")
    return [
        {"object": calls[0]["object"], "key": key, "isFound": not words[calls[0]["object"]].isdisjoint({key, calls[0]["value"]})}
        for key, calls in changes.items() if fate(calls) == "unknown" and began <= calls[0]["sent"] <= ended]


def unknown_sign_ins(lines, began, ended, sessions):
    """The sign-ins without a known fate that were sent in a time.

    `sessions` has those of each account. Each session that no other sign-in made shows that one is found. None is found of
    somebody whose account nobody was told.
    """
    sign_ins = [each for each in lines if each.get("call") == "sign-in"]
    accounts = {each["person"]: each["account"] for each in sign_ins if "account" in each}
    made = {each["made"] for each in sign_ins if "made" in each}
    left = {person: len(set(sessions.get(account, [])) - made) for person, account in accounts.items()}
    found = []
    for key, calls in grouped(sign_ins, "key").items():
        if fate(calls) == "unknown" and began <= calls[0]["sent"] <= ended:
            person = calls[0]["person"]
            found.append({"person": person, "key": key, "isFound": left.get(person, 0) > 0})
            left[person] = left.get(person, 0) - 1
    return found


def unknown_renewals(lines, began, ended, renewed):
    """The renewals without a known fate that were sent in a time. All calls with one refresh token are one renewal.

    `renewed` says when each session was renewed last. A session renews one token at a time, and goes on to the next one once a renewal
    is acknowledged. So a renewal without a known fate is the session's last one, and is found if the session was renewed since.
    """
    renewals = grouped([each for each in lines if each.get("call") == "renew"], "key")
    return [
        {"session": calls[0]["session"], "key": key, "isFound": renewed.get(calls[0]["session"], 0) > calls[0]["sent"]}
        for key, calls in renewals.items() if fate(calls) == "unknown" and began <= calls[0]["sent"] <= ended]


def wrongly_restored(lines, restored, before, after):
    """Where what was restored is not as of a moment that lies between two others.

    `restored` has, for each object, its last revisions with what made each.
    """
    wrong = []
    for name, calls in grouped([each for each in lines if each.get("call") == "change"], "object").items():
        revisions = {int(revision): word for revision, word in restored.get(name, {}).items()}
        newest = max(revisions, default=0)
        for key, of_key in grouped(calls, "key").items():
            for each in of_key:
                if each["result"] != "acknowledged" or "revision" not in each:
                    continue
                revision, is_there = each["revision"], each["revision"] <= newest
                if each["answered"] < before and not is_there:
                    wrong.append(f"lost: {name} ends at revision {newest}, and {revision} was acknowledged before the moment")
                if revisions.get(revision, key) not in (key, each["value"]):
                    wrong.append(f"lost: revision {revision} of {name} is {revisions[revision]}, and {key} was acknowledged as it")
                if of_key[0]["sent"] > after and is_there:
                    wrong.append(f"too new: {name} has revision {revision}, which was sent after the moment")
    return wrong
