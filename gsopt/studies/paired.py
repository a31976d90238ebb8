"""Paired: whether one schedule is better than another, job by job, and not by chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gsopt.core.errors import InvalidInput, shorten


@dataclass(frozen=True)
class Paired:
    """The Wilcoxon signed-rank test of differences, first minus second.

    A small `less` speaks for a first schedule whose figures are smaller. A large p speaks for nothing: a
    hypothesis is rejected by a test or not, and never accepted.

    Attributes
    ----------
    pairs
        Number of pairs that differ; equal ones say nothing.
    difference
        Median of the differences over all pairs.
    two_sided
        Probability of ranks at least as uneven, if differences are symmetric around 0.
    less, greater
        Probability of differences that are as far below 0, or above 0, likewise.
    """

    pairs: int
    difference: float
    two_sided: float
    less: float
    greater: float


def signed_ranks(first: Sequence[Any], second: Sequence[Any]) -> Paired:
    """Compare figures of the same jobs under two schedules by the Wilcoxon signed-rank test.

    Exact for up to 50 pairs without ties, and by the normal distribution otherwise, as scipy has it.

    Parameters
    ----------
    first, second
        A figure of every job, such as `gsopt.simulation.Replay.jct`, by number.

    Raises
    ------
    InvalidInput
        The numbers of figures differ.

    Notes
    -----
    Source: F. Wilcoxon, Individual comparisons by ranking methods, 1945; ONES, Table 4.
    """
    if len(first) != len(second):
        rule = f"must be as many as the {len(first)} of the first schedule"
        raise InvalidInput("second", shorten(f"{len(second)} figures"), rule)
    differences = [float(one) - float(other) for one, other in zip(first, second, strict=True)]
    uneven = [each for each in differences if each]
    middle = median(differences) if differences else 0.0
    if not uneven:
        return Paired(0, middle, 1.0, 1.0, 1.0)
    from scipy.stats import wilcoxon

    two_sided, less, greater = (
        float(wilcoxon(uneven, alternative=side).pvalue) for side in ("two-sided", "less", "greater")
    )
    return Paired(len(uneven), middle, two_sided, less, greater)
