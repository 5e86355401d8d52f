"""The tables and the drawing of docs/scaling.md, from a record of bench-growth."""

import math
import re
import textwrap

import growth_model as model
import growth_split
from browser import ROOT

PAGE, DRAWING = ROOT / "docs/scaling.md", ROOT / "docs/growth.svg"
CARRIED = {"reads": "`GET /users/me`", "patches": "`PATCH /users/me`", "autosaves": "an autosave",
           "refreshes": "a refresh, and the first use of its token", "logins": "a sign-up by a code, two calls",
           "onboardings": "a whole onboarding, 47 calls"}
EXTRAPOLATED = 10_000_000


def table(head, rows):
    """
    >>> print(table(["what", "µs"], [["a read", "62"]]))
    | what | µs |
    |---|---|
    | a read | 62 |
    """
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in [head, *rows]).replace("\n", f"\n|{'---|' * len(head)}\n", 1)


def number(value):
    """
    >>> number(1234567), number(62.4), number(0.031), number(3)
    ('1,234,567', '62', '0.031', '3')
    """
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def about(value):
    """Three digits of what is no more exact than that.

    >>> about(8_412_345), about(123_456_789_012)
    ('8,410,000', '123,000,000,000')
    """
    return f"{round(value, 2 - int(math.log10(value))):,.0f}"


def size(value):
    """
    >>> size(1536), size(2.5e6), size(3.1e9), size(4.2e12)
    ('1.5 kB', '2.4 MB', '2.9 GB', '3.8 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if value < 1000 or unit == "PB":
            return f"{value:.1f} {unit}" if value < 10 and unit != "B" else f"{value:,.0f} {unit}"
        value /= 1024


def extrapolated(points, people):
    """The value at so many people, on the straight line over the logarithm of people that is nearest to the points.

    >>> round(extrapolated({10: 1, 100: 2, 1000: 3}, 10_000), 6)
    4.0
    """
    xs, ys = [math.log10(x) for x in points], list(points.values())
    middle = sum(xs) / len(xs)
    slope = sum((x - middle) * y for x, y in zip(xs, ys)) / (sum((x - middle) ** 2 for x in xs) or 1)
    return sum(ys) / len(ys) + slope * (math.log10(people) - middle)


def total(cost):
    return sum(cost["parts"].values())


def of(parts, *names):
    return number(sum(parts.get(name, 0) for name in names))


def carries(record):
    rows = []
    services = [service for service in model.SERVICES if service != "gateway"]
    for name, parts in model.costs(record).items():
        everything = sum(parts.values())
        rows.append([CARRIED[name], of(parts, "gateway"), of(parts, *services), of(parts, "database", "database, background"),
                     number(everything), number(1e6 / everything)])
    return table(["one", "gateway, µs", "services, µs", "PostgreSQL, µs", "all, µs", "a second, of one core"], rows)


def needs(record):
    each = [model.needs(people, record) for people in (1_000_000, 10_000_000, 100_000_000)]
    rows = [["requests a second, busiest hour", *(number(need["requests"]) for need in each)]]
    for service in model.SERVICES:
        rows.append([f"replicas of {service}, one thread each", *(need["replicas"][service] for need in each)])
    rows += [
        ["cores that these keep busy", *(number(sum(need["busy"].get(service, 0) for service in model.SERVICES)) for need in each)],
        ["cores for PostgreSQL; kept busy", *(f"{need['database']}; {number(need['database busy'])}" for need in each)],
        ["connections to PostgreSQL, at most", *(need["connections"] for need in each)],
        ["disk after a year, without WAL and copies", *(size(need["disk"]) for need in each)],
        ["of it refresh tokens", *(size(sum(model.bytes_of(need["people"], record)["auth.refresh_tokens"].values())) for need in each)],
        ["memory for the pages that a day touches", *(size(need["hot"]) for need in each)],
    ]
    return table(["", "1 million", "10 million (extrapolated)", "100 million (extrapolated)"], rows)


def assumed(_):
    share = model.ASSUMED
    return paragraph(
        f"Of all people, {share['active']:.0%} are active on a day. An active person reads {share['reads']} times, renews the token "
        f"{share['refreshes']} times, saves {share['autosaves']} answers, changes the profile {share['patches']} times and signs in "
        f"{share['logins']} times. New people are {share['onboardings']:.1%} of all, a day. The busiest hour has {share['peak']} times "
        f"the mean, and a core may then be {share['busy']:.0%} busy. A replaced refresh token stays {share['token days']} days. "
        f"The tables have grown for {share['days']} days.")


def paragraph(words):
    return textwrap.fill(words, 128)


def fits(record):
    found, lines = [], []
    for title, changes in ("as it is", {}), ("without the replaced tokens", {"token days": 1}):
        first = model.first_that_does_not_fit(record, model.ASSUMED | changes)
        found.append([title, about(first["people"]), f"`{first['name']}`", f"{first['share']:.0%}", first["query"]])
    lines.append(table(["", "people", "the part that is the greatest then", "its share", "the query"], found))
    people = model.first_that_does_not_fit(record)["people"]
    parts = model.hot(people, record)
    sizes = {name: count for names in model.bytes_of(people, record).values() for name, count in names.items()}
    greatest = sorted(parts, key=parts.get, reverse=True)[:8]
    lines.append(table([f"at {about(people)} people", "whole", "touched in a day"],
                       [[f"`{name}`", size(sizes[name]), size(parts[name])] for name in greatest]))
    return "\n\n".join(lines)


def hours(record):
    each = sorted(model.hour_of_vacuum(record).items(), key=lambda item: item[1])[:8]
    rows = [[f"`{name}`", about(people)] for name, people in each]
    text = paragraph(
        f"At its slowest, a vacuum at the pace of autovacuum read {size(model.vacuum_rate(record))} a second, heap and indexes together. "
        "One that reads all of a table, as to freeze its rows, would then take an hour here:")
    return f"{text}\n\n{table(['table', 'people (extrapolated)'], rows)}"


def partitions(record):
    found = record["partitions"]
    rows = [[f"{when} they are split", found[when]["rate"], found[when]["late"], found[when]["seconds"]] for when in ("before", "after")]
    rows[1:1] = [[f"while `{table}` is split, {number(each['rows'])} rows", each["rate"], each["late"], each["seconds"]]
                 for table in growth_split.TABLES for each in [found["tables"][table]]]
    rows = [[what, number(rate), number(late), number(seconds)] for what, rate, late, seconds in rows]
    text = paragraph(f"8 clients save answers of {number(found['people'])} people at random; then there are {found['partitions']} "
                     "partitions of each table:")
    return f"{text}\n\n{table(['autosaves', 'a second', 'longer than 200 ms', 'measured for, seconds'], rows)}"


def replicas(record):
    found = {int(count): each for count, each in record["replicas"].items()}
    rows = [[count, number(each["rate"]), f"{each['p50']}, {each['p99']}", of(each["parts"], "gateway"), of(each["parts"], "profile"),
             of(each["parts"], "database"), number(total(each))] for count, each in sorted(found.items())]
    least, most = found[min(found)], found[max(found)]
    more = max(found) - min(found)
    idle = [[part, f"{(most['idle'][part] - least['idle'][part]) / more / 10:.1f} %",
             f"{(most['megabytes'][part] - least['megabytes'][part]) / more:.0f} MB"] for part in ("gateway", "profile")]
    return "\n\n".join([
        table(["replicas of each", "a second", "p50, p99 (ms)", "gateway, µs", "profile, µs", "PostgreSQL, µs", "all, µs"], rows),
        table(["one more replica, idle", "of a core", "memory"], idle)])


def people(record):
    sizes = sorted(map(int, record["people"]))
    rows = []
    for kind, title in ("loaded", "64 connections"), ("alone", "one at a time"):
        for what in record["people"][str(sizes[0])][kind]:
            each = {count: record["people"][str(count)][kind][what] for count in sizes}
            totals = {count: total(cost) for count, cost in each.items()}
            rows.append([f"{what}, {title}", *(f"{number(totals[count])} ({of(each[count]['parts'], 'database')}); "
                                               f"{each[count]['p50']}, {each[count]['p99']}" for count in sizes),
                         number(extrapolated(totals, EXTRAPOLATED))])
    for what in record["people"][str(sizes[0])]["touched"]:
        blocks = {count: sum(each["blocks"] for each in record["people"][str(count)]["touched"][what].values()) for count in sizes}
        rows.append([f"{what}, blocks of PostgreSQL", *map(number, blocks.values()), number(extrapolated(blocks, EXTRAPOLATED))])
    rows.append(["nobody asks, ms a second", *(number(sum(record["people"][str(count)]["idle"].values())) for count in sizes), ""])
    heads = [f"{count:,}" for count in sizes]
    return table(["all parts, µs (PostgreSQL); p50, p99, ms", *heads, f"{EXTRAPOLATED:,} (extrapolated)"], rows)


def cold(record):
    sizes = [count for count in sorted(map(int, record["people"])) if record["people"][str(count)]["cold"]]
    rows = [[what, *(f"{record['people'][str(count)]['cold'][what]['p50']}, {record['people'][str(count)]['cold'][what]['p99']}"
                     for count in sizes)] for what in ("refresh", "GET /users/me", "autosave")]
    return table(["p50, p99 (ms)", *(f"{count:,}" for count in sizes)], rows)


def tables_and_indexes(record):
    greatest = model.greatest(record)
    sizes = sorted(map(int, record["people"]))
    all_sizes = {count: record["people"][str(count)]["sizes"] for count in sizes}
    names = [name for name, each in all_sizes[greatest].items() if each["bytes"] > 5 * greatest]
    rows = [[f"`{name}`", *(number(all_sizes[count].get(name, {"bytes": 0})["bytes"] / count) for count in sizes)]
            for name in sorted(names, key=lambda name: -all_sizes[greatest][name]["bytes"])]
    rows.append(["all", *(number(sum(each["bytes"] for each in all_sizes[count].values()) / count) for count in sizes)])
    return table(["bytes a person", *(f"{count:,} people" for count in sizes)], rows)


def autovacuum(record):
    found = record["autovacuum"]
    rows = []
    for name, before in found["before"].items():
        after, rested = found["after"][name], found["rested"][name]
        updated = after["updated"] - before["updated"]
        hot = f"{(after['hot'] - before['hot']) / updated:.0%}" if updated else "–"
        visits = [run for run in found["runs"] if run["table"] == name]
        took = ", ".join(f"{visit['seconds']:.0f} s" for visit in visits) or f"no; by hand {found['paced'].get(name, 0):.0f} s"
        rows.append([f"`{name}`", number(updated), hot, number(after["inserted"] - before["inserted"]), number(after["dead"]),
                     number(rested["dead"]), took, f"{size(before['heap'])} → {size(rested['heap'])}",
                     f"{size(before['indexes'])} → {size(rested['indexes'])}"])
    text = " and ".join(f"{count:,} {what} changes in {found['seconds'][what]} seconds" for what, count in found["changes"].items())
    logged = " and ".join(f"{size(each['bytes'])} ({number(each['images'])} images of whole pages) for one {what}"
                          for what, each in found["wal"].items())
    text = paragraph(f"{text}, of {found['people']:,} people by {found['clients']} clients. PostgreSQL wrote {logged} to its WAL.")
    return f"{text}\n\n" + table(
        ["table", "updated", "of it HOT", "inserted", "dead rows after", "dead at the end", "autovacuum", "heap", "indexes"], rows)


def footprint(record):
    found = record["footprint"]["onboarding"]["tables"]
    names = sorted(found, key=lambda name: -(found[name]["heap"] + found[name]["indexes"]))
    kept = {name: f"{days} day{'s' if days > 1 else ''}" for name, days in model.DAYS_KEPT.items()}
    rows = [[f"`{name}`", number(found[name]["rows"]), number(found[name]["heap"]), number(found[name]["indexes"]),
             kept.get(name, "")] for name in names if found[name]["heap"] + found[name]["indexes"] >= 100]
    rows.append(["all, also smaller ones", "", number(sum(each["heap"] for each in found.values())),
                 number(sum(each["indexes"] for each in found.values())), ""])
    return table(["one onboarded person leaves", "rows", "heap, bytes", "indexes, bytes", "kept for"], rows)


def actions(record):
    touched = record["people"][str(model.greatest(record))]["touched"]
    rows = []
    for what, names in touched.items():
        inserted = ", ".join(f"{number(each['inserted'])} `{name}`" for name, each in names.items() if each.get("inserted", 0) >= 0.5)
        updated = ", ".join(f"{number(each['updated'])} `{name}`" for name, each in names.items() if each.get("updated", 0) >= 0.5)
        rows.append([what, inserted or "–", updated or "–", number(sum(each["blocks"] for each in names.values()))])
    signed = record["footprint"]["login"]["tables"].get("auth.audit", {"rows": 0})["rows"]
    rows.append(["sign-up by a code", f"{number(signed)} `auth.audit`, and those of an account", "", ""])
    return table(["one", "rows added", "rows updated", "blocks touched"], rows)


def measured(record):
    lines = []
    for part, run in record["runs"].items():
        lines.append([f"`scripts/bench-growth {part}`", run["day"], f"{run['processors']} virtual processors, {run['gigabytes']} GB"])
    return table(["command", "day", "machine"], lines)


BLOCKS = {"carries": carries, "needs": needs, "assumed": assumed, "fits": fits, "hours": hours, "replicas": replicas, "people": people,
          "cold": cold, "tables": tables_and_indexes, "autovacuum": autovacuum, "footprint": footprint, "actions": actions,
          "measured": measured, "partitions": partitions}
# The parts of the record that a block is made of.
SOURCES = {"replicas": ["replicas"], "people": ["people"], "cold": ["people"], "tables": ["people"], "autovacuum": ["autovacuum"],
           "footprint": ["footprint"], "actions": ["people", "footprint"], "carries": ["people", "footprint"],
           "needs": ["people", "footprint", "autovacuum"], "assumed": [], "measured": [], "fits": ["people", "footprint", "autovacuum"],
           "hours": ["people", "footprint", "autovacuum"], "partitions": ["partitions"]}


def tables(record):
    """All tables that the parts of the record suffice for."""
    return "\n\n".join(f"{name}\n\n{block(record)}" for name, block in BLOCKS.items() if all(part in record for part in SOURCES[name]))


def write(record):
    text = PAGE.read_text()
    for name, block in BLOCKS.items():
        marked = re.compile(rf"(<!-- bench-growth: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        assert marked.search(text), f"docs/scaling.md has no place for {name}"
        content = block(record)
        text = marked.sub(lambda match: f"{match[1]}{content}\n{match[2]}", text)
    PAGE.write_text(text)
    DRAWING.write_text(drawing(record))


# The drawing.

COLOURS = {"GET /users/me": "#1b6ca8", "PATCH /users/me": "#c0561a", "autosave": "#2e7d32", "refresh": "#7b3fa0"}
WIDTH, HEIGHT, LEFT, TOP = 860, 400, 60, 50


class Panel:
    """A diagram with logarithmic axes."""

    def __init__(self, left, width, xs, ys):
        self.left, self.width, self.xs, self.ys = left, width, xs, ys

    def x(self, value):
        least, most = map(math.log10, (self.xs[0], self.xs[-1]))
        return self.left + (math.log10(value) - least) / (most - least) * self.width

    def y(self, value):
        least, most = map(math.log10, (self.ys[0], self.ys[-1]))
        return HEIGHT - TOP - (math.log10(value) - least) / (most - least) * (HEIGHT - 2 * TOP)

    def axes(self, title, labels):
        lines = [text(self.left + self.width / 2, 24, title, "middle", "bold")]
        for value in self.ys:
            lines += [line(self.left, self.y(value), self.left + self.width, self.y(value), "#ddd"),
                      text(self.left - 6, self.y(value) + 4, f"{value:,}", "end")]
        for value, label in zip(self.xs, labels):
            lines += [line(self.x(value), HEIGHT - TOP, self.x(value), HEIGHT - TOP + 5, "#444"),
                      text(self.x(value), HEIGHT - TOP + 20, label, "middle")]
        return lines

    def curve(self, points, colour, dashes=""):
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points.items())
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        return [f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"{style}/>'] + [
            f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points.items()]


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def text(x, y, words, anchor="start", weight="normal", colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">{words}</text>'


def drawing(record):
    """Two diagrams: processor time of a request against people, and of a read against replicas."""
    sizes = sorted(map(int, record["people"]))
    left = Panel(LEFT, 430, [10_000, 100_000, 1_000_000, 10_000_000], [10, 30, 100, 300, 1000, 3000])
    lines = left.axes("Processor time of a request, µs, against people", ["10,000", "100,000", "1 million", "10 million"])
    for what, colour in COLOURS.items():
        points = {count: total(record["people"][str(count)]["loaded"][what]) for count in sizes}
        last = max(10, extrapolated(points, EXTRAPOLATED))
        lines += left.curve(points, colour) + left.curve({sizes[-1]: points[sizes[-1]], EXTRAPOLATED: last}, colour, "5 4")
        lines.append(text(left.x(sizes[0]) + 8, left.y(points[sizes[0]]) - 8, what, colour=colour))
    right = Panel(600, 220, [1, 2, 4, 8], [3, 10, 30, 100, 300])
    counts = sorted(map(int, record["replicas"]))
    lines += right.axes("GET /users/me, µs, against replicas", map(str, counts))
    for part, colour in {"all": "#222", "gateway": "#1b6ca8", "profile": "#c0561a", "database": "#2e7d32"}.items():
        points = {count: total(each) if part == "all" else each["parts"][part]
                  for count in counts for each in [record["replicas"][str(count)]]}
        lines += right.curve(points, colour)
        # Gateway and profile cost about the same.
        lines.append(text(right.x(1) + 4, right.y(points[1]) + (18 if part in ("gateway", "database") else -12),
                          "PostgreSQL" if part == "database" else part, colour=colour))
    lines.append(text(LEFT, HEIGHT - 8, "64 connections; dashed: extrapolated. Drawn by scripts/bench-growth --page.", colour="#555"))
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" role="img" '
            f'aria-label="Processor time of requests against people and replicas">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f"{body}\n</svg>\n")
