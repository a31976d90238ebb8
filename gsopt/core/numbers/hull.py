"""Hull: the gain from each additional GPU for a job that may alternate between several GPU counts."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import ulp
from typing import Generic, NamedTuple, TypeVar

from gsopt.core.numbers.tolerances import ULPS

#: A number of GPUs, or their capability.
Count = TypeVar("Count", int, float)


class HullSegment(NamedTuple, Generic[Count]):
    """The step from one corner of a `concave_hull` to the next: additional GPUs and additional speed."""

    gpus: Count
    speed: float

    @property
    def efficiency(self) -> float:
        """Additional speed per additional GPU."""
        return self.speed / self.gpus


def concave_hull(menu: Iterable[tuple[Count, float]]) -> tuple[HullSegment[Count], ...]:
    """Return the upper concave hull of the origin and a menu, as steps in descending order of efficiency.

    If a job may pause and alternate between the GPU counts of its menu, the hull is its highest possible mean
    speed as a function of its mean number of GPUs. Each step leads from one corner of the hull to the next; the
    first starts from the origin. The last corner is the smallest GPU count with the highest speed. Every
    smaller count that lies on the hull, up to rounding, is also a corner, so a job with linear speed has a step
    for each count.

    Parameters
    ----------
    menu
        Pairs of GPU count and speed, in any order. If a count occurs twice, the higher speed applies.

    Examples
    --------
    >>> concave_hull([(1, 0.5), (2, 0.75), (4, 0.75), (8, 3.0)])
    (HullSegment(gpus=1, speed=0.5), HullSegment(gpus=7, speed=2.5))
    >>> [segment.gpus for segment in concave_hull([(2, 1.0), (3, 1.2), (4, 2.0)])]
    [2, 2]
    """
    corners: list[tuple[Count, float]] = [(0, 0.0)]
    for point in _rising(menu):
        while len(corners) > 1 and _is_below(corners[-1], corners[-2], point):
            corners.pop()
        corners.append(point)
    return tuple(HullSegment(right[0] - left[0], right[1] - left[1]) for left, right in pairwise(corners))


def _rising(menu: Iterable[tuple[Count, float]]) -> Iterator[tuple[Count, float]]:
    """Yield the entries that are faster than every entry with fewer GPUs, in ascending order of GPU count."""
    fastest = 0.0
    for gpus, speed in sorted(menu, key=lambda entry: (entry[0], -entry[1])):
        if speed > fastest:
            fastest = speed
            yield gpus, speed


def _is_below(corner: tuple[Count, float], left: tuple[Count, float], right: tuple[Count, float]) -> bool:
    """Check whether a corner lies below the line from left to right by more than rounding."""
    rise = (corner[1] - left[1]) * (right[0] - corner[0])
    rise_after = (right[1] - corner[1]) * (corner[0] - left[0])
    return rise_after - rise > ULPS * ulp(right[1]) * (right[0] - left[0])
