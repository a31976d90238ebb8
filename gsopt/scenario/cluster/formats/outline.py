"""Outline: a cluster in a few lines of text, which combine neighbours that differ only in their names."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from gsopt.core.errors import require
from gsopt.scenario.cluster import Cluster, Link, Machine, Switch
from gsopt.scenario.cluster.formats.hostlist import compress

_GPU, _ISLAND, _MACHINE = "gpu", "island", "machine"

#: Units of bandwidth, in bits per second, and of latency, in seconds.
_RATES = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_BITS = 8  # of a byte

#: All properties of a switch or machine except its names.
_Likeness = tuple[object, ...]


def outline(cluster: Cluster, *, width: int = 80, most: int = 60) -> str:
    """Return a cluster as text: a table of its levels, followed by its tree.

    Neighbouring machines that differ only in their names share a line. Of neighbouring switches that differ
    only in names, including those of everything below them, the first is shown in full, and the others share
    a line. For a plain cluster, the text is a single short line.

    Parameters
    ----------
    cluster
        The cluster.
    width
        Maximum number of characters per line, at least 4; longer lines are cut off and end in ``...``.
    most
        Maximum number of lines for the tree; numbers below 1 count as 1.

    Raises
    ------
    InvalidInput
        `width` is below 4.

    Examples
    --------
    >>> print(outline(Cluster.uniform(racks=3, machines=2, gpus=8)))
    48 GPUs on 6 machines
    <BLANKLINE>
    level    groups  GPUs each  link up
    machine       6          8  -
    rack          3         16  -
    network       1         48  -
    <BLANKLINE>
    network datacenter: 48 GPUs
      rack 0: 16 GPUs
        machine 0.[0-1]: 2 machines of 8 GPUs
      rack [1-2]: 2 likewise
    """
    require(width > len("..."), "width", width, "must be at least 4")
    lines = [f"{cluster.gpus:,} GPUs without a network"] if cluster.is_plain else _lines(cluster, most)
    return "\n".join(line if len(line) <= width else f"{line[: width - 3]}..." for line in lines)


def _lines(cluster: Cluster, most: int) -> list[str]:
    machines = len(cluster.machines)
    head = f"{cluster.gpus:,} GPUs on {machines:,} machine{'s' * (machines > 1)}"
    tree = list(_tree(cluster))
    shown = len(tree) if len(tree) <= most else max(most - 1, 0)
    rest = [f"... {len(tree) - shown:,} more lines"] if shown < len(tree) else []
    return [head, "", *_table(cluster), "", *tree[:shown], *rest]


# The table of levels


def _table(cluster: Cluster) -> list[str]:
    links = _links(cluster)
    rows = [("level", "groups", "GPUs each", "link up")]
    if links[_GPU]:
        rows.append((_GPU, f"{cluster.gpus:,}", "1", _spans(links[_GPU])))
    for level in cluster.levels:
        sizes = [len(group.gpus) for group in cluster.groups[level]]
        rows.append((level, f"{len(sizes):,}", _between(sizes), _spans(links.get(level, ()))))
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"{name:<{wide[0]}}  {groups:>{wide[1]}}  {gpus:>{wide[2]}}  {link}"
        for name, groups, gpus, link in rows
    ]


def _links(cluster: Cluster) -> dict[str, list[Link]]:
    """Return the links that lead up from every level, keyed by level."""
    found: dict[str, list[Link | None]] = {_GPU: [], _ISLAND: [], _MACHINE: []}
    for switch in cluster.switches:
        found.setdefault(switch.level, []).append(switch.uplink)
    for machine in cluster.machines:
        found[_GPU].append(machine.gpu_link)
        found[_MACHINE].append(machine.uplink)
        found[_ISLAND] += [island.uplink for island in machine.islands]
    return {level: [link for link in links if link] for level, links in found.items()}


def _between(numbers: Iterable[int]) -> str:
    least, largest = min(numbers := list(numbers)), max(numbers)
    return f"{least:,}" if least == largest else f"{least:,} to {largest:,}"


def _spans(links: Iterable[Link]) -> str:
    """Describe links by the slowest one and, if they differ, the fastest one."""
    texts = [_said(link) for link in sorted(set(links), key=lambda link: (link.rate, -link.latency))]
    if not texts:
        return "-"
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"


def _said(link: Link) -> str:
    rate = _in_units(link.rate * _BITS, _RATES)
    return f"{rate}, {_in_units(link.latency, _TIMES)}" if link.latency else rate


def _in_units(value: float, units: Sequence[tuple[float, str]]) -> str:
    unit, name = next((each for each in units if value >= each[0]), units[-1])
    return f"{value / unit:.4g} {name}"


# The tree


def _tree(cluster: Cluster) -> Iterator[str]:
    """Yield the lines of the cluster's tree."""
    likeness: dict[str, _Likeness] = {}
    numbers: dict[_Likeness, _Likeness] = {}  # nested tuples would grow with the tree
    sizes: dict[str, int] = {}
    for switch in reversed(cluster.switches):
        below = switch.switches
        own = sum(machine.gpus for machine in switch.machines)
        sizes[switch.name] = own + sum(sizes[child.name] for child in below)
        inside = tuple(map(_likeness_of, switch.machines)), tuple(likeness[child.name] for child in below)
        likeness[switch.name] = numbers.setdefault((switch.level, switch.uplink, inside), (len(numbers),))

    def lines_of(switches: Iterable[Switch], indent: str) -> Iterator[str]:
        for _, equal in groupby(switches, key=lambda switch: likeness[switch.name]):
            first, *others = equal
            yield f"{indent}{_named(first.level, [first.name])}: {sizes[first.name]:,} GPUs"
            yield from _machines(first.machines, f"{indent}  ")
            yield from lines_of(first.switches, f"{indent}  ")
            if others:
                names = _named(first.level, [switch.name for switch in others])
                yield f"{indent}{names}: {len(others):,} likewise"

    return lines_of([cluster.root], "")


def _likeness_of(machine: Machine) -> _Likeness:
    islands = tuple((island.gpus, island.uplink) for island in machine.islands)
    return machine.gpus, machine.gpu_type, machine.memory, islands, machine.gpu_link, machine.uplink


def _machines(machines: Iterable[Machine], indent: str) -> Iterator[str]:
    """Yield a line for each run of equal machines."""
    for _, equal in groupby(machines, key=_likeness_of):
        first, *others = run = list(equal)
        number = f"{len(run):,} machines of " if others else ""
        kind = f" {first.gpu_type}" if first.gpu_type else ""
        islands = f" in {len(first.islands)} islands" if first.islands else ""
        names = _named("machine", [machine.name for machine in run])
        yield f"{indent}{names}: {number}{first.gpus:,}{kind} GPUs{islands}"


def _named(level: str, names: Iterable[str]) -> str:
    """Return the names on a level as a host list, with the level in front unless the list begins with it."""
    text = compress(names)
    return text if text.startswith(level) else f"{level} {text}"
