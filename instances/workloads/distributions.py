"""Distributions: random GPU demands and durations of jobs, as in public traces."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import exp, log
from random import Random
from typing import Annotated

from pydantic import Field

from gsopt.core.errors import require
from gsopt.core.problem import Frozen, Gpus, Many
from gsopt.scenario.job import Seconds

#: The probabilities at which durations are tabulated, dense for long jobs, which use most of the GPU time.
PROBABILITIES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)

_Positive = Annotated[Seconds, Field(gt=0)]
_Quantiles = Annotated[
    tuple[_Positive, ...],
    Field(strict=False, min_length=len(PROBABILITIES), max_length=len(PROBABILITIES)),
]
_Demand = Annotated[tuple[Gpus, Annotated[int, Field(ge=1)]], Field(strict=False)]
_Class = Annotated[tuple[Gpus, _Quantiles], Field(strict=False)]


class JobDistribution(Frozen):
    """Statistics of a trace from which jobs are drawn: GPU demands, and durations given the demand.

    Between two quantiles, the logarithm of the duration is uniformly distributed. No duration lies beyond the
    extremes of the trace.

    Attributes
    ----------
    source
        Trace from which the statistics were taken.
    demands
        Pairs of a number of GPUs and the number of jobs that demand it.
    durations
        Pairs of a number of GPUs, in ascending order, and the quantiles of durations at `PROBABILITIES`, in
        seconds. They apply to jobs with at least this number of GPUs and fewer than the next number.
    """

    source: str = ""
    demands: Many[_Demand] = Field(min_length=1)
    durations: Many[_Class] = Field(min_length=1)

    def draw(self, jobs: int, gpus: int, random: Random) -> Iterator[tuple[int, int]]:
        """Draw the number of GPUs (at most `gpus`) and the duration (in whole seconds) of each job."""
        demands = self._demands(gpus)
        totals = list(accumulate(count for _, count in demands))
        for _ in range(jobs):
            demand = demands[bisect_right(totals, random.randrange(totals[-1]))][0]
            yield demand, max(1, round(_duration(self._quantiles(demand), random.random())))

    def mean_gpu_seconds(self, gpus: int) -> float:
        """Return the expected GPU-seconds of a job with at most `gpus` GPUs."""
        demands = self._demands(gpus)
        total = sum(count * demand * _mean(self._quantiles(demand)) for demand, count in demands)
        return total / sum(count for _, count in demands)

    def _demands(self, gpus: int) -> list[tuple[int, int]]:
        demands = [(demand, count) for demand, count in self.demands if demand <= gpus]
        least = min(demand for demand, _ in self.demands)
        require(bool(demands), "gpus", gpus, f"must be at least {least}, the smallest demand")
        return demands

    def _quantiles(self, demand: int) -> Sequence[float]:
        place = bisect_right(self.durations, demand, key=lambda entry: entry[0])
        return self.durations[max(place - 1, 0)][1]


def _duration(quantiles: Sequence[float], probability: float) -> float:
    """Return the quantile of durations at a given probability."""
    after = bisect_right(PROBABILITIES, probability)
    low, high = quantiles[after - 1], quantiles[after]
    share = (probability - PROBABILITIES[after - 1]) / (PROBABILITIES[after] - PROBABILITIES[after - 1])
    return low * exp(share * log(high / low))


def _mean(quantiles: Sequence[float]) -> float:
    parts = zip(pairwise(PROBABILITIES), pairwise(quantiles), strict=True)
    return sum((end - begin) * _logarithmic_mean(low, high) for (begin, end), (low, high) in parts)


def _logarithmic_mean(low: float, high: float) -> float:
    """Return the mean of a log-uniform distribution between two numbers."""
    return low if low == high else (high - low) / log(high / low)


#: Measured on the reduced Philly trace since October 2017, without repeated rows: 76,531 jobs. The drawn jobs
#: have a mean of 38,939 GPU-seconds, 7 % more than in the trace. The difference is due to the longest tenth of
#: the one-GPU jobs: in the trace, their durations are closer to the lower quantile than after interpolation.
PHILLY = JobDistribution(
    source="Microsoft Philly trace, October to December 2017",
    demands=(
        (1, 71_355),
        (2, 1_695),
        (4, 1_716),
        (8, 1_502),
        (12, 7),
        (16, 176),
        (24, 7),
        (32, 64),
        (64, 6),
        (128, 3),
    ),
    durations=(
        (1, (1, 31, 56, 64, 160, 1_296, 2_813, 8_910, 19_802, 127_239, 612_869, 2_597_076)),
        (2, (2, 5, 9, 12, 16, 22, 98, 83_991, 203_220, 526_529, 1_481_281, 2_582_803)),
        (4, (3, 36, 80, 136, 706, 16_514, 89_139, 180_211, 222_112, 636_510, 2_480_905, 2_750_674)),
        (8, (1, 33, 88, 200, 1_243, 21_017, 157_066, 267_629, 423_592, 829_301, 2_070_012, 2_214_025)),
        (16, (1, 3, 35, 74, 458, 20_043, 97_904, 204_460, 293_434, 1_008_788, 1_623_747, 1_710_643)),
    ),
)

#: Measured on all ten clusters of the ITP trace: 69,351 jobs, none shorter than 600 s. The drawn jobs have a
#: mean of 87,425 GPU-seconds, 3 % more than in the trace.
ITP = JobDistribution(
    source="Microsoft ITP trace, spring 2021",
    demands=((1, 57_682), (2, 1_483), (4, 2_371), (8, 7_009), (16, 381), (32, 354), (64, 71)),
    durations=(
        (1, (600, 671, 987, 1_288, 3_909, 10_132, 14_368, 25_322, 28_837, 84_626, 409_211, 1_573_360)),
        (2, (601, 632, 745, 851, 2_588, 3_478, 3_966, 18_635, 54_616, 447_423, 795_404, 899_735)),
        (4, (601, 748, 822, 1_338, 3_610, 8_325, 31_218, 118_046, 222_434, 669_671, 1_037_700, 1_114_383)),
        (8, (600, 698, 1_086, 1_975, 7_216, 18_320, 49_419, 130_125, 207_475, 507_811, 992_627, 1_237_189)),
        (16, (602, 624, 798, 1_390, 3_834, 41_278, 106_415, 197_600, 297_766, 544_404, 739_918, 1_022_894)),
    ),
)

#: Measured on the trace of Crux: 2,257 jobs of Alibaba's cluster Lingjun with a duration.
CRUX = JobDistribution(
    source="Alibaba Lingjun trace of Crux, August 2023",
    demands=(
        (1, 212),
        (2, 91),
        (3, 13),
        (4, 138),
        (6, 24),
        (8, 743),
        (9, 4),
        (12, 11),
        (16, 175),
        (24, 24),
        (32, 384),
        (40, 3),
        (48, 76),
        (56, 2),
        (60, 25),
        (64, 97),
        (72, 18),
        (80, 15),
        (88, 20),
        (91, 1),
        (118, 1),
        (120, 1),
        (128, 14),
        (256, 126),
        (400, 12),
        (448, 1),
        (464, 1),
        (496, 2),
        (504, 1),
        (512, 21),
        (744, 1),
    ),
    durations=(
        (1, (60, 60, 60, 60, 180, 780, 2_820, 23_640, 67_740, 188_340, 672_240, 672_240)),
        (8, (60, 60, 60, 120, 180, 240, 1_320, 14_100, 33_900, 244_680, 1_082_040, 1_082_040)),
        (16, (60, 60, 60, 60, 240, 840, 3_600, 63_780, 149_820, 295_920, 861_840, 861_840)),
        (32, (60, 60, 60, 60, 240, 600, 6_900, 18_480, 46_500, 228_420, 586_140, 586_140)),
        (64, (60, 60, 60, 120, 360, 2_280, 21_120, 102_060, 270_660, 727_980, 1_237_860, 1_237_860)),
        (256, (60, 60, 60, 120, 240, 420, 660, 1_440, 3_600, 138_720, 151_140, 151_140)),
    ),
)
