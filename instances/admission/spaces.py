"""Spaces: finite sets of small admission problems for `gsopt.worst`."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations, product
from math import gcd
from typing import NamedTuple

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.admission import Admission, Gang, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster
from instances.arguments import at_least

__all__ = ["tiny"]


class _Runs(NamedTuple):
    """A running gang, with one worker on each of the machines in `on`."""

    on: tuple[int, ...]
    gpus: int  # per worker
    cost: int
    movable: bool


class _Waits(NamedTuple):
    """A pending gang."""

    workers: int
    gpus: int  # per worker
    within: str


def tiny(*, gangs: int = 3, machines: int = 2, gpus: int = 2, costs: int = 2) -> Space:
    """Return the space of all problems with a few gangs, running or pending, on a few equal machines.

    A running gang has one worker on each of its machines. All workers of a gang have the same number of GPUs. A
    pending gang may be placed on any machines, or must be placed on a single one. Every running gang may be
    evicted, and it may also be movable, at a cost of 1. Left out are problems in which the pending gangs need
    more GPUs than all machines have, and problems in which all numbers of GPUs, or all costs, have a common
    divisor above 1.

    Parameters
    ----------
    gangs
        Largest number of gangs, running and pending ones together. There is at least one of each.
    machines
        Largest number of machines.
    gpus
        Largest number of GPUs per machine.
    costs
        Largest cost of evicting a gang; costs are positive integers.

    Examples
    --------
    >>> tiny(gangs=2, machines=1, gpus=1, costs=1).size
    10
    """
    at_least(2, gangs=gangs)
    at_least(1, machines=machines, gpus=gpus, costs=costs)
    about = f"at most {gangs} running or pending gangs on at most {machines} machines with at most {gpus} GPUs"
    about += f" each, where an eviction costs at most {costs} and a move, if allowed, 1"
    sizes = product(range(1, machines + 1), range(1, gpus + 1))
    settings = tuple(_setting(count, size, costs) for count, size in sizes)
    return Space("admission", about, settings, gangs, least=2)


def _setting(machines: int, gpus: int, costs: int) -> Setting:
    """Return the problems on a given number of machines with a given number of GPUs each."""
    numbers, cluster = range(machines), Cluster.uniform(machines=machines, gpus=gpus)
    names = [machine.name for machine in cluster.machines]

    def make(chosen: Sequence[_Runs | _Waits]) -> Admission | None:
        runs = [(f"r{place}", each) for place, each in enumerate(chosen) if isinstance(each, _Runs)]
        waits = [(f"p{place}", each) for place, each in enumerate(chosen) if isinstance(each, _Waits)]
        if not runs or not waits:
            return None  # nothing to decide
        used = Counter(number for _, each in runs for number in each.on * each.gpus)
        if max(used.values()) > gpus or sum(each.workers * each.gpus for _, each in waits) > machines * gpus:
            return None  # the running or the pending gangs do not fit
        if gcd(gpus, *(each.gpus for each in chosen)) > 1:
            return None  # the same with fewer GPUs
        if gcd(*(each.cost for _, each in runs), *(1 for _, each in runs if each.movable)) > 1:
            return None  # the same with lower costs
        running = [
            Running(
                name=name,
                parts=[Part(count=len(each.on), needs=Resources(gpu=each.gpus))],
                on=[{names[number]: 1 for number in each.on}],
                cost=each.cost,
                move_cost=1.0 if each.movable else None,
            )
            for name, each in runs
        ]
        pending = [
            Gang(
                name=name,
                parts=[Part(count=each.workers, needs=Resources(gpu=each.gpus))],
                within=each.within,
                priority=1,
            )
            for name, each in waits
        ]
        return Admission(cluster=cluster, running=running, pending=pending)

    widths = range(1, gpus + 1)
    subsets = [some for size in range(1, machines + 1) for some in combinations(numbers, size)]
    runs = [_Runs(*each) for each in product(subsets, widths, range(1, costs + 1), (False, True))]
    waits = [
        _Waits(workers, width, within)
        for width in widths
        for within, count in (("", machines), ("machine", 1))
        for workers in range(1, count * (gpus // width) + 1)
    ]
    index = {each: place for place, each in enumerate(runs)}
    symmetries = [
        (
            *(index[each._replace(on=tuple(sorted(new[number] for number in each.on)))] for each in runs),
            *range(len(runs), len(runs) + len(waits)),
        )
        for new in [*permutations(numbers)][1:]
    ]
    return Setting((*runs, *waits), make, tuple(symmetries))
