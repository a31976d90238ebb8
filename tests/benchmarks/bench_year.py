"""Growth of simulation and bound on the synthetic year of 100,000 GPUs, in its number of jobs.

In the first days, hardly any jobs wait. Therefore, the smaller number of jobs is not too small, and growth in
the number of starts (jobs and preemptions) is shown, too.
"""

from math import log
from typing import Any

import pytest

from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import Policy, replay
from heuristics.policies import marginal, srsf
from instances.scenarios import year
from tests.benchmarks.measures import data, once, report, timed

pytestmark = pytest.mark.slow

SMALL, LARGE = 100_000, 400_000


def _scenario(jobs: int) -> Scenario:
    return year(data(), jobs=jobs)


@pytest.mark.parametrize("policy", [srsf, marginal], ids=lambda policy: policy.__name__)
def test_policies(benchmark: Any, policy: Policy) -> None:
    """The seconds of a policy grow with its starts less than like n^1.3."""
    few, many = _scenario(SMALL), _scenario(LARGE)
    first, short = timed(lambda: replay(few, policy))
    result, long = once(benchmark, lambda: timed(lambda: replay(many, policy)))
    starts = [jobs + run.metrics.preemptions for jobs, run in ((SMALL, first), (LARGE, result))]
    in_jobs, in_starts = (log(long / short) / log(ratio) for ratio in (LARGE / SMALL, starts[1] / starts[0]))
    growth = f"exponent {in_jobs:.2f} in jobs, {in_starts:.2f} in starts"
    report(f"{policy.__name__}: {short:.1f} and {long:.1f} s, {growth}")
    assert result.metrics.completed == LARGE
    assert in_starts < 1.3


def test_bound(benchmark: Any) -> None:
    """The seconds of the bound grow at most like n^1.1."""
    few, many = _scenario(SMALL), _scenario(LARGE)
    price_bound(few, evaluations=1)  # loads and compiles the kernel
    _, short = timed(lambda: price_bound(few, evaluations=100, cells=400))
    found, long = once(benchmark, lambda: timed(lambda: price_bound(many, evaluations=100, cells=400)))
    exponent = log(long / short) / log(LARGE / SMALL)
    report(f"bound: {short:.1f} and {long:.1f} s, exponent {exponent:.2f}")
    assert found.mean_jct > 0
    assert exponent <= 1.1
