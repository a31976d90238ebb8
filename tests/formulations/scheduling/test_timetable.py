"""Plans replayed as schedules."""

from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import TimetableStep, replay, steps_of, steps_of_pieces
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.schedule.judge import judge
from tests.effort import cases
from tests.strategies.scheduling import tiny, wandering


def _completions(problem: Scheduling, solution: SchedulingSolution) -> tuple[float, ...]:
    verdict = judge(solution.schedule, problem.scenario)
    assert not verdict.violations
    return verdict.completion_times


@settings(deadline=None, max_examples=cases(200))
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
            TimetableStep(max(duration + random.uniform(-1e-9, 1e-9), 0.0), gpus),
            TimetableStep(random.choice((0.0, 1e-13)), {}),
        )
    ]

    for given_steps, error in ((steps, 1e-9), (noisy, 1e-7)):
        timetable = replay(instance, given_steps)
        judged = [time - instance.origin for time in _completions(problem, timetable.solution)]
        assert timetable.completions == pytest.approx(planned, abs=error)
        assert judged == pytest.approx(planned, abs=error)


def _two() -> Scheduling:
    rates = {1: 1.0, 2: 2.0}
    jobs = (
        ElasticJob(name="a", release=0, work=4, rates=rates),
        ElasticJob(name="b", release=2, work=1, rates=rates),
    )
    return Scheduling(gpus=2, jobs=jobs)


def test_pieces_alike_are_one_run() -> None:
    """Steps on the same GPUs one after the other are one run, also where noise lies between them."""
    steps = [
        TimetableStep(1, {0: 1}),
        TimetableStep(1e-12, {0: 2}),
        TimetableStep(1, {0: 1}),
        TimetableStep(1, {0: 1, 1: 1}),
        TimetableStep(0.5, {0: 2}),
    ]

    runs = replay(Instance.of(_two()), steps).solution.runs

    assert [(run.job, run.start, run.end, run.gpus) for run in runs] == [
        ("a", 0, 3, 1),
        ("a", 3, 3.5, 2),
        ("b", 2, 3, 1),
    ]


def test_a_step_waits_for_the_release_of_its_jobs() -> None:
    """A step that rounding puts before a release date begins there."""
    steps = [TimetableStep(2 - 1e-10, {}), TimetableStep(1, {1: 1}), TimetableStep(2, {0: 2})]

    assert _completions(_two(), replay(Instance.of(_two()), steps).solution) == (5, 3)


def test_a_job_stops_when_it_is_done() -> None:
    """Of a step longer than a job needs, the job takes no more than it needs."""
    steps = [TimetableStep(7, {0: 1}), TimetableStep(1, {1: 1})]

    assert _completions(_two(), replay(Instance.of(_two()), steps).solution) == (4, 8)


def test_a_job_without_a_step_does_not_complete() -> None:
    """What the plan leaves out is left to the judge to report."""
    timetable = replay(Instance.of(_two()), [TimetableStep(2, {0: 2})])

    assert timetable.completions == (2, inf)
    assert {run.job for run in timetable.solution.runs} == {"a"}


def test_the_problem_has_a_clock_of_its_own() -> None:
    """Of jobs released at 1.7e9 s the timetable counts from there, and the solution from 1970."""
    job = ElasticJob(name="a", release=1.7e9, work=3, rates={1: 1.0})
    timetable = replay(Instance.of(Scheduling(gpus=1, jobs=[job])), [TimetableStep(3, {0: 1})])

    assert timetable.completions == (3,)
    assert [(run.start, run.end) for run in timetable.solution.runs] == [(1.7e9, 1.7e9 + 3)]


def test_pieces_shorter_than_a_tick_are_left_to_the_clock() -> None:
    """At 1.7e9 s a job of 1e-9 s takes the one tick that the clock can tell, and the judge accepts it."""
    jobs = [ElasticJob(name=n, release=1.7e9, work=w, rates={1: 1.0}) for n, w in [("a", 1e-9), ("b", 1.0)]]
    problem = Scheduling(gpus=1, jobs=jobs)
    solution = replay(Instance.of(problem), [TimetableStep(1e-9, {0: 1}), TimetableStep(1.0, {1: 1})]).solution

    assert problem.violations(solution) == []
    assert len(solution.runs) == 2
    assert problem.objective(solution) == pytest.approx(0.5, abs=1e-6)


@settings(deadline=None, max_examples=cases(100))
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.7e9]))
def test_a_schedule_and_its_steps_are_the_same(seed: int, later: float) -> None:
    """Steps taken from a solution are replayed as it was, at any date, up to the ticks of its clock."""
    problem = tiny(seed)
    jobs = [job.model_copy(update={"release": job.release + later}) for job in problem.jobs]
    instance = Instance.of(problem.model_copy(update={"jobs": tuple(jobs)}))
    steps, planned = wandering(instance, Random(seed))
    solution = replay(instance, steps).solution

    assert replay(instance, steps_of(instance, solution)).completions == pytest.approx(planned, abs=1e-5)


def test_gpus_that_are_of_no_use_are_given_back() -> None:
    """A run on more GPUs that are no faster is taken to be on fewer."""
    job = ElasticJob(name="a", release=0, work=2, rates={1: 1.0, 2: 1.0})
    run = Run(job="a", start=0, end=2, gpus=2)

    instance = Instance.of(Scheduling(gpus=2, jobs=[job]))
    assert steps_of(instance, SchedulingSolution(runs=[run])) == [TimetableStep(2, {0: 1})]


def test_pieces_and_steps_are_the_same_plan() -> None:
    """The steps of a timetable, replayed, give its completions again."""
    for seed in range(50):
        instance = Instance.of(tiny(seed))
        timetable = replay(instance, wandering(instance, Random(seed))[0])
        again = replay(instance, steps_of_pieces(timetable))
        assert again.completions == pytest.approx(timetable.completions, rel=1e-9)
