"""The chain that every result hangs on: no bound above an optimum, no policy below it."""

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean

import pytest

from formulations.scheduling import exact
from gsopt.core.problem import Number
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds import (
    height_bound,
    lower_bound,
    mean_busy_time_bound,
    mean_jct,
    moore_hodgson_bound,
    position_bound,
    srpt_bound,
)
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import tiny

BOUNDS: tuple[Callable[[Workload, int], Number], ...] = (
    height_bound,
    srpt_bound,
    position_bound,
    mean_busy_time_bound,
    moore_hodgson_bound,
    lower_bound,
)
POLICIES: tuple[Callable[[Scheduling], Result[SchedulingSolution]], ...] = (
    efq,
    elastic_srtf,
    elastic_las,
    equal_share,
    fifo,
    srtf,
    las,
)

#: How far a value may be on the wrong side of another by rounding, relatively.
ROUNDING = 1e-9

#: How far every bound and every policy is from the optimum of some instance: they are no optimum renamed.
NOTEWORTHY = 0.01


#: The instances drawn, and the tests over which they are spread.
INSTANCES, PARTS = cases(500), 5


def drawn(seed: int) -> Scheduling:
    """Draw an instance of three to five jobs: loads, speed-up, arrivals and counts of GPUs in turn."""
    if seed >= INSTANCES - INSTANCES // 8:
        return tiny(seed, jobs=(3,))
    return elastic_jobs(
        jobs=3 + seed % 3,
        gpus=(2, 4, 6, 8, 3)[seed % 5],
        load=(0.8, 1.2, 2.0, 5.0)[seed % 4],
        scaling="linear" if seed % 7 == 0 else "concave",
        counts="alpha" if seed % 6 == 0 else "all",
        at_once=seed % 9 == 0,
        seed=seed,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_no_bound_is_above_the_optimum_and_no_policy_below(part: int) -> None:
    """No bound on the mean completion time is above the optimum, no policy is below it."""
    above: dict[str, list[float]] = defaultdict(list)
    for seed in range(part, INSTANCES, PARTS):
        problem = drawn(seed)
        result = exact(problem)
        assert result.status is Status.OPTIMAL, problem.about
        assert result.objective is not None
        optimum = float(result.objective)
        for bound in BOUNDS:
            proven = mean_jct(bound(problem.workload, problem.gpus), problem.workload)
            above[bound.__name__].append(optimum / proven - 1)
        for policy in POLICIES:
            above[policy.__name__].append(float(policy(problem).objective or 0) / optimum - 1)
    assert {name: min(gaps) for name, gaps in above.items() if min(gaps) < -ROUNDING} == {}
    assert {name: max(gaps) for name, gaps in above.items() if max(gaps) < NOTEWORTHY} == {}


@pytest.mark.parametrize(
    ("policy", "most"),
    [(efq, 0.15), (srtf, 1.5), (fifo, 1.5), (las, 1.5), (equal_share, 0.5)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_policies_on_the_committed_instances(
    policy: Callable[[Scheduling], Result[SchedulingSolution]], most: float
) -> None:
    """No policy is below a proven optimum of the suite, and elastic fair queuing is within 15 % in the mean."""
    gaps = []
    for problem in map(load, names("scheduling/small")):
        assert isinstance(problem, Scheduling)
        result, known = policy(problem), problem.about
        if known is None or known.objective is None or not known.proved_by:
            continue
        if result.objective is None:  # unfair
            assert problem.fairness is not None
            continue
        gaps.append(float(result.objective) / known.objective - 1)
    assert len(gaps) >= 60
    assert min(gaps) >= -ROUNDING
    assert 0.001 < fmean(gaps) <= most
