"""Schedules from lists of segments, without kernels."""

from random import Random

import pytest

from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_by_rest, serve_list
from formulations.scheduling.local_search import Priorities, list_schedule
from formulations.scheduling.segments import Segments
from gsopt.problems.scheduling import ElasticJob, Scheduling
from heuristics.scheduling import srsf, srtf
from instances.scheduling import elastic_jobs
from tests.strategies.scheduling import figure_4, tiny


def test_any_list_makes_a_schedule() -> None:
    """In any order of names the judge finds nothing wrong, and the value is the one said."""
    for seed in range(60):
        problem = tiny(seed)
        instance = Instance.of(problem)
        segments = Segments.of(instance)
        names = Random(seed).sample(segments.job.tolist(), len(segments.job))
        timetable = serve_list(instance, segments, names)
        assert problem.violations(timetable.solution) == []
        assert problem.objective(timetable.solution) == pytest.approx(
            instance.mean_jct(timetable.total), rel=1e-9
        )


def test_what_is_left_makes_a_schedule() -> None:
    """Served by what is left of them, in any sizes, jobs complete when the judge says."""
    for seed in range(60):
        problem = tiny(seed)
        instance = Instance.of(problem)
        sizes = [Random(seed).uniform(1, 2) for _ in problem.jobs]
        timetable = serve_by_rest(instance, Segments.of(instance), sizes)
        assert problem.violations(timetable.solution) == []
        assert problem.objective(timetable.solution) == pytest.approx(
            instance.mean_jct(timetable.total), rel=1e-9
        )


def _rigid(seed: int) -> Scheduling:
    drawn = elastic_jobs(jobs=40, gpus=8, load=1.5, seed=seed)
    rigid = tuple(job.model_copy(update={"rates": {job.demand: job.rates[job.demand]}}) for job in drawn.jobs)
    return drawn.model_copy(update={"jobs": rigid})


def test_rigid_jobs_by_what_is_left_are_the_policies() -> None:
    """By remaining area it is shortest remaining service first, by remaining time shortest remaining time."""
    for seed in range(5):
        problem = _rigid(seed)
        instance = Instance.of(problem)
        segments = Segments.of(instance)
        for sizes, policy in ((segments.areas, srsf), (segments.times, srtf)):
            found = serve_by_rest(instance, segments, sizes.tolist())
            assert instance.mean_jct(found.total) == pytest.approx(policy(problem).objective, rel=1e-6)


def test_rigid_jobs_are_served_as_by_priorities() -> None:
    """With one count each, a list of segments is an order of priority."""
    instance = Instance.of(_rigid(3))
    names = Random(3).sample(range(40), 40)

    plan = list_schedule(instance, Priorities(tuple(names), instance.modes))
    assert serve_list(instance, Segments.of(instance), names).completions == pytest.approx(plan.completions)


def test_figure_4_by_segments() -> None:
    """Served in the order of fair completion, all segments at once, the jobs complete at 3, 8 and 5.5."""
    instance = Instance.of(figure_4())
    segments = Segments.of(instance)
    names = [job for job in (0, 2, 1) for _ in range(segments.first[job], segments.first[job + 1])]

    assert serve_list(instance, segments, names).completions == pytest.approx((3, 8, 5.5))


def test_a_segment_that_does_not_fit_is_passed_over() -> None:
    """Beside a job on 3 of 4 GPUs another gets its first GPU and not the two more that it would like."""
    wide = ElasticJob(name="a", release=0, work=6, rates={3: 3.0})
    other = ElasticJob(name="b", release=0, work=4, rates={1: 1.0, 3: 2.0})
    instance = Instance.of(Scheduling(gpus=4, jobs=[wide, other]))
    timetable = serve_list(instance, Segments.of(instance), [0, 1, 1])

    assert [(piece.job, piece.start, piece.end, piece.gpus) for piece in timetable.pieces] == [
        (0, 0.0, 2.0, 3),
        (1, 0.0, 2.0, 1),
        (1, 2.0, 3.0, 3),
    ]
    assert timetable.completions == (2.0, 3.0)


def test_a_cluster_may_be_empty_for_a_while() -> None:
    """Between two jobs far apart nothing runs."""
    jobs = [
        ElasticJob(name=n, release=r, work=1, rates={1: 1.0}) for n, r in (("a", 1.7e9), ("b", 1.7e9 + 100))
    ]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))

    assert serve_list(instance, Segments.of(instance), [1, 0]).completions == (1.0, 101.0)


def test_growth_by_fewer_gpus_than_any_job_begins_with() -> None:
    """A job that begins with 2 of 3 GPUs takes the third one too."""
    job = ElasticJob(name="a", release=0, work=6, rates={2: 2.0, 3: 3.0})
    instance = Instance.of(Scheduling(gpus=3, jobs=[job]))

    assert serve_list(instance, Segments.of(instance), [0, 0]).completions == (2.0,)


def test_a_job_is_not_done_a_little_early() -> None:
    """What is left of a job when another arrives, a hundred millionth of its work, is done too."""
    jobs = [
        ElasticJob(name=n, release=r, work=w, rates={1: 1.0}) for n, r, w in (("a", 0, 1 + 1e-8), ("b", 1, 1))
    ]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))

    assert serve_list(instance, Segments.of(instance), [1, 0]).completions == pytest.approx(
        (2 + 1e-8, 2), abs=1e-12
    )
