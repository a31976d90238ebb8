"""Lending: the loans and returns of machines of an inference cluster whose demand changes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from gsopt.core.errors import require
from gsopt.scenario.cluster import Machine
from gsopt.scenario.events import Event, Leave, Loan, Reclaim
from instances.scenarios.demand import InferenceDemand


def lending(
    demand: InferenceDemand, machines: Sequence[Machine], *, interval: int = 300, headroom: int = 0
) -> tuple[Event, ...]:
    """Return the events at which machines of an inference cluster are lent or reclaimed.

    The inference cluster keeps as many machines as its demand needs, plus `headroom`. At the beginning of each
    interval of `interval` seconds, it lends the machines that it needs neither in this interval nor in the
    next. If it has too few machines for the next interval, it reclaims the missing ones, which must be given
    back by the end of this one. The machines that are not lent at time 0 leave the cluster at that time. All
    machines must be alike; of those not on loan, the first ones are lent first.

    Source: Aryl, section 4, where only the inference scheduler decides how much to lend and to reclaim.
    """
    require(interval >= 1, "interval", interval, "must be at least 1 second")
    require(0 <= headroom <= len(machines), "headroom", headroom, f"must be between 0 and {len(machines)}")
    return tuple(_events(list(_kept(demand, machines, interval, headroom)), machines, interval))


def _kept(demand: InferenceDemand, machines: Sequence[Machine], interval: int, headroom: int) -> Iterator[int]:
    """Yield the number of machines kept in each interval, including those needed in the next one."""
    number = -(-len(demand.busy) * demand.step // interval)
    needed = [
        -(-demand.most(place * interval, (place + 1) * interval) // machines[0].gpus) + headroom
        for place in range(number)
    ]
    for now, later in zip(needed, [*needed[1:], needed[-1]], strict=True):
        yield min(max(now, later), len(machines))


def _events(kept: Sequence[int], machines: Sequence[Machine], interval: int) -> Iterator[Event]:
    kind = machines[0].gpu_type
    if kept[0]:
        yield Leave(time=0.0, servers=tuple(machine.name for machine in machines[len(machines) - kept[0] :]))
    for place, (before, now) in enumerate(pairwise(kept), start=1):
        time = float(place * interval)
        if now < before:
            yield Loan(time=time, servers=before - now, gpu_type=kind)
        elif now > before:
            yield Reclaim(time=time, deadline=time + interval, servers=now - before, gpu_type=kind)
