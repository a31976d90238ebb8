"""Plans replayed as schedules."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import Step, replayed
from gsopt.judge import judge
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from tests.strategies.scheduling import tiny, wandering


def _completions(problem: Scheduling, solution: SchedulingSolution) -> tuple[float, ...]:
    verdict = judge(solution.schedule, problem.scenario)
    assert not verdict.violations
    return verdict.completion_times


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6))
def test_noise_moves_completions_by_no_more_than_itself(seed: int) -> None:
    """A plan whose durations are off by 1e-9 is replayed legally, with completions within 1e-7 of its own."""
    random = Random(seed)
    problem = tiny(seed)
    instance = Instance.of(problem)
    steps, planned = wandering(instance, random)
    noisy = [
        noise
        for duration, gpus in steps
        for noise in (
            Step(max(duration + random.uniform(-1e-9, 1e-9), 0.0), gpus),
            Step(random.choice((0.0, 1e-13)), {}),
        )
    ]

    assert _completions(problem, replayed(instance, steps)) == pytest.approx(planned, abs=1e-9)
    assert _completions(problem, replayed(instance, noisy)) == pytest.approx(planned, abs=1e-7)


def _two() -> Scheduling:
    rates = {1: 1.0, 2: 2.0}
    jobs = (
        ElasticJob(name="a", release=0, work=4, rates=rates),
        ElasticJob(name="b", release=2, work=1, rates=rates),
    )
    return Scheduling(gpus=2, jobs=jobs)


def test_pieces_alike_are_one_run() -> None:
    """Steps on the same GPUs one after the other are one run, also where noise lies between them."""
    steps = [Step(1, {0: 1}), Step(1e-12, {0: 2}), Step(1, {0: 1}), Step(1, {0: 1, 1: 1}), Step(0.5, {0: 2})]

    runs = replayed(Instance.of(_two()), steps).runs

    assert [(run.job, run.start, run.end, run.gpus) for run in runs] == [
        ("a", 0, 3, 1),
        ("a", 3, 3.5, 2),
        ("b", 2, 3, 1),
    ]


def test_a_step_waits_for_the_release_of_its_jobs() -> None:
    """A step that rounding puts before a release date begins there."""
    steps = [Step(2 - 1e-10, {}), Step(1, {1: 1}), Step(2, {0: 2})]

    assert _completions(_two(), replayed(Instance.of(_two()), steps)) == (5, 3)


def test_a_job_stops_when_it_is_done() -> None:
    """Of a step longer than a job needs, the job takes no more than it needs."""
    steps = [Step(7, {0: 1}), Step(1, {1: 1})]

    assert _completions(_two(), replayed(Instance.of(_two()), steps)) == (4, 8)


def test_a_job_without_a_step_does_not_complete() -> None:
    """What the plan leaves out is left to the judge to report."""
    solution = replayed(Instance.of(_two()), [Step(2, {0: 2})])

    assert {run.job for run in solution.runs} == {"a"}
