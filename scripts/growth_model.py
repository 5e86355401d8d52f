"""From the figures of bench-growth and stated assumptions: what systems of 1, 10 and 100 million people need."""

import math

from growth_people import AGAIN, FIRST

# What an active person does in a day, and what all people do. Change these to those of your app.
ASSUMED = {
    "active": 0.2, "reads": 20, "patches": 0.1, "autosaves": 0.2, "refreshes": 4, "logins": 0.02, "onboardings": 0.002,
    # The busiest hour against the mean; and how busy a processor may be in it.
    "peak": 3, "busy": 0.5,
    # Replaced refresh tokens stay while their session lives, which is 180 days at most: 90 in the mean.
    "token days": 90,
    # How long the tables have grown that keep something for a year or for good.
    "days": 365,
}
PAGE, GIGABYTE = 8192, 2 ** 30
# Of 64 GB, a quarter is for connections, sorting and the system.
MEMORY = 48 * GIGABYTE
POOL = 16
SERVICES = ["gateway", "auth", "profile", "questionnaire", "visual-preference", "verification", "recovery"]
# Bytes of an entry whose key repeats: PostgreSQL stores the key once, and six bytes for each row. A leaf is 70 % full.
REPEATED = {"auth.refresh_tokens_session": 9}
# The statement that reads a table by keys at random.
QUERIES = {
    "auth.refresh_tokens": "`… FROM refresh_tokens t JOIN sessions s … WHERE t.hash = $1`, of each refresh",
    "auth.sessions": "the same statement",
    "auth.devices": "the same statement",
    "auth.accounts": "the same statement",
    "profile.profiles": "`SELECT … FROM profiles WHERE person_id = $1`, of each read",
    "profile.profile_field_history": "`INSERT INTO profile_field_history …`, of each PATCH",
    "questionnaire.sessions": "`UPDATE sessions SET revision = revision + 1 …`, of each autosave",
    "questionnaire.answers": "`… FROM s JOIN answers a …`, of each look at a questionnaire",
    "questionnaire.answer_history": "`INSERT INTO answer_history …`, of each autosave",
    "questionnaire.mutations": "`INSERT INTO mutations …`, of each autosave",
}
OPERATIONS = {"reads": "GET /users/me", "patches": "PATCH /users/me", "autosaves": "autosave", "refreshes": "refresh"}


def costs(record):
    """Microseconds of each part for one of each operation, from the greatest number of people that was measured."""
    people = record["people"][str(greatest(record))]
    found = {name: people["loaded"][what]["parts"] for name, what in OPERATIONS.items()}
    # The gateway tells auth of the first use of each new access token.
    first, again = (people["alone"][what]["parts"] for what in (FIRST, AGAIN))
    found["refreshes"] = {part: found["refreshes"].get(part, 0) + max(0, first.get(part, 0) - again.get(part, 0))
                          for part in {*found["refreshes"], *first}}
    return found | {"logins": record["footprint"]["login"]["parts"], "onboardings": record["footprint"]["onboarding"]["parts"]}


def greatest(record):
    return max(map(int, record["people"]))


def rates(people, assumed=ASSUMED):
    """Operations a second in the busiest hour.

    >>> round(rates(1_000_000)["reads"]), round(rates(1_000_000)["onboardings"], 2)
    (139, 0.07)
    """
    each = {name: assumed["active"] * assumed[name] for name in ("reads", "patches", "autosaves", "refreshes", "logins")}
    each["onboardings"] = assumed["onboardings"]
    return {name: people * count * assumed["peak"] / 86_400 for name, count in each.items()}


def cores(people, costs, assumed=ASSUMED):
    """Processors that each part keeps busy in the busiest hour.

    >>> cores(86_400_000 / 12, {"reads": {"gateway": 50}, "logins": {}}, ASSUMED)
    {'gateway': 0.05}
    """
    found = {}
    for name, rate in rates(people, assumed).items():
        for part, cost in costs.get(name, {}).items():
            found[part] = found.get(part, 0) + rate * cost / 1e6
    return found


def replicas(busy, assumed=ASSUMED):
    """Replicas of a service that takes so many processors: one thread each, and two at least.

    >>> replicas(0.02), replicas(1.2)
    (2, 3)
    """
    return max(2, math.ceil(busy / assumed["busy"]))


def rows(people, record, assumed=ASSUMED):
    """Rows of each table once it has grown: those of an onboarding, and what an active person adds in time.

    >>> tables = {"login": {"auth.audit": {"rows": 3}}, "onboarding": {"auth.accounts": {"rows": 1}, "auth.inbox": {"rows": 2}}}
    >>> counts = rows(1000, {"footprint": {what: {"tables": each} for what, each in tables.items()}})
    >>> round(counts["auth.accounts"]), round(counts["auth.refresh_tokens"]), round(counts["auth.inbox"])
    (1000, 72000, 804)
    """
    onboarded = {table: each["rows"] * people for table, each in record["footprint"]["onboarding"]["tables"].items()}
    active = people * assumed["active"]
    # No answer and no field keeps more than 32 states.
    bound = {table: 32 * onboarded.get(source, 0) for table, source in HISTORIES.items()}
    added = {
        "auth.refresh_tokens": active * assumed["refreshes"] * assumed["token days"],
        "questionnaire.answer_history": active * assumed["autosaves"] * min(365, assumed["days"]),
        "profile.profile_field_history": active * assumed["patches"] * min(365, assumed["days"]),
        "profile.onboarding_events": active * assumed["days"],
        "auth.inbox": active * assumed["refreshes"],
        "auth.audit": active * assumed["logins"] * assumed["days"] * record["footprint"]["login"]["tables"]["auth.audit"]["rows"],
    }
    for table in DAYS_KEPT:
        # The rows of those who were onboarded lately alone.
        if table in onboarded:
            onboarded[table] *= min(1, assumed["onboardings"] * DAYS_KEPT[table])
    added["questionnaire.mutations"] = active * assumed["autosaves"] * DAYS_KEPT["questionnaire.mutations"]
    total = {table: onboarded.get(table, 0) + added.get(table, 0) for table in {*onboarded, *added}}
    return {table: min(count, bound.get(table) or count) for table, count in total.items()}


# docs/retention.md says how long rows are kept that go by their age.
DAYS_KEPT = {"questionnaire.mutations": 30, "auth.challenges": 1, "auth.challenge_bindings": 1} | {
    f"{service}.{table}": 1 for table in ("inbox", "outbox")
    for service in ("auth", "profile", "questionnaire", "visual_preference", "verification", "recovery")}
HISTORIES = {"questionnaire.answer_history": "questionnaire.answers", "profile.profile_field_history": "profile.profile_field_history"}


def row_bytes(record):
    """Bytes of a row of each table, and of its entry in each index. Of tables that were not filled, all indexes are one."""
    found = {}
    for table, each in record["footprint"]["onboarding"]["tables"].items():
        found[table] = {table: each["heap"] / each["rows"], f"{table}, indexes": each["indexes"] / each["rows"]}
    sizes = record["people"][str(greatest(record))]["sizes"]
    # PostgreSQL estimates how many rows there are.
    filled = {name for name, size in sizes.items() if size["kind"] == "r" and size["rows"] > 0.9 * greatest(record)}
    found |= {name: {name: sizes[name]["bytes"] / sizes[name]["rows"]} for name in filled}
    for name, size in sizes.items():
        if size["kind"] == "i" and size["table"] in filled:
            found[size["table"]][name] = REPEATED.get(name, size["bytes"] / sizes[size["table"]]["rows"])
    # An onboarding sends its answers without IDs of writes, so these are of the burst before autovacuum.
    added = record["autovacuum"]["rested"]["questionnaire.mutations"]
    found["questionnaire.mutations"] = {"questionnaire.mutations": added["heap"] / added["rows"],
                                        "questionnaire.mutations, indexes": added["indexes"] / added["rows"]}
    return found


def bytes_of(people, record, assumed=ASSUMED):
    """Bytes of each table and index, by table."""
    each, counts = row_bytes(record), rows(people, record, assumed)
    return {table: {name: size * counts.get(table, 0) for name, size in parts.items()} for table, parts in each.items()}


def touched_pages(pages, touches):
    """How many of some pages are touched, where each touch meets one of them at random.

    >>> round(touched_pages(100, 100)), round(touched_pages(1e6, 100)), round(touched_pages(10, 1e6))
    (63, 100, 10)
    """
    return pages * -math.expm1(-touches / pages) if pages > 0 else 0


def hot(people, record, assumed=ASSUMED):
    """Bytes of the pages of each table and index that are touched in a day."""
    active = people * assumed["active"]
    touched = record["people"][str(greatest(record))]["touched"]
    found = {}
    for table, parts in bytes_of(people, record, assumed).items():
        for name, size in parts.items():
            # Somebody who comes again meets the same pages.
            known = name.removesuffix(", indexes")
            touches = active * min(1, sum(assumed[kind] for kind, what in OPERATIONS.items() if known in touched[what]))
            # Each refresh looks another token up, and adds one under a key at random.
            touches *= {"auth.refresh_tokens": assumed["refreshes"], "auth.refresh_tokens_pkey": 2 * assumed["refreshes"]}.get(name, 1)
            if touches:
                found[name] = touched_pages(size / PAGE, touches) * PAGE
    return found


def most_people(fits):
    """The greatest number of people for which something holds, by halving.

    >>> most_people(lambda people: people <= 12_345_678)
    12345678
    """
    least, most = 0, 10 ** 11
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle) else (least, middle)
    return least


def first_that_does_not_fit(record, assumed=ASSUMED):
    """How many people's pages fit the memory, and the part of them that then is the greatest."""
    people = most_people(lambda people: sum(hot(people, record, assumed).values()) <= MEMORY)
    parts = hot(people, record, assumed)
    name = max(parts, key=parts.get)
    table = next(table for table, names in row_bytes(record).items() if name in names)
    return {"people": people, "name": name, "share": parts[name] / sum(parts.values()), "query": QUERIES.get(table, table), "parts": parts}


def vacuum_rate(record):
    """Bytes a second, heap and indexes together, of the slowest vacuum at the pace of autovacuum that took ten seconds or more."""
    found = []
    vacuum = record["autovacuum"]
    for run in vacuum["runs"]:
        size = run["pages"] * PAGE + vacuum["rested"][run["table"]]["indexes"] * run["index scans"]
        if run["seconds"] >= 10:
            found.append(size / run["seconds"])
    for table, seconds in vacuum["paced"].items():
        if seconds >= 10:
            found.append((vacuum["rested"][table]["heap"] + vacuum["rested"][table]["indexes"]) / seconds)
    return min(found)


def hour_of_vacuum(record, assumed=ASSUMED):
    """For each table, from how many people on a vacuum that reads all of it takes longer than an hour."""
    rate = vacuum_rate(record)
    totals = {table: sum(parts.values()) / 1e6 for table, parts in bytes_of(1_000_000, record, assumed).items()}
    return {table: rate * 3600 / each for table, each in totals.items() if each > 0}


def needs(people, record, assumed=ASSUMED):
    """What a system of so many people needs."""
    busy = cores(people, costs(record), assumed)
    counts = {service: replicas(busy.get(service, 0), assumed) for service in SERVICES}
    database = busy["database"] + busy.get("database, background", 0)
    disk = sum(sum(parts.values()) for parts in bytes_of(people, record, assumed).values())
    return {
        "people": people, "requests": sum(rate * CALLS[name] for name, rate in rates(people, assumed).items()), "busy": busy,
        "replicas": counts, "database": max(2, math.ceil(database / assumed["busy"])), "database busy": database,
        "connections": POOL * sum(count for service, count in counts.items() if service != "gateway"), "disk": disk,
        "hot": sum(hot(people, record, assumed).values())}


# Requests of the app for one operation.
CALLS = {"reads": 1, "patches": 1, "autosaves": 1, "refreshes": 1, "logins": 2, "onboardings": 47}
