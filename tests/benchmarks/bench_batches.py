"""How far the bound on the mean JCT and `marginal` are from the known optimum of 1,000 batches."""

from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from gsopt.schedule.bounds import mean_jct_bound
from gsopt.simulation import replay
from heuristics.policies import marginal
from tests.benchmarks.measures import once
from tests.exactness import batches
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

BATCHES = 1_000

#: Steps of hulls up to which the bound gets many price vectors, some, and else few; more hardly raise it there.
_EVALUATIONS = ((400, 180), (1_500, 60))
_FEWEST = 15

#: Error of floats.
_ROUNDING = 1e-9


class Row(NamedTuple):
    """A batch, and by which part of the optimum three values differ from it."""

    jobs: int
    gpus: int
    exponent: float
    equal: bool  # all jobs of one size
    divisible: float
    bound: float
    marginal: float


KINDS: dict[str, Callable[[Row], bool]] = {
    "all": lambda _: True,
    "1 GPU": lambda row: row.gpus == 1,
    "fewer GPUs than jobs": lambda row: 1 < row.gpus < row.jobs,
    "1 to 4 GPUs a job": lambda row: row.jobs <= row.gpus < 4 * row.jobs,
    "4 or more GPUs a job": lambda row: row.gpus >= 4 * row.jobs,
    "equal jobs": lambda row: row.equal,
    "2 to 9 jobs": lambda row: row.jobs < 10,
    "10 to 29 jobs": lambda row: 10 <= row.jobs < 30,
    "30 to 50 jobs": lambda row: row.jobs >= 30,
    "p below 0.3": lambda row: row.exponent < 0.3,
    "p from 0.3 to 0.5": lambda row: 0.3 <= row.exponent < 0.5,
    "p from 0.5 to 0.7": lambda row: 0.5 <= row.exponent < 0.7,
    "p from 0.7": lambda row: row.exponent >= 0.7,
}


def test_against_the_optimum(benchmark: Any) -> None:
    """No bound is above the optimum, and no schedule below it."""
    rows = once(benchmark, lambda: [measured(seed) for seed in range(BATCHES)])
    for kind, belongs in KINDS.items():
        say(kind, [row for row in rows if belongs(row)])
    assert max(row.bound for row in rows) <= _ROUNDING
    assert min(row.marginal for row in rows) >= -_ROUNDING


def measured(seed: int) -> Row:
    """Measure a batch."""
    batch = batches.draw(Random(f"batch {seed}"))
    jobs, gpus = len(batch.sizes), batch.gpus
    optimum = float(batches.mean(batches.whole(batch.speeds, jobs), batch.sizes))
    divisible = float(batches.mean(batches.divisible(batch.exponent, gpus, jobs), batch.sizes))
    scenario = batch.scenario
    evaluations = next((number for most, number in _EVALUATIONS if jobs * gpus <= most), _FEWEST)
    bound = unwrap(mean_jct_bound(scenario, evaluations=evaluations)).mean_jct
    reached = replay(scenario, marginal).metrics.mean_jct
    ratios = [value / optimum - 1 for value in (divisible, bound, reached)]
    return Row(jobs, gpus, batch.exponent, len({*batch.sizes}) == 1, *ratios)


def say(kind: str, rows: Sequence[Row]) -> None:
    """Print how far each value is from the optimum, and how often it is near."""
    if not rows:
        return
    low = [-row.bound for row in rows]
    high = [row.marginal for row in rows]
    both = [(1 + row.marginal) / (1 + row.bound) - 1 for row in rows]
    Console(width=200).print(
        f"{kind}, {len(rows)}: divisible {spread([-row.divisible for row in rows])} below; "
        f"bound {spread(low)} below, {share(low, 0.005)} within 0.5 %; "
        f"marginal {spread(high)} above, {share(high, 0.01)} within 1 %, {share(high, 1e-9)} optimal; "
        f"marginal over bound {spread(both)}"
    )


def spread(values: Sequence[float]) -> str:
    """Return median, 95th percentile and maximum."""
    ordered = sorted(values)
    return f"{median(ordered):.2%}/{ordered[int(0.95 * (len(ordered) - 1))]:.2%}/{ordered[-1]:.2%}"


def share(values: Sequence[float], most: float) -> str:
    """Return the share of values up to a number."""
    return f"{sum(value <= most for value in values) / len(values):.0%}"
