"""The chain that every result hangs on: no bound above an optimum, no policy below it."""

from collections.abc import Callable, Iterator
from statistics import fmean

import pytest

from formulations.scheduling import exact
from gsopt.bounds import (
    height_bound,
    lower_bound,
    mean_busy_time_bound,
    mean_jct,
    moore_hodgson_bound,
    position_bound,
    srpt_bound,
)
from gsopt.job import Workload
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result, Status
from gsopt.study import load, names
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from instances.scheduling import elastic_jobs
from tests.strategies.scheduling import tiny

BOUNDS: tuple[Callable[[Workload, int], float], ...] = (
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


def drawn() -> Iterator[Scheduling]:
    """Draw 500 instances of three to five jobs: loads, speed-up, arrivals and counts of GPUs in turn."""
    for seed in range(440):
        yield elastic_jobs(
            jobs=3 + seed % 3,
            gpus=(2, 4, 6, 8, 3)[seed % 5],
            load=(0.8, 1.2, 2.0, 5.0)[seed % 4],
            scaling="linear" if seed % 7 == 0 else "concave",
            counts="alpha" if seed % 6 == 0 else "all",
            at_once=seed % 9 == 0,
            seed=seed,
        )
    for seed in range(60):
        yield tiny(seed + 1_000, jobs=(3,))


@pytest.fixture(scope="module")
def proven() -> list[tuple[Scheduling, float]]:
    """Give the drawn instances with their proven optima."""
    pairs = []
    for problem in drawn():
        result = exact(problem)
        assert result.status is Status.OPTIMAL, problem.about
        assert result.objective is not None
        pairs.append((problem, float(result.objective)))
    return pairs


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_no_bound_is_above_the_optimum(
    proven: list[tuple[Scheduling, float]], bound: Callable[[Workload, int], float]
) -> None:
    """On 500 instances the bound on the mean job completion time is at most the proven optimum."""
    gaps = [
        optimum / mean_jct(bound(problem.workload, problem.gpus), problem.workload) - 1
        for problem, optimum in proven
    ]
    assert len(gaps) == 500
    assert min(gaps) >= -ROUNDING
    assert max(gaps) > 0.1


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_no_policy_is_below_the_optimum(
    proven: list[tuple[Scheduling, float]], policy: Callable[[Scheduling], Result[SchedulingSolution]]
) -> None:
    """On 500 instances the mean job completion time of the policy is at least the proven optimum."""
    gaps = [float(policy(problem).objective or 0) / optimum - 1 for problem, optimum in proven]
    assert len(gaps) == 500
    assert min(gaps) >= -ROUNDING
    assert max(gaps) > 0.01


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
