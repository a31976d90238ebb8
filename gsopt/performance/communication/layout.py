"""Layout: the dimensions of an all-reduce over given GPUs, or one flat ring if they form no hierarchy."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.problem import Frozen, Many
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.wire import DALLY_WIRES, Dimension, Wire
from gsopt.scenario.cluster import Cluster, Tier


class Layout(Frozen):
    """The route of an all-reduce over given GPUs.

    Attributes
    ----------
    dimensions
        The network levels that the all-reduce uses, innermost first; empty for a single GPU.
    reason
        Why a flat ring over all GPUs replaces a hierarchy; empty if it does not.

    Examples
    --------
    >>> Layout(dimensions=[]).collective.seconds(1e9)
    0.0
    """

    dimensions: Many[Dimension]
    reason: str = ""

    @property
    def collective(self) -> Collective:
        """Latency and time per byte of the all-reduce."""
        return Collective.of(self.dimensions)


def layout(cluster: Cluster, gpus: Sequence[int], wires: Mapping[str, Wire] = DALLY_WIRES) -> Layout:
    """Return the dimensions of an all-reduce, such as GPUs in a machine, machines in a rack, and racks.

    GPUs on several machines form a hierarchy if each of these machines holds the same number of them, at least
    two, and each rack in use holds the same number of these machines. Any further levels, such as islands
    inside machines, must be divided evenly as well. Otherwise, as with 7 + 1 GPUs on two machines, the GPUs
    form one flat ring over the wires of the innermost level that connects all of them, so an all-reduce over
    7 + 1 GPUs may take longer than one over 4 + 4. Dally's simulator has a similar rule, but checks only
    whether the number of machines divides the number of GPUs, and so treats 6 + 2 like 4 + 4.

    Parameters
    ----------
    cluster
        The cluster.
    gpus
        Indices of the GPUs that take part.
    wires
        The wires between the units of each level.

    Raises
    ------
    InvalidInput
        There are no GPUs, a GPU does not exist or is given twice, or a level that the GPUs need has no wires.

    Examples
    --------
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    >>> [each.units for each in layout(cluster, range(8)).dimensions]
    [4, 2]
    >>> layout(cluster, [0, 1, 2, 4]).reason
    'the groups of level machine hold [3, 1] units'
    """
    _require_gpus(cluster, gpus)
    levels = _groups(cluster, gpus)
    dimensions: list[Dimension] = []
    units: Sequence[int] = range(len(gpus))  # one GPU of each unit represents it
    for level, groups in levels.items():
        inside = Counter(groups[unit] for unit in units)
        reason = _unequal(level, inside, len(gpus))
        if reason:
            outermost = next(level for level, groups in levels.items() if len(set(groups)) == 1)
            return Layout(dimensions=[Dimension(units=len(gpus), wire=_wire(wires, outermost))], reason=reason)
        count = len(units) // len(inside)
        if count > 1:
            dimensions.append(Dimension(units=count, wire=_wire(wires, level)))
        units = list({groups[unit]: unit for unit in units}.values())
    return Layout(dimensions=dimensions)


def _groups(cluster: Cluster, gpus: Sequence[int]) -> Mapping[str, Sequence[int]]:
    """Return the indices of the GPUs' groups on every level, innermost first."""
    if cluster.is_plain:
        return {Tier.MACHINE: [0] * len(gpus)}
    of_gpu = {level: cluster.group_of_gpu(level) for level in cluster.levels}
    return {level: [groups[gpu] for gpu in gpus] for level, groups in of_gpu.items()}


def _unequal(level: str, inside: Counter[int], gpus: int) -> str:
    """Return the reason why GPUs have no hierarchy above a level, or an empty string if they have one."""
    if len(set(inside.values())) > 1:
        sizes = sorted(inside.values(), reverse=True)
        return f"the groups of level {level} hold {shorten(sizes)} units"
    if level == Tier.MACHINE and len(inside) == gpus > 1:
        return "every machine holds one GPU"
    return ""


def _wire(wires: Mapping[str, Wire], level: str) -> Wire:
    require(level in wires, "wires", sorted(wires), f"must hold the level {level}")
    return wires[level]


def _require_gpus(cluster: Cluster, gpus: Sequence[int]) -> None:
    if not gpus:
        raise InvalidInput("gpus", shorten(gpus), "must be at least one GPU")
    for gpu, times in Counter(gpus).items():
        if not 0 <= gpu < cluster.gpus:
            raise InvalidInput("gpus", shorten(gpu), f"must be below {cluster.gpus}")
        if times > 1:
            raise InvalidInput("gpus", shorten(gpu), "must be given once")
