"""Assembly: the conversion between clusters and the switches, machines and GPUs that files state."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch, Tier
from gsopt.scenario.cluster.formats.branches import LEVELS, Branch, Tree, levelled, root_of
from gsopt.scenario.cluster.formats.nodes import Gpus, gpus_of
from gsopt.scenario.cluster.graph import DATACENTER

#: Characters that must not occur in names in host lists and in topology.conf.
_STRANGE = re.compile(r"[\s,\[\]#=\"\\]")


class Told(NamedTuple):
    """What the caller adds to a topology file: the GPUs of machines, and the names of levels."""

    # Number of GPUs of every machine, or of each machine by name; None if the file states it.
    gpus: int | Mapping[str, int] | None = None
    # Names of the levels of switches below the root, innermost first; None for the usual ones.
    levels: Sequence[str] | None = None

    def levelled(self, source: str, tree: Tree) -> Tree:
        """Return the tree with its levels named as the caller says or, by default, rack, pod and so on."""
        return levelled(source, tree, LEVELS if self.levels is None else self.levels)

    def refuse(self, source: str, *options: str) -> None:
        """Raise `InvalidInput` if any of the given options is set, as the file itself states its value."""
        for option in options:
            if (value := getattr(self, option)) is not None:
                raise InvalidInput(
                    option, shorten(value), "must not be given, as the file states it", source=source
                )

    def about(self, source: str, tree: Tree, stated: Mapping[str, Gpus]) -> Callable[[str], Gpus]:
        """Return a function from a machine's name to its GPUs, as stated by the caller or else by the file.

        Raise `InvalidInput` if the caller names a machine that is not in the file.
        """
        if isinstance(self.gpus, Mapping):
            there = {machine for branch in tree.values() for machine in branch.machines}
            for name in self.gpus:
                if name not in there:
                    raise InvalidInput("gpus", shorten(name), "must be a machine of the file", source=source)
        return partial(gpus_of, source, told=self.gpus, stated=stated)


def cluster_of(source: str, tree: Tree, gpus_of: Callable[[str], Gpus], notes: list[str]) -> Cluster:
    """Build a cluster from a tree with named levels. Machines without GPUs are left out.

    The result is a cluster of racks if the tree is a single rack, or if it consists of racks below a root named
    ``datacenter``.
    """
    switches: dict[str, Switch] = {}
    for name, branch in tree.items():
        machines = tuple(_machines(source, branch, gpus_of, notes))
        below = tuple(switches[child] for child in branch.branches if child in switches)
        if machines or below:
            switches[name] = Switch(name=name, level=branch.level, machines=machines, switches=below)
    root = switches.get(root_of(tree).name)
    if root is None:
        raise InvalidInput("", "", "must have at least one machine with GPUs", source=source)
    racks = root.switches if root.name == DATACENTER and not root.machines else (root,)
    if all(each.level == Tier.RACK and not each.switches for each in racks):
        return Cluster(racks=tuple(Rack(name=each.name, machines=each.machines) for each in racks))
    return Cluster(network=root)


def _machines(
    source: str, branch: Branch, gpus_of: Callable[[str], Gpus], notes: list[str]
) -> Iterator[Machine]:
    for name in branch.machines:
        gpus = gpus_of(name)
        if gpus.number:
            yield Machine(name=name, gpus=gpus.number, gpu_type=gpus.kind)
        else:
            notes.append(f"{source}: {branch.place}: {name}: has no GPUs and is left out")


def branches_of(cluster: Cluster) -> list[Branch]:
    """Return the switches of a cluster as branches, each before those below it."""
    return [
        Branch(
            switch.name,
            "",
            tuple(child.name for child in switch.switches),
            tuple(machine.name for machine in switch.machines),
            switch.level,
        )
        for switch in cluster.root.walk()
    ]


def losses(cluster: Cluster) -> list[str]:
    """List what a file of only switches, machines and GPUs would lose, such as memory, islands or links."""
    links = [switch.uplink for switch in cluster.root.walk()]
    links += [link for machine in cluster.machines for link in (machine.uplink, machine.gpu_link)]
    has = {
        "memory": any(machine.memory is not None for machine in cluster.machines),
        "islands": any(machine.islands for machine in cluster.machines),
        "links": any(link is not None for link in links),
    }
    return [name for name, there in has.items() if there]


def some_of(names: Sequence[str]) -> str:
    """Return the first name and, if there are others, their number, as in ``'rack 0' and 2 more``."""
    return f"{shorten(names[0])} and {len(names) - 1:,} more" if len(names) > 1 else shorten(names[0])


def plain_branches(cluster: Cluster, notes: list[str]) -> list[Branch]:
    """Return the switches of a cluster with names valid in host lists, and note changed names and lost data."""
    branches = branches_of(cluster)[len(cluster.racks) == 1 :]  # the only rack needs no root
    names = [name for branch in branches for name in (branch.name, *branch.machines)]
    plain = {name: _STRANGE.sub("-", name) for name in names}
    if len(set(plain.values())) < len(plain):
        taken: dict[str, str] = {}
        twice = next(name for name in plain if taken.setdefault(plain[name], name) != name)
        rule = f"must differ from {shorten(taken[plain[twice]])} without spaces and signs too"
        raise InvalidInput("name", shorten(twice), rule)
    changed = [name for name in names if plain[name] != name]
    if changed:
        written = some_of([plain[name] for name in changed])
        notes.append(f"names with spaces or signs are written without: {written}")
    notes.extend(f"{lost} cannot be written in this format" for lost in losses(cluster))
    return [
        replace(
            branch,
            name=plain[branch.name],
            branches=tuple(plain[name] for name in branch.branches),
            machines=tuple(plain[name] for name in branch.machines),
        )
        for branch in branches
    ]


def note_changes(written: Sequence[Branch], once: Cluster, notes: list[str]) -> None:
    """Note the differences between the written switches and the cluster that is read back from the file."""
    read = {switch.name: switch.level for switch in once.switches}
    lost = [branch.name for branch in written if branch.name not in read and branch.name != DATACENTER]
    if lost:
        notes.append(f"not written: {some_of(lost)}")
    changes = {branch.level: read.get(branch.name) for branch in reversed(written)}
    for level, other in changes.items():
        if other is None and level not in once.levels:
            notes.append(f"level {level} is not written")
        elif other not in {None, level}:
            notes.append(f"level {level} is not written, and read back as {other}")
    names = [machine for branch in written for machine in branch.machines]
    if names != [machine.name for machine in once.machines]:
        notes.append("machines are in another order when they are read back, and GPUs have other numbers")
