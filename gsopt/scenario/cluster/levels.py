"""Levels: the groups of machines and GPUs on each level of a cluster.

Machines and GPUs are numbered in the order of the tree, so each group is a range of both. The tier of a set of
GPUs is therefore the tier of its first and last GPU.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from gsopt.core.problem import RuleBroken
from gsopt.scenario.cluster.machine import Machine
from gsopt.scenario.cluster.switch import ISLAND, MACHINE, Switch
from gsopt.scenario.cluster.tier import Tier, tier_named

#: Levels in common use, in their usual order, innermost first.
USUAL_LEVELS = (
    *(ISLAND, MACHINE, "nvlink", "block", Tier.RACK, "row", "leaf", "pod", "spine", "core"),
    *("room", "zone", "region", "datacenter", Tier.NETWORK),
)

#: Largest number of levels in a cluster, which is more than any real network has.
_MOST_LEVELS = 32


@dataclass(frozen=True)
class Group:
    """The machines and GPUs of one group on a level: an island, a machine, or everything below a switch.

    Attributes
    ----------
    name
        Name of the island, machine or switch. An island that is a single GPU of a machine without islands has a
        name such as ``GPU 4``.
    machines
        Indices of the group's machines.
    gpus
        Indices of the group's GPUs.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> Cluster.uniform(racks=2, machines=2, gpus=4).groups["rack"][1]
    Group(name='rack 1', machines=range(2, 4), gpus=range(8, 16))
    """

    name: str
    machines: range
    gpus: range


def order_levels(root: Switch) -> tuple[str, ...]:
    """Return the levels of a switch and of everything below it, innermost first.

    Some paths may lack levels, but the order must be the same on all paths. If several levels could come next,
    those in `USUAL_LEVELS` take precedence, in their order there. This choice does not affect which level
    connects any given GPUs, but it decides which of two levels counts as wider. Raise `RuleBroken` for levels
    in different orders on two paths, a level below itself, or more than 32 levels.
    """
    below: dict[str, dict[str, str]] = {
        MACHINE: {}
    }  # by level, the levels right below it, each with an example
    for switch in root.walk():
        inner = below.setdefault(switch.level, {})
        for machine in switch.machines:
            inner[MACHINE] = machine.name
            if machine.islands:
                below[MACHINE][ISLAND] = machine.name
        for child in switch.switches:
            if child.level == switch.level:
                rule = f"must not be below {switch.name!r}, which is of the same level"
                raise RuleBroken(f"switch {child.name!r}: level", child.level, rule)
            inner[child.level] = child.name
    try:
        levels = tuple(_sort(below))
    except CycleError as error:
        level, above = error.args[1][:2]
        rule = f"must not be below {above!r} here and above it elsewhere: levels have one order on all paths"
        raise RuleBroken(f"switch {below[above][level]!r}: level", level, rule) from None
    if len(levels) > _MOST_LEVELS:
        raise RuleBroken("levels", len(levels), f"must be at most {_MOST_LEVELS}")
    return levels


def _sort(below: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield every level after the levels below it. If several levels could be next, the usual order decides."""
    usual = {level: index for index, level in enumerate(USUAL_LEVELS)}
    sorter = TopologicalSorter(below)
    sorter.prepare()
    ready: list[str] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        level = min(ready, key=lambda level: usual.get(level, len(usual)))
        ready.remove(level)
        yield level
        sorter.done(level)


class Levels:
    """The groups of a cluster on each level, with the look-ups that a simulation needs.

    If a machine has no switch on a level, it belongs to the group of its widest switch below that level or, if
    there is none, forms a group of its own. If any machine has islands, each GPU of a machine without islands
    is an island of its own.

    Attributes
    ----------
    names
        Names of the levels, innermost first.
    groups
        The groups of each level, keyed by level.
    of_machine
        For each level from that of machines outwards, the indices of the machines' groups, one per machine.
    machine_of
        Indices of the GPUs' machines, one per GPU.
    island_of
        Indices of the GPUs' islands, one per GPU; empty if no machine has islands.
    """

    def __init__(self, root: Switch) -> None:
        self.names = order_levels(root)
        rank = {level: index for index, level in enumerate(self.names)}
        self.groups: dict[str, tuple[Group, ...]] = {}
        self.of_machine: dict[str, tuple[int, ...]] = {}
        paths = [(machine, [(rank[each.level], each.name) for each in path]) for machine, path in _climb(root)]
        self.machine_of = tuple(
            number for number, (machine, _) in enumerate(paths) for _ in range(machine.gpus)
        )
        machines = [machine for machine, _ in paths]
        self.island_of: tuple[int, ...] = ()
        if ISLAND in rank:
            self.groups[ISLAND], self.island_of = _number_islands(machines)
        for level in self.names[rank[MACHINE] :]:
            standing = [_widest(machine.name, path, rank[level]) for machine, path in paths]
            self.groups[level], self.of_machine[level] = _number(machines, standing)
        self._wider = [(tier_named(level), self.of_machine[level]) for level in self.names[rank[MACHINE] + 1 :]]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of GPUs in the largest group of each level, innermost first, and hence in ascending order."""
        return tuple(max(len(group.gpus) for group in self.groups[level]) for level in self.names)

    def best(self, count: int) -> str:
        """Return the innermost level that has a group with at least `count` GPUs."""
        return tier_named(self.names[bisect_left(self.sizes, count)])

    def join(self, first: int, last: int) -> str:
        """Return the innermost level on which one group contains all GPUs from `first` to `last`."""
        islands = self.island_of
        if islands and islands[first] == islands[last]:
            return ISLAND
        one, other = self.machine_of[first], self.machine_of[last]
        if one == other:
            return Tier.MACHINE
        for level, groups in self._wider:
            if groups[one] == groups[other]:
                return level
        return self._wider[-1][0]


def _climb(root: Switch) -> Iterator[tuple[Machine, Sequence[Switch]]]:
    """Yield every machine in the order of the tree, with the switches above it, innermost first."""
    pending: list[tuple[Switch, tuple[Switch, ...]]] = [(root, ())]
    while pending:
        switch, above = pending.pop()
        path = (switch, *above)
        for machine in switch.machines:
            yield machine, path
        pending += [(child, path) for child in reversed(switch.switches)]


def _widest(machine: str, path: Sequence[tuple[int, str]], rank: int) -> str:
    """Return the name of a machine's widest switch up to the rank of a level, or of the machine itself."""
    found = machine
    for level, name in path:
        if level > rank:
            break
        found = name
    return found


def _number(machines: Sequence[Machine], standing: Sequence[str]) -> tuple[tuple[Group, ...], tuple[int, ...]]:
    """Group consecutive machines with the same group name, and number the groups."""
    groups: list[Group] = []
    numbers: list[int] = []
    gpus = 0
    for number, (machine, name) in enumerate(zip(machines, standing, strict=True)):
        own = range(gpus, gpus + machine.gpus)
        if groups and groups[-1].name == name:
            last = groups[-1]
            groups[-1] = Group(name, range(last.machines.start, number + 1), range(last.gpus.start, own.stop))
        else:
            groups.append(Group(name, range(number, number + 1), own))
        numbers.append(len(groups) - 1)
        gpus = own.stop
    return tuple(groups), tuple(numbers)


def _number_islands(machines: Sequence[Machine]) -> tuple[tuple[Group, ...], tuple[int, ...]]:
    """Group GPUs by island, or one by one on machines without islands, and number the groups."""
    groups: list[Group] = []
    numbers: list[int] = []
    for number, machine in enumerate(machines):
        start = len(numbers)
        parts: Mapping[str, int] = {each.name: each.gpus for each in machine.islands}
        for name, size in (parts or {f"GPU {start + each}": 1 for each in range(machine.gpus)}).items():
            groups.append(Group(name, range(number, number + 1), range(len(numbers), len(numbers) + size)))
            numbers += [len(groups) - 1] * size
    return tuple(groups), tuple(numbers)
