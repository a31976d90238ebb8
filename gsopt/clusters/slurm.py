"""Slurm's topology.conf: the tree of switches of ``topology/tree``, or the blocks of ``topology/block``.

The file does not say what GPUs the nodes have. Lines ``NodeName=node[1-4] Gres=gpu:h100:8``, as in slurm.conf, do,
also behind ``#``, where Slurm does not see them: so they are written here, and read back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from gsopt.clusters.branches import Branch
from gsopt.clusters.hostlist import compress, expand
from gsopt.clusters.nodes import Gpus, read_gres, write_gres
from gsopt.errors import InvalidInput, shorten

_KEYS = {
    "SwitchName": ("SwitchName", "Switches", "Nodes", "LinkSpeed"),
    "BlockName": ("BlockName", "Nodes"),
    "BlockSizes": ("BlockSizes",),
    "NodeName": (),  # it has dozens of others, which say nothing about GPUs
}
_KINDS = {key.lower(): key for key in _KEYS}
_SETTING = re.compile(r"([A-Za-z]+)=(?:\"([^\"]*)\"|(\S*))")
_NODE_COMMENT = re.compile(r"#\s*(?=NodeName=)", re.IGNORECASE)


class Conf(NamedTuple):
    """What a topology.conf states.

    Attributes
    ----------
    branches
        Switches or blocks, and groups of blocks below a root.
    gpus
        GPUs of the nodes of which it says something.
    """

    branches: Sequence[Branch]
    gpus: Mapping[str, Gpus]


class _Line(NamedTuple):
    """One logical line: its number, the kind of what it states, and its values by lower-case keys."""

    number: int
    kind: str
    values: Mapping[str, str]

    @property
    def place(self) -> str:
        return f"line {self.number}"


def read_conf(source: str, text: str, notes: list[str]) -> Conf:
    """Read a topology.conf of switches or blocks.

    Blocks are grouped below a root. Where BlockSizes has larger sizes than the first, which is that of a block,
    neighbouring blocks make groups of such sizes, and neighbouring groups larger ones, as Slurm has it.

    Raises
    ------
    InvalidInput
        A line is none of topology.conf; the message names file, line, value and rule.

    Examples
    --------
    >>> lines = "SwitchName=core Switches=s[1-2]\\nSwitchName=s1 Nodes=n[1-2]\\nSwitchName=s2 Nodes=n3"
    >>> [(branch.name, *branch.branches, *branch.machines) for branch in read_conf("", lines, []).branches]
    [('core', 's1', 's2'), ('s1', 'n1', 'n2'), ('s2', 'n3')]
    """
    lines = [_line(source, number, line) for number, line in _logical(text)]
    of = {kind: [line for line in lines if line.kind == kind] for kind in _KEYS}
    switches, blocks = of["SwitchName"], of["BlockName"]
    if switches and blocks:
        rule = "must not stand in a file of switches"
        raise InvalidInput(source, blocks[0].place, "BlockName", rule)
    speeds = sum("linkspeed" in line.values for line in switches)
    if speeds:
        notes.append(f"{source}: LinkSpeed of {speeds:,} switches: has no unit and is not read")
    gpus = {name: gpus for line in of["NodeName"] for name, gpus in _gpus(source, line)}
    if not blocks:
        return Conf([_switch(source, line) for line in switches], gpus)
    named = [_block(source, line) for line in blocks]
    return Conf([*named, *_groups(named, _ratios(source, of["BlockSizes"]))], gpus)


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Give the lines that state something, without comments, and lines that are continued as one."""
    begun, start = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        stated = _NODE_COMMENT.sub("", line, count=1).partition("#")[0].rstrip()
        start = start if begun else number
        if stated.endswith("\\"):
            begun += stated[:-1] + " "
            continue
        if whole := (begun + stated).strip():
            yield start, whole
        begun = ""
    if begun.strip():
        yield start, begun.strip()


def _line(source: str, number: int, text: str) -> _Line:
    """Cut a line into its settings, the first of which says what it states."""
    place, values, end = f"line {number}", {}, 0
    for setting in _SETTING.finditer(text):
        if text[end : setting.start()].strip():
            break
        end, key = setting.end(), setting[1].lower()
        if key in values:
            raise InvalidInput(source, place, setting[1], "must not stand twice in one line")
        values[key] = setting[2] if setting[2] is not None else setting[3]
    if text[end:].strip():
        raise InvalidInput(source, place, shorten(text[end:].strip()), "must be settings such as Nodes=n[1-4]")
    kind = _KINDS.get(next(iter(values)), "")
    if not kind:
        rule = f"must begin with {', '.join(_KEYS)}"
        raise InvalidInput(source, place, shorten(text), rule)
    for key in values:
        if _KEYS[kind] and key not in map(str.lower, _KEYS[kind]):
            rule = f"must be one of {', '.join(_KEYS[kind])}"
            raise InvalidInput(source, place, shorten(key), rule)
    return _Line(number, kind, values)


def _names(source: str, line: _Line, key: str) -> list[str]:
    """Give the names in a host list of a line; none where it does not stand there."""
    text = line.values.get(key.lower())
    if text is None:
        return []
    try:
        return expand(text)
    except ValueError as error:
        raise InvalidInput(source, f"{line.place}: {key}", shorten(text), str(error)) from None


def _switch(source: str, line: _Line) -> Branch:
    branch = Branch(
        line.values["switchname"],
        line.place,
        _names(source, line, "Switches"),
        _names(source, line, "Nodes"),
    )
    if branch.branches and branch.machines:
        raise InvalidInput(
            source, line.place, shorten(branch.name), "must have Switches or Nodes, and not both"
        )
    return branch


def _block(source: str, line: _Line) -> Branch:
    return Branch(line.values["blockname"], line.place, (), _names(source, line, "Nodes"))


def _gpus(source: str, line: _Line) -> Iterator[tuple[str, Gpus]]:
    gpus = read_gres(source, line.place, line.values.get("gres", ""))
    for name in _names(source, line, "NodeName"):
        yield name, gpus


def _ratios(source: str, lines: Sequence[_Line]) -> list[int]:
    """Give of how many blocks each larger size consists."""
    if not lines:
        return []
    text = lines[0].values["blocksizes"]
    sizes = [int(size) if re.fullmatch(r"\d{1,9}", size) else 0 for size in text.split(",")]
    ratios = [size // (sizes[0] or 1) for size in sizes]
    rule = "must be a size of blocks and larger ones, each 2, 4, 8, ... times the first"
    for ratio, size, smaller in zip(ratios[1:], sizes[1:], sizes, strict=False):
        if size != ratio * sizes[0] or ratio & (ratio - 1) or size <= smaller:
            raise InvalidInput(source, f"{lines[0].place}: BlockSizes", shorten(text), rule)
    if not sizes[0] or len(lines) > 1:
        raise InvalidInput(source, f"{lines[-1].place}: BlockSizes", shorten(text), rule)
    return ratios[1:]


def _groups(blocks: Sequence[Branch], ratios: Sequence[int]) -> list[Branch]:
    """Group neighbouring blocks, groups of those, and what there is at last below a root."""
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
    """Name a group after the first and the last block in it."""
    first, last = branches[0].name.partition("..")[0], branches[-1].name.rpartition("..")[2]
    return Branch(f"{first}..{last}", "BlockSizes", [branch.name for branch in branches])


def write_switches(branches: Sequence[Branch], gpus: Mapping[str, Gpus]) -> str:
    """Write switches, the root first, and what GPUs the nodes have as comments.

    Examples
    --------
    >>> print(write_switches([Branch("s1", "", [], ["n1", "n2"])], {"n1": Gpus(8), "n2": Gpus(8)}), end="")
    SwitchName=s1 Nodes=n[1-2]
    # NodeName=n[1-2] Gres=gpu:8
    """
    return "".join(
        f"SwitchName={branch.name} {key}={compress(names)}\n"
        for branch in branches
        for key, names in (("Switches", branch.branches), ("Nodes", branch.machines))
        if names
    ) + _gpu_lines(gpus)


def write_blocks(blocks: Sequence[Branch], sizes: Sequence[int], gpus: Mapping[str, Gpus]) -> str:
    """Write blocks, their sizes, and what GPUs the nodes have as comments.

    Examples
    --------
    >>> print(write_blocks([Branch("b", "", [], ["n1", "n2"])], [2, 4], {"n1": Gpus(8)}), end="")
    BlockName=b Nodes=n[1-2]
    BlockSizes=2,4
    # NodeName=n1 Gres=gpu:8
    """
    lines = [f"BlockName={block.name} Nodes={compress(block.machines)}\n" for block in blocks]
    return "".join([*lines, f"BlockSizes={','.join(map(str, sizes))}\n"]) + _gpu_lines(gpus)


def _gpu_lines(gpus: Mapping[str, Gpus]) -> str:
    """Write a comment for each run of nodes with the same GPUs."""
    groups = groupby(gpus, key=lambda name: gpus[name])
    return "".join(f"# NodeName={compress(names)} Gres={write_gres(each)}\n" for each, names in groups)
