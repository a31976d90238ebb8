"""Layout: the positions of switches, machines and GPUs in a picture of a cluster.

The unit of length is the side of a GPU's cell; y grows downwards.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gsopt.scenario.cluster import Cluster, Machine, Switch

_GAP = 0.35  # between boxes, and between islands
_ROW = 8  # cells of a machine side by side
_ASPECT = 1.6  # best ratio of width to height for boxes of switches; machines are best square
_WASTE, _MACHINES_WASTE = 6.0, 1.0  # penalty per share of empty places; a ratio off by a factor of e costs 1
_MOST_NAMED = 64  # with more, their names would be too small to be read


@dataclass(frozen=True)
class Box:
    """The box of a switch or machine in a picture."""

    name: str  # empty where there is no room for it
    level: str
    width: float
    height: float
    top: float  # height of the strip for the name
    # what is in it, each with the place of its upper left corner
    inside: "Sequence[tuple[float, float, Box]]" = ()
    cells: Sequence[tuple[float, float]] = ()  # upper left corners of its own GPUs, in their order

    def walk(self, x: float = 0.0, y: float = 0.0) -> "Iterator[tuple[float, float, Box]]":
        """Yield the box and all boxes inside it with their top left corners, in the order of their GPUs."""
        yield x, y, self
        for right, down, box in self.inside:
            yield from box.walk(x + right, y + down)


def laid_out(cluster: Cluster, name: float = 1.0) -> Box:
    """Lay out a cluster as nested boxes.

    At the top of a switch's box, a strip of height `name` leaves room for the switch's name. Boxes of machines
    have such a strip only if there are at most 64 machines.
    """
    if cluster.is_plain:
        columns = max(1, math.ceil(math.sqrt(cluster.gpus * _ASPECT)))
        return _of_cells("", "machine", _rows(range(cluster.gpus), columns), 0.0)
    named = len(cluster.machines) <= _MOST_NAMED
    boxes: dict[str, Box] = {}
    for switch in reversed(cluster.switches):
        inside = [_machine(machine, name if named else 0.0) for machine in switch.machines]
        inside += [boxes.pop(child.name) for child in switch.switches]
        boxes[switch.name] = _around(switch, inside, name)
    return boxes[cluster.root.name]


def _machine(machine: Machine, name: float) -> Box:
    islands = [island.gpus for island in machine.islands] or [machine.gpus]
    cells: list[tuple[float, float]] = []
    left = 0.0
    for gpus in islands:
        cells += [(x + left, y) for x, y in _rows(range(gpus), _ROW)]
        left += min(gpus, _ROW) + _GAP / 2
    return _of_cells(machine.name if name else "", "machine", cells, name)


def _rows(gpus: range, columns: int) -> list[tuple[float, float]]:
    return [(float(gpu % columns), float(gpu // columns)) for gpu in gpus]


def _of_cells(name: str, level: str, cells: Sequence[tuple[float, float]], top: float) -> Box:
    placed = [(x, y + top) for x, y in cells]
    width, height = (max(corner[axis] for corner in placed) + 1 for axis in (0, 1))
    return Box(name, level, width, height, top, (), placed)


def _around(switch: Switch, inside: Sequence[Box], top: float) -> Box:
    """Arrange boxes in rows of equal length inside the box of a switch."""
    wide, high = (max(sizes) + _GAP for sizes in zip(*((box.width, box.height) for box in inside), strict=True))
    aspect, waste = (wide / high / _ASPECT, _WASTE) if switch.switches else (wide / high, _MACHINES_WASTE)

    def ugliness(columns: int) -> float:
        """Return the deviation from the best aspect ratio, plus a penalty for empty places."""
        rows = math.ceil(len(inside) / columns)
        return abs(math.log(columns * aspect / rows)) + waste * (1 - len(inside) / (rows * columns))

    columns = min(range(1, len(inside) + 1), key=ugliness)
    rows = math.ceil(len(inside) / columns)
    placed = [
        (_GAP + index % columns * wide, top + index // columns * high, box) for index, box in enumerate(inside)
    ]
    return Box(switch.name, switch.level, columns * wide + _GAP, rows * high + top, top, placed)
