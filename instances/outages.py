"""Outages: periods during which machines are out of service, and the scenario events that they cause."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from math import comb, fsum
from random import Random
from typing import NamedTuple

from gsopt.core.errors import require
from gsopt.scenario.events import Event, Leave, Return
from gsopt.scenario.job import LATEST


class Outage(NamedTuple):
    """A period during which a machine is out of service: its beginning and end, in seconds."""

    begin: float
    end: float


#: The outages of every machine, keyed by machine name, in chronological order and apart from each other.
Outages = dict[str, tuple[Outage, ...]]


def merged(outages: Iterable[Outage]) -> tuple[Outage, ...]:
    """Return outages in chronological order, after merging those that overlap or touch.

    Examples
    --------
    >>> merged([Outage(5, 6), Outage(1, 3), Outage(2, 4), Outage(4, 5)])
    (Outage(begin=1, end=6),)
    """
    joined: list[Outage] = []
    for each in sorted(outages):
        if joined and each.begin <= joined[-1].end:
            joined[-1] = Outage(joined[-1].begin, max(joined[-1].end, each.end))
        else:
            joined.append(each)
    return tuple(joined)


def random_outages(
    machines: Sequence[str], *, seconds: float, uptime: float, downtime: float, seed: int = 0
) -> Outages:
    """Generate outages of machines that fail and are repaired independently.

    The times from a repair to the next fault, and the durations of repairs, are exponential. At time 0, as at
    any other time, a machine is down with probability ``downtime / (uptime + downtime)``.

    Parameters
    ----------
    machines
        Names of the machines.
    seconds
        Time after which no outage begins.
    uptime, downtime
        Mean time from a repair to the next fault, and mean duration of a repair, in seconds.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> random_outages(["a", "b"], seconds=3600, uptime=3000, downtime=60)
    {'a': (), 'b': (Outage(begin=898.927, end=941.884), Outage(begin=2499.134, end=2591.026))}
    """
    for name, mean in (("seconds", seconds), ("uptime", uptime), ("downtime", downtime)):
        require(0 < mean <= LATEST, name, mean, f"must be more than 0 and at most {LATEST:g}")
    random = Random(seed)
    drawn: Outages = {}
    for machine in machines:
        is_down, time, outages = random.random() * (uptime + downtime) < downtime, 0.0, []
        while time < seconds:
            span = random.expovariate(1 / (downtime if is_down else uptime))
            if is_down:
                outages.append(Outage(round(time, 3), round(time + span, 3)))
            is_down, time = not is_down, time + span
        drawn[machine] = merged(each for each in outages if each.begin < each.end)
    return drawn


def outage_events(outages: Mapping[str, Sequence[Outage]], *, seconds: float = LATEST) -> tuple[Event, ...]:
    """Create the events that take machines away without notice and bring them back after their outages.

    Parameters
    ----------
    outages
        The outages of each machine. Those of the same machine must not overlap or touch.
    seconds
        Time from which machines no longer leave. Machines that are away at this time still return.

    Examples
    --------
    >>> outage_events({"a": [Outage(60, 90)], "b": [Outage(60, 80)]})[0].servers
    ('a', 'b')
    """
    changes = [
        change
        for machine, own in outages.items()
        for begin, end in own
        if begin < seconds
        for change in ((begin, True, machine), (end, False, machine))
    ]
    events: list[Event] = []
    for (time, leaves), group in groupby(sorted(changes, key=lambda each: each[:2]), key=lambda each: each[:2]):
        names = tuple(machine for *_, machine in group)
        events.append(Leave(time=time, servers=names) if leaves else Return(time=time, servers=names))
    return tuple(events)


def drawn_availability(
    histories: Sequence[Sequence[Outage]], needed: int, spares: int, *, seconds: float
) -> float:
    """Return the share of time during which at least `needed` of `needed + spares` drawn machines are up.

    The result is the mean over all possible draws of `needed + spares` machines. At any time, the number of
    drawn machines that are down has a hypergeometric distribution. Unlike
    `gsopt.evaluation.spares.availability`, which assumes independent faults, this function takes into account
    that several machines may fail together.

    Parameters
    ----------
    histories
        The outages of each machine. Those of the same machine must not overlap or touch.
    needed, spares
        Numbers of machines, together at most as many as there are.
    seconds
        Length, from time 0, of the period that is considered.

    Examples
    --------
    >>> drawn_availability([[Outage(0, 50)], [Outage(0, 30)]], needed=1, spares=0, seconds=100)
    0.6
    """
    total, nodes = len(histories), needed + spares
    require(needed >= 1, "needed", needed, "must be at least 1")
    require(
        spares >= 0 and nodes <= total, "spares", spares, f"must be at least 0 and at most {total - needed}"
    )
    changes = [(0.0, 0), (seconds, 0)]
    for begin, end in (each for own in histories for each in own):
        changes += [(min(begin, seconds), 1), (min(end, seconds), -1)]
    down, seconds_with = 0, [0.0] * (total + 1)
    for (time, change), (later, _) in pairwise(sorted(changes)):
        down += change
        seconds_with[down] += later - time
    draws = comb(total, nodes)
    fine = (
        spent * (sum(comb(n, k) * comb(total - n, nodes - k) for k in range(min(n, spares) + 1)) / draws)
        for n, spent in enumerate(seconds_with)
        if spent
    )
    return fsum(fine) / seconds
