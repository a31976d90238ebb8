"""Aryl over 15 days: what a run costs, and what its reclaiming loses against the optimum, event by event.

``GSOPT_DATA=... pytest tests/benchmarks/bench_aryl.py -s`` prints the tables: the two clusters of
`instances.scenarios.aryl`, with 443 and 520 servers, from public traces where these are at hand and made up
elsewhere. Every decision that a run leaves to Algorithm 1, which are those where servers without base workers
do not suffice, is decided by the others too.

On public traces Algorithm 1 preempts the fewest at every event of a full cluster, where most jobs stand on one
server. In Basic it preempts 104 jobs in 60 events, the optimum 88 and smallest count 96: where two servers are
asked for it loses at 11 of 16 events, as a half of each of two jobs is as cheap to it as the whole of one.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any, NamedTuple

import pytest

from formulations.reclaiming import exact
from gsopt.core.method import MethodLike
from gsopt.core.result import Status
from gsopt.problems.reclaiming import Reclaiming
from gsopt.simulation import Replay, replay
from heuristics.policies.aryl.policy import aryl
from heuristics.reclaiming import greedy, random_choice, smallest_count_first
from instances import data_folder
from instances.scenarios import aryl as aryl_scenario
from tests.benchmarks.measures import report, timed
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

DAYS = 15

#: All jobs may run on what is on loan, and there are more than fit: servers on loan are as full as in Figure 7.
_FULL: Mapping[str, Any] = {"elastic": 0.0, "either": 1.0, "load": 1.2}

#: Basic; and without elastic jobs, as in section 7.3, demand that changes every five minutes or four hours.
CASES: Mapping[str, Mapping[str, Any]] = {
    "Basic": {},
    "full": _FULL,
    "full, every 4 hours": {**_FULL, "interval": 14400},
}

METHODS: Mapping[str, MethodLike] = {
    "exact": exact,
    "Algorithm 1": greedy,
    "smallest count": smallest_count_first,
    "random": random_choice,
}

#: How many times as long as Algorithm 1, judged, the optimum may take at the median event.
MOST_TIMES = 50


class Run(NamedTuple):
    """A run, the decisions in it, and its seconds of processor."""

    replay: Replay
    problems: list[Reclaiming]
    seconds: float


class Decided(NamedTuple):
    """How one method has decided a problem: preempted jobs, whether that is proven, and seconds."""

    preempted: float
    is_proven: bool
    seconds: float


@cache
def run(case: str) -> Run:
    """Run Aryl, and note what it asks its reclaiming."""
    scenario = aryl_scenario(data_folder(), days=DAYS, **CASES[case])
    problems: list[Reclaiming] = []
    ran, seconds = timed(lambda: replay(scenario, aryl, on_reclaim=lambda problem, _: problems.append(problem)))
    return Run(ran, problems, seconds)


@cache
def decided(case: str) -> dict[str, list[Decided]]:
    """Decide every problem by every method."""
    problems = run(case).problems
    exact(problems[0])  # so that nothing is loaded below
    return {name: [_decide(method, problem) for problem in problems] for name, method in METHODS.items()}


def _decide(method: MethodLike, problem: Reclaiming) -> Decided:
    result, seconds = timed(lambda: method(problem))
    return Decided(float(unwrap(result.objective)), result.status is Status.OPTIMAL, seconds)


@pytest.mark.parametrize("case", CASES)
def test_a_row(case: str) -> None:
    """All jobs complete; prints what the run costs and what it comes to."""
    ran, problems, seconds = run(case)
    figures, most = ran.metrics, getrusage(RUSAGE_SELF).ru_maxrss / 1024
    jobs, demands = len(ran.completion_times), [problem.demand for problem in problems]
    report(f"\n{case}: {DAYS} days, {jobs:,} jobs in {seconds:.0f} s of processor and {most:.0f} MB at most;")
    report(f"mean queueing {figures.mean_queueing:.0f} s, mean JCT {figures.mean_jct:.0f} s,")
    report(f"{figures.preemptions_per_job:.2%} preemptions per job; {len(demands)} decisions of reclaiming,")
    report(f"for {median(demands):.0f} servers in the median and {max(demands)} at most")
    assert all(end > start for start, end in zip(ran.start_times, ran.completion_times, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_preemptions_of_each_decision(case: str) -> None:
    """The optimum is proven at every event and never worse; prints how far the others are from it."""
    best = decided(case)["exact"]
    assert all(each.is_proven for each in best)
    report(f"\n{case:20}{'total':>8}{'ratio':>8}{'optimal':>9}{'median':>8}{'p95':>6}{'worst':>7}")
    for name, found in decided(case).items():
        excess = sorted(each.preempted - least.preempted for each, least in zip(found, best, strict=True))
        assert excess[0] >= 0
        ratio, share = _total(found) / _total(best), excess.count(0) / len(excess)
        tail = f"{median(excess):8.0f}{excess[int(0.95 * len(excess))]:6.0f}{excess[-1]:7.0f}"
        report(f"{name:20}{_total(found):8.0f}{ratio:8.2f}{share:9.1%}{tail}")


@pytest.mark.parametrize("case", CASES)
def test_how_close_algorithm_1_is(case: str) -> None:
    """It preempts at most a quarter more jobs than the optimum; random servers at least three fourths more."""
    total = {name: _total(found) for name, found in decided(case).items()}
    assert total["Algorithm 1"] <= 1.25 * total["exact"]
    assert total["random"] >= 1.75 * total["exact"]


@pytest.mark.parametrize("case", CASES)
def test_what_the_optimum_costs(case: str) -> None:
    """It takes at most so many times as long as Algorithm 1; prints milliseconds per event."""
    typical = {name: 1000 * median(each.seconds for each in found) for name, found in decided(case).items()}
    for name, found in decided(case).items():
        worst = 1000 * max(each.seconds for each in found)
        report(f"{case:20} {name:16} median {typical[name]:6.1f} ms, worst {worst:6.1f} ms")
    assert typical["exact"] < MOST_TIMES * typical["Algorithm 1"]


def _total(found: Sequence[Decided]) -> float:
    return sum(each.preempted for each in found)
