"""Segments: the gains of additional GPUs for each job, in arrays for the kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.scheduling.instance import Instance
from gsopt.core.numbers.hull import concave_hull

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Exponent of the efficiency in the orders that need no dual values. All values from 3 to 6 work well.
POWER = 4

#: Price of missing a deadline by a second, divided by the number of jobs.
_PENALTY = 10.0


class Segments(NamedTuple):
    """Jobs, and the segments of the concave hulls of their speeds.

    A segment is a step on the hull from one number of GPUs, at first 0, to a larger one, with the speed that is
    gained. The segments of a job are consecutive, most efficient first.
    """

    # gpus, least_gpus: number of GPUs, and the fewest that any segment needs
    gpus: int
    least_gpus: int
    # release, work, fastest, due: release date of each job, its work, its highest speed, and the deadline
    release: Reals
    work: Reals
    fastest: Reals
    due: Reals
    penalty: float  # price of a second by which a deadline is missed
    first: Integers  # index of each job's first segment, and finally the number of all segments
    # job, more, gain, speed: for each segment, its job, additional GPUs, additional speed, and speed with it
    job: Integers
    more: Integers
    gain: Reals
    speed: Reals

    @classmethod
    def of(cls, instance: Instance) -> "Segments":
        """Compute the segments of an instance's jobs."""
        hulls = [concave_hull(modes) for modes in instance.modes]
        sizes = [len(hull) for hull in hulls]
        speeds = [np.cumsum([segment.speed for segment in hull]) for hull in hulls]
        return cls(
            gpus=instance.gpus,
            least_gpus=min(segment.gpus for hull in hulls for segment in hull),
            release=np.array(instance.release),
            work=np.array(instance.work),
            fastest=np.array([speed[-1] for speed in speeds]),
            due=np.array(instance.deadline),
            penalty=_PENALTY * len(instance),
            first=np.cumsum([0, *sizes]),
            job=np.repeat(np.arange(len(hulls)), sizes),
            more=np.array([segment.gpus for hull in hulls for segment in hull]),
            gain=np.array([segment.speed for hull in hulls for segment in hull]),
            speed=np.concatenate(speeds),
        )

    def by_slopes(self, slopes: Reals) -> Integers:
        """Return the list of segments in descending order of value per GPU.

        `slopes` holds the value of one unit of each job's work. The list consists of job numbers; each job is
        listed as often as it has segments.
        """
        worth = slopes[self.job] * self.gain / self.more
        return self.job[np.argsort(-worth, kind="stable")]

    @property
    def relative_efficiency(self) -> Reals:
        """The speed that each segment adds per GPU, relative to that of its job's first segment."""
        efficiency = self.gain / self.more
        found: Reals = efficiency / efficiency[self.first[:-1]][self.job]
        return found

    @property
    def areas(self) -> Reals:
        """The minimum number of GPU-seconds that each job needs."""
        return self.work / (self.gain / self.more)[self.first[:-1]]

    @property
    def times(self) -> Reals:
        """The shortest time that each job needs, in seconds."""
        return self.work / self.fastest

    def by_size(self, sizes: Reals) -> Integers:
        """Return the list of segments in descending order of an index of efficiency and size.

        The index of a segment is the fourth power of its `relative_efficiency`, divided by the job's size, for
        example the job's area. For rigid jobs, the list is in ascending order of size.
        """
        index = self.relative_efficiency**POWER / sizes[self.job]
        return self.job[np.argsort(-index, kind="stable")]

    def by_completion(self, completions: Sequence[float]) -> Integers:
        """Return the list of `by_size` for sizes in the order of the given completions.

        The size of the k-th job to complete is the k-th smallest of all areas.
        """
        sizes = np.empty_like(self.work)
        sizes[np.argsort(completions, kind="stable")] = np.sort(self.areas)
        return self.by_size(sizes)
