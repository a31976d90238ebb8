"""Windows of completion by position."""

from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling.event_orders import event_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.positions import Positions
from gsopt.core.numbers.grid import decimal
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.judge import judge
from tests.effort import cases
from tests.strategies.scheduling import tiny, wandering


def _alike(*, fairness: float | None = None) -> Scheduling:
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "abc"]
    return Scheduling(gpus=1, jobs=jobs, fairness=fairness)


def test_a_total_bounds_each_position() -> None:
    """Of three jobs of 2 s with a total of 13 s the first ends by 3 s, the second by 5 s, the last by 7 s."""
    positions = Positions.of(_alike(), Instance.of(_alike()), 13)

    assert positions.lower == pytest.approx((2, 4, 6))
    assert positions.upper == pytest.approx((3, 5, 7))


def test_deadlines_bound_each_position() -> None:
    """Jobs that are all due at 7 s complete by then, and none can be due before they can be complete."""
    problem = _alike(fairness=1)
    positions = Positions.of(problem, Instance.of(problem))

    assert positions.upper == pytest.approx((7, 7, 7))
    assert not positions.contradict


@pytest.mark.parametrize("seed", range(20))
def test_rounding_leaves_exact_completions_within(seed: int) -> None:
    """Where a total leaves nothing to spare, the optimum in fractions is within the windows in floats."""
    random = Random(seed)
    jobs = [
        ElasticJob(name=name, release=0, work=random.randint(1, 99) / 10, rates={1: random.choice((0.7, 3.0))})
        for name in "abc"
    ]
    problem = Scheduling(gpus=1, jobs=jobs)
    ends = list(accumulate(sorted(Fraction(decimal(job.work)) / decimal(job.rates[1]) for job in jobs)))
    positions = Positions.of(problem, Instance.of(problem), float(sum(ends)))

    for low, end, high in zip(positions.lower, ends, positions.upper, strict=True):
        assert low <= end <= high


@settings(deadline=None, max_examples=cases(60))
@given(st.integers(0, 10**6))
def test_an_optimal_schedule_is_within_its_windows(seed: int) -> None:
    """With the total of any schedule at all, the completions of an optimal one are in the windows and cells."""
    problem = tiny(seed)
    instance = Instance.of(problem)
    _, completions = wandering(instance, Random(seed))
    best = event_orders(problem)
    assert best.solution is not None
    positions = Positions.of(problem, instance, sum(completions))
    times = sorted(judge(best.solution.schedule, problem.scenario).completion_times)

    own = [time - instance.origin for time in times]
    for time, low, high in zip(own, positions.lower, positions.upper, strict=True):
        assert low <= time * (1 + 1e-9)
        assert time <= high * (1 + 1e-9)
    inside = [positions.time(time) for time in (0.0, *own)]
    for epoch, (begin, end) in enumerate(positions.epochs):
        for position, (since, until) in enumerate(pairwise(inside)):
            length = min(end, until) - max(begin, since)
            if length > 1e-6:
                assert length <= positions.cells[epoch, position] + 1e-6
