"""Slurm: topology.conf files with the switches of ``topology/tree`` or the blocks of ``topology/block``.

The file itself does not state the GPUs of nodes. Therefore, gsopt adds lines as in slurm.conf, such as
``NodeName=node[1-4] Gres=gpu:h100:8``, after a ``#``, so that Slurm ignores them. When gsopt reads such lines,
the ``#`` may be missing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats.assembly import Told, cluster_of, note_changes, plain_branches
from gsopt.scenario.cluster.formats.branches import Branch, tree_of
from gsopt.scenario.cluster.formats.conf import KINDS, Line, read_lines
from gsopt.scenario.cluster.formats.hostlist import compress
from gsopt.scenario.cluster.formats.nodes import Gpus, read_gres, write_gres


def read_slurm(source: str, text: str, told: Told, notes: list[str]) -> Cluster:
    r"""Read a cluster from a topology.conf with switches or blocks.

    If there are several blocks, they are below a common root. The first of the BlockSizes stands for one block.
    Each further size must be 2, 4, 8, ... times the first, and combines that many neighbouring blocks into a
    group, as in Slurm.
    """
    lines = read_lines(source, text)
    of = {kind: [line for line in lines if line.kind == kind] for kind in KINDS}
    stated = {name: gpus for line in of["NodeName"] for name, gpus in _gpus(source, line)}
    tree = tree_of(source, _branches(source, of, notes), notes)
    return cluster_of(source, told.levelled(source, tree), told.about(source, tree, stated), notes)


def _branches(source: str, of: Mapping[str, Sequence[Line]], notes: list[str]) -> list[Branch]:
    """Return the switches, or the blocks with their groups."""
    switches, blocks = of["SwitchName"], of["BlockName"]
    if switches and blocks:
        raise InvalidInput(blocks[0].place, "BlockName", "must not occur in a file of switches", source=source)
    if any("linkspeed" in line.values for line in switches):
        notes.append(f"{source}: LinkSpeed: has no unit and is not read")
    if not blocks:
        return [_switch(source, line) for line in switches]
    named = [Branch(line.values["blockname"], line.place, (), line.names(source, "Nodes")) for line in blocks]
    return [*named, *_groups(named, _ratios(source, of["BlockSizes"]))]


def _switch(source: str, line: Line) -> Branch:
    branch = Branch(
        line.values["switchname"], line.place, line.names(source, "Switches"), line.names(source, "Nodes")
    )
    if branch.branches and branch.machines:
        raise InvalidInput(
            line.place, shorten(branch.name), "must have Switches or Nodes, and not both", source=source
        )
    return branch


def _gpus(source: str, line: Line) -> Iterator[tuple[str, Gpus]]:
    gpus = read_gres(source, line.place, line.values.get("gres", ""))
    for name in line.names(source, "NodeName"):
        yield name, gpus


def _ratios(source: str, lines: Sequence[Line]) -> list[int]:
    """Return the number of blocks in a group, for each size above the first."""
    if not lines:
        return []
    text = lines[0].values["blocksizes"]
    sizes = [int(size) if re.fullmatch(r"\d{1,9}", size) else 0 for size in text.split(",")]
    ratios = [size // (sizes[0] or 1) for size in sizes]
    rule = "must be a size of blocks and larger ones, each 2, 4, 8, ... times the first"
    for ratio, size, smaller in zip(ratios[1:], sizes[1:], sizes, strict=False):
        if size != ratio * sizes[0] or ratio & (ratio - 1) or size <= smaller:
            raise InvalidInput(f"{lines[0].place}: BlockSizes", shorten(text), rule, source=source)
    if not sizes[0] or len(lines) > 1:
        raise InvalidInput(f"{lines[-1].place}: BlockSizes", shorten(text), rule, source=source)
    return ratios[1:]


def _groups(blocks: Sequence[Branch], ratios: Sequence[int]) -> list[Branch]:
    """Group neighbouring blocks, then neighbouring groups, and finally everything below a root."""
    made: list[Branch] = []
    below, spans = blocks, 1
    for ratio in ratios:
        if ratio >= len(blocks):
            break
        each = ratio // spans
        below = [_group(below[first : first + each]) for first in range(0, len(below), each)]
        made += below
        spans = ratio
    if len(below) > 1:
        made.append(Branch("network", "BlockSizes", [branch.name for branch in below]))
    return made


def _group(branches: Sequence[Branch]) -> Branch:
    """Create a group of branches, named after its first and last block."""
    first, last = branches[0].name.partition("..")[0], branches[-1].name.rpartition("..")[2]
    return Branch(f"{first}..{last}", "BlockSizes", [branch.name for branch in branches])


def write_tree(cluster: Cluster, notes: list[str]) -> str:
    """Write a cluster as switches, starting with the root, with the GPUs of nodes in comments."""
    branches = _unmixed_branches(cluster, notes)
    lines = [
        f"SwitchName={branch.name} Switches={compress(branch.branches)}\n"
        if branch.branches
        else f"SwitchName={branch.name} Nodes={compress(branch.machines)}\n"
        for branch in branches
    ]
    return _with_gpus(cluster, branches, lines, notes)


def write_blocks(cluster: Cluster, notes: list[str]) -> str:
    """Write a cluster as blocks, which are the switches with machines; the GPUs of nodes are in comments.

    A level between the blocks and the root becomes a block size if its switches divide the sequence of blocks
    into runs of 2, 4, 8, ... blocks, which are equally long except that the last one may be shorter. Other
    levels are lost, and so are the names of all switches above the blocks.
    """
    branches = _unmixed_branches(cluster, notes)
    blocks = [branch for branch in branches if branch.machines]
    size = min(len(block.machines) for block in blocks)
    sizes = ",".join(str(size * ratio) for ratio in (1, *_ratios_of(branches, blocks)))
    lines = [f"BlockName={block.name} Nodes={compress(block.machines)}\n" for block in blocks]
    return _with_gpus(cluster, branches, [*lines, f"BlockSizes={sizes}\n"], notes)


def _unmixed_branches(cluster: Cluster, notes: list[str]) -> list[Branch]:
    branches = plain_branches(cluster, notes)
    for branch in branches:
        if branch.branches and branch.machines:
            rule = "must have machines or switches below it, not both, in topology.conf"
            raise InvalidInput("switch", shorten(branch.name), rule)
    return branches


def _ratios_of(branches: Sequence[Branch], blocks: Sequence[Branch]) -> list[int]:
    """Return the number of blocks per switch for each level below the root that block sizes can represent."""
    held: dict[str, list[str]] = {}
    for branch in reversed(branches):
        held[branch.name] = [block for child in branch.branches for block in held[child]] or [branch.name]
    levels: dict[str, list[list[str]]] = {}
    for branch in branches[1:]:
        if branch.branches:
            levels.setdefault(branch.level, []).append(held[branch.name])
    names = [block.name for block in blocks]
    ratios: set[int] = set()
    for groups in levels.values():
        ratio = len(groups[0])
        even = [names[first : first + ratio] for first in range(0, len(names), ratio)]
        if groups == even and ratio & (ratio - 1) == 0 and ratio > 1:
            ratios.add(ratio)
    return sorted(ratios)


def _with_gpus(cluster: Cluster, branches: Sequence[Branch], lines: Sequence[str], notes: list[str]) -> str:
    """Append a comment for each run of nodes with equal GPUs, and note what changes on reading the text."""
    names = [machine for branch in branches for machine in branch.machines]
    gpus = [Gpus(machine.gpus, machine.gpu_type) for machine in cluster.machines]
    groups = groupby(zip(names, gpus, strict=True), key=lambda each: each[1])
    comments = [
        f"# NodeName={compress(name for name, _ in nodes)} Gres={write_gres(kind)}\n" for kind, nodes in groups
    ]
    text = "".join([*lines, *comments])
    note_changes(branches, read_slurm("", text, Told(), []), notes)
    return text
