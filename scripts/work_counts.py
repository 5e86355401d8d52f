"""What scripts/count-work decides: counts from a dump of callgrind, and whether counts have risen."""

import collections
import re

KINDS = ["instructions", "allocations", "retains", "system calls"]
# The share by which a count may rise. Retains are instructions as well, and system calls depend on what else the machine does.
MAY_RISE = {"instructions": 0.03, "allocations": 0.01}

ALLOCATE = re.compile(r"malloc|calloc|realloc|aligned_alloc|posix_memalign|memalign")
RETAIN = re.compile(r"swift_(nonatomic_)?(bridgeObjectR|unknownObjectR|r)etain(_n)?|swift_(weakLoad|unownedRetain)Strong")
# What Tests/Counts/steady.c costs itself is left out.
LEFT_OUT = "/steady.so"


def counts_of_dump(lines):
    """The sums of a dump of callgrind with the events Ir, sysCount and sysTime.

    >>> counts_of_dump('''events: Ir sysCount sysTime
    ... ob=(1) /tmp/Gateway
    ... fn=(1) main
    ... 1 100 2 9
    ... cob=(2) /tmp/steady.so
    ... cfn=(2) malloc
    ... calls=3 0
    ... 1 500
    ... cfn=(3) swift_retain
    ... calls=4 0
    ... 1 40
    ... ob=(2)
    ... fn=(2)
    ... 0 7 5 5
    ... cfn=(4) malloc
    ... calls=3 0
    ... 0 450
    ... ob=(3) /lib/libc.so.6
    ... fn=(4)
    ... 0 50'''.splitlines())
    {'instructions': 150, 'allocations': 3, 'retains': 4, 'system calls': 2}
    """
    names, counts = {}, collections.Counter({kind: 0 for kind in KINDS})
    at = {"ob": "", "fn": "", "cfn": ""}
    is_call = False
    for line in lines:
        key, _, value = line.rstrip().partition("=")
        if key in ("ob", "cob", "fn", "cfn"):
            number, _, name = value.partition(" ")
            # The name stands at the first mention. Callgrind marks recursion by an apostrophe.
            at[key] = names.setdefault((key[-2:], number), name.partition("'")[0])
        elif key == "calls":
            is_call = True
            times = int(value.split()[0])
            for kind, pattern in ("allocations", ALLOCATE), ("retains", RETAIN):
                # One that calls another one is a single allocation.
                if pattern.fullmatch(at["cfn"]) and not pattern.fullmatch(at["fn"]):
                    counts[kind] += times
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            # The line after a call has what the called function cost, which counts there.
            if not is_call and not at["ob"].endswith(LEFT_OUT):
                costs = line.split()[1:]
                counts["instructions"] += int(costs[0])
                counts["system calls"] += int(costs[1]) if len(costs) > 1 else 0
            is_call = False
    return {kind: counts[kind] for kind in KINDS}


def read_table(lines):
    """The counts of a file, by work and process.

    >>> read_table(["# work | …", "", "read me | gateway | 100 | 2.5 | 3 | 4"])
    {('read me', 'gateway'): {'instructions': 100.0, 'allocations': 2.5, 'retains': 3.0, 'system calls': 4.0}}
    """
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.strip() and line[0] != "#"]
    return {(work, process): dict(zip(KINDS, map(float, cells), strict=True)) for work, process, *cells in rows}


def least(counts, others):
    """The lesser of both for each count.

    >>> least({"read": {"instructions": 3, "allocations": 2}}, {"read": {"instructions": 4, "allocations": 1}})
    {'read': {'instructions': 3, 'allocations': 1}}
    """
    return {place: {kind: min(count, others[place][kind]) for kind, count in each.items()} for place, each in counts.items()}


def table(counts):
    """The lines of a file with counts."""
    rows = [["# work", "process", *KINDS]] + [
        [work, process, f"{each['instructions']:.0f}", *(f"{each[kind]:.1f}" for kind in KINDS[1:])]
        for (work, process), each in counts.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [" | ".join(cell.ljust(width) if place < 2 else cell.rjust(width)
                       for place, (cell, width) in enumerate(zip(row, widths))) for row in rows]


def judge(known, measured):
    """What has risen, and what has fallen by as much, each a sentence.

    >>> known = {("read", "gateway"): {"instructions": 1000, "allocations": 100}}
    >>> judge(known, {("read", "gateway"): {"instructions": 1030, "allocations": 102}})
    (['read, gateway: 102 allocations instead of 100 (+2.0 %)'], [])
    >>> judge(known, {("read", "gateway"): {"instructions": 900, "allocations": 99.5}})
    ([], ['read, gateway: 900 instructions instead of 1,000 (-10.0 %)'])
    >>> judge(known, {("write", "gateway"): {"instructions": 1, "allocations": 1}})
    (['read, gateway: in the file alone', 'write, gateway: not in the file'], [])
    """
    risen = [f"{work}, {process}: in the file alone" for work, process in known.keys() - measured.keys()]
    risen += [f"{work}, {process}: not in the file" for work, process in measured.keys() - known.keys()]
    fallen = []
    for place in [place for place in measured if place in known]:
        for kind, share in MAY_RISE.items():
            before, now = known[place][kind], measured[place][kind]
            change = now / before - 1 if before else float(now > 0)
            if abs(change) > share + 1e-9:
                text = f"{', '.join(place)}: {now:,.10g} {kind} instead of {before:,.10g} ({change * 100:+.1f} %)"
                (risen if change > 0 else fallen).append(text)
    return risen, fallen
