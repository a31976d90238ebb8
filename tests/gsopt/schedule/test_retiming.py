"""Schedules that floats have blurred, made exact; the course of jobs that share GPUs."""

from fractions import Fraction
from random import Random

import pytest

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import replay
from gsopt.core.numbers.grid import decimal
from gsopt.problems.trial import Trial
from gsopt.schedule.course import ProgressOfJobs
from gsopt.schedule.retiming import ElasticTask, TaskStretch, retimed, tick_of
from tests.strategies.scheduling import tiny, wandering


def task(name: str, release: Fraction | int, work: Fraction | int, **speeds: Fraction | int) -> ElasticTask:
    """Return a task with its speeds by number of GPUs, ``on_2`` for two."""
    return ElasticTask(
        name, release, work, {int(key.removeprefix("on_")): rate for key, rate in speeds.items()}
    )


def trial(tasks: list[ElasticTask], gpus: int, runs: list[TaskStretch], *, preemptive: bool = True) -> Trial:
    """Judge what runs, by rules that excuse exact instants nothing."""
    demands = [item.rates[item.fastest] for item in tasks]
    return Trial(tasks, gpus, runs, origin=0, preemptive=preemptive, demands=demands)


def blurred(runs: list[TaskStretch], random: Random, error: float) -> list[TaskStretch]:
    """Move every time by an error of its own."""
    return [
        TaskStretch(
            run.job,
            max(float(run.start) + random.uniform(-error, error), 0.0),
            float(run.end) + random.uniform(-error, error),
            run.gpus,
        )
        for run in runs
    ]


@pytest.mark.parametrize("seed", range(25))
def test_whatever_is_blurred_keeps_every_rule_and_little_is_lost(seed: int) -> None:
    """Every rule is kept exactly, and jobs complete later by no more than the errors and a few ticks."""
    problem, random = tiny(seed, jobs=(2, 3, 4)), Random(seed)
    instance, tasks = Instance.of(problem), list(problem.tasks)
    timetable = replay(instance, wandering(instance, random)[0])
    own = [TaskStretch(run.job, run.start, run.end, run.gpus) for run in timetable.solution.runs]
    origin = float(problem.origin)
    given = [run._replace(start=float(run.start) - origin, end=float(run.end) - origin) for run in own]
    error = random.choice((0.0, 1e-9, 1e-6))
    found = retimed(tasks, problem.gpus, blurred(given, random, error))
    judged = trial(tasks, problem.gpus, found)

    assert judged.found == []
    room = 1e-9 + 20 * (len(given) + 1) * error
    for end, planned in zip(judged.completions, timetable.completions, strict=True):
        assert end is not None
        assert end <= decimal(planned) + decimal(room)


def test_an_exact_schedule_stays_as_it_is() -> None:
    """Runs on whole ticks that keep every rule are given as they are; runs that touch become one."""
    tasks = [task("a", 0, 4, on_1=1, on_2=2), task("b", 1, 1, on_1=1)]
    runs = [
        TaskStretch("a", 0, 1, 1),
        TaskStretch("a", 1, 2, 1),
        TaskStretch("b", 2, 3, 1),
        TaskStretch("a", 3, 4, 2),
    ]

    assert retimed(tasks, 2, runs) == [
        TaskStretch("a", 0, 2, 1),
        TaskStretch("a", 3, 4, 2),
        TaskStretch("b", 2, 3, 1),
    ]


def test_a_job_ends_in_the_tick_in_which_its_work_is_done() -> None:
    """A run that is too long is cut, the last one of a job that has too little goes on; no tick is lost."""
    tasks = [task("long", 0, 10, on_1=3), task("short", 0, 3, on_1=3)]
    tick = tick_of(tasks)
    for ends in ((4.0, 6.0), (3.0, 3.5)):
        found = retimed(
            tasks, 1, [TaskStretch("long", 0.0, ends[0], 1), TaskStretch("short", ends[0], ends[1], 1)]
        )
        assert [run.job for run in found] == ["long", "short"]
        assert Fraction(10, 3) <= found[0].end < Fraction(10, 3) + tick
        assert found[1].end - found[1].start == 1
        assert trial(tasks, 1, found).found == []


def test_nothing_starts_before_its_release() -> None:
    """What the clock lets start early waits, while what runs before it goes on."""
    tasks = [task("a", 0, 2, on_1=1), task("b", 1, 1, on_1=1)]
    found = retimed(
        tasks, 1, [TaskStretch("a", 0.0, 0.5, 1), TaskStretch("b", 0.5, 1.5, 1), TaskStretch("a", 1.5, 3.0, 1)]
    )

    assert trial(tasks, 1, found).found == []
    assert found == [TaskStretch("a", 0, 1, 1), TaskStretch("a", 2, 3, 1), TaskStretch("b", 1, 2, 1)]


def test_a_release_date_between_two_ticks_is_kept() -> None:
    """A job that comes within a tick starts with the next one."""
    release = Fraction(123456289, 10**9)
    tasks = [task("a", 0, 10**6, on_1=1), task("b", release, 10**6, on_1=1)]
    found = retimed(tasks, 2, [TaskStretch("a", 0.0, 1e6, 1), TaskStretch("b", float(release), 1e6, 1)])

    assert trial(tasks, 2, found).found == []
    assert release < min(run.start for run in found if run.job == "b") <= release + tick_of(tasks)


def test_a_job_too_short_for_the_clock_runs_as_fast_as_it_can() -> None:
    """A job that rounding has left no run, or one of no length, runs at its release, and others wait."""
    short = task("short", 10**9, Fraction(1, 10**9), on_1=1, on_2=2)
    tasks = [task("long", 0, 2 * 10**9, on_2=1), short]
    for runs in (
        [TaskStretch("long", 0.0, 2e9, 2)],
        [TaskStretch("long", 0.0, 2e9, 2), TaskStretch("short", 1e9, 1e9, 2)],
    ):
        found = retimed(tasks, 2, runs)
        judged = trial(tasks, 2, found)
        assert judged.found == []
        assert judged.completions[1] == 10**9 + short.height
        assert judged.completions[0] == 2 * 10**9 + short.height


def test_overlaps_are_made_up_for() -> None:
    """Where ends that are too late ask for more GPUs than there are, nothing runs, and nothing is missing."""
    tasks = [task("a", 0, 1, on_1=1), task("b", 0, 1, on_1=1)]
    found = retimed(tasks, 1, [TaskStretch("a", 0.0, 1.001, 1), TaskStretch("b", 1.0, 2.0, 1)])
    judged = trial(tasks, 1, found)

    assert judged.found == []
    assert max(end or 0 for end in judged.completions) <= Fraction(2002, 1000)


def test_a_tick_is_nothing_beside_the_shortest_job() -> None:
    """Whatever the magnitude, a tick is a power of ten and at most a millionth of a millionth of each job."""
    for exponent in range(-12, 13, 3):
        least = Fraction(10) ** exponent
        tick = tick_of([task("a", 0, 7 * least, on_1=7), task("b", 0, 5 * least, on_1=1)])
        assert least / 10**13 < tick <= least / 10**12
        assert 1 in {tick.numerator, tick.denominator}


def twice(job: int, other: int) -> int:
    """Let any two jobs be twice as slow."""
    assert job != other
    return 2


def test_the_worst_partner_on_any_gpu_slows_the_whole_job() -> None:
    """Beside partners of 1.5 and 3 on single GPUs, a job is three times as slow, then 1.5 times."""
    slow = {(0, 1): Fraction(3, 2), (0, 2): Fraction(3)}
    course = ProgressOfJobs([4, 9, 2], lambda job, other: slow.get((job, other), 1), [0, 0, 0])
    course.start(0, [0, 1, 2, 3])
    course.start(1, [0])
    course.start(2, [1])

    assert course.partners(0) == {1, 2}
    assert course.next_event == 2
    course.pass_until(2)
    assert (course.left[0], course.next_event) == (4 - Fraction(2, 3), 2 + Fraction(10, 3) * Fraction(3, 2))
    course.pass_until(20)
    assert course.ends == {2: 2, 0: 7, 1: 9}
    assert course.users == {}


def test_arrivals_are_events() -> None:
    """Time passes from arrival to end, and the last event is known."""
    course = ProgressOfJobs([4, 1], twice, [0, 3])
    course.start(0, [0])
    course.pass_until(Fraction(7, 2))

    assert (course.last_event, course.next_event) == (3, 4)


def test_a_copy_goes_its_own_way() -> None:
    """What starts in a copy changes nothing in the course that was copied."""
    course = ProgressOfJobs([4, 4], twice, [0, 0])
    course.start(0, [0])
    other = course.copy()
    other.start(1, [0])

    assert (course.next_event, other.next_event) == (4, 8)
    assert course.users == {0: [0]}
