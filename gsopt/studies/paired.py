"""Paired: a statistical test of whether one schedule is better than another, comparing them job by job."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gsopt.core.errors import InvalidInput, shorten


@dataclass(frozen=True)
class Paired:
    """The result of a Wilcoxon signed-rank test of the differences (first minus second) between paired figures.

    The attributes `two_sided`, `less` and `greater` are p-values. A small `less` is evidence that the figures
    of the first schedule are smaller. A large p-value is no evidence that the schedules are equally good.

    Attributes
    ----------
    pairs
        Number of pairs that differ. Equal pairs carry no information.
    difference
        Median of the differences over all pairs.
    two_sided
        Probability of rank sums at least as uneven as these if the differences are symmetric around 0.
    less, greater
        Probability, under the same assumption, of rank sums that favour negative (`less`) or positive
        (`greater`) differences at least as strongly as these do.
    """

    pairs: int
    difference: float
    two_sided: float
    less: float
    greater: float


def signed_ranks(first: Sequence[Any], second: Sequence[Any]) -> Paired:
    """Compare figures of the same jobs under two schedules by the Wilcoxon signed-rank test.

    The test is exact for up to 50 pairs that differ, if no two differences have the same size. In most other
    cases, scipy uses the normal approximation.

    Parameters
    ----------
    first, second
        A figure of every job, in the order of the jobs, such as `gsopt.simulation.Replay.jct`.

    Raises
    ------
    InvalidInput
        The two sequences differ in length.

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
