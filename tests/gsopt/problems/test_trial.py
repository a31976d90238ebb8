"""The judge of runs: exact instants keep every rule exactly, and floats gain nothing by their errors."""

from fractions import Fraction
from math import nextafter
from random import Random

import pytest

from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.problems.trial import Trial, fair_times
from gsopt.schedule.retiming import ElasticTask, TaskStretch
from tests.exactness import orders
from tests.strategies.scheduling import tiny
from tests.unwrap import unwrap

#: A moment far below what any clock tells.
MOMENT = Fraction(1, 10**30)


def task(name: str, release: Exact, work: Exact, *, gpus: int = 1) -> ElasticTask:
    """Return a task that does one unit of work per second and GPU on its only number of GPUs."""
    return ElasticTask(name, release, work, {gpus: gpus})


def trial(tasks: list[ElasticTask], gpus: int, runs: list[TaskStretch], *, preemptive: bool = True) -> Trial:
    """Judge runs on a clock that begins at 0."""
    demands = [max(item.rates.values()) for item in tasks]
    return Trial(tasks, gpus, runs, origin=0, preemptive=preemptive, demands=demands)


def exactly(job: str, start: Exact, end: Exact, gpus: int = 1) -> TaskStretch:
    """Return a run whose instants are exact."""
    return TaskStretch(job, Fraction(start), Fraction(end), gpus)


#: Jobs a and b of 2 s on one GPU each, b released at 1 s, and what breaks a rule for a moment on two GPUs.
TWO = [task("a", 0, 2), task("b", 1, 2)]
BROKEN = {
    "before its release": [exactly("a", 0, 2), exactly("b", 1 - MOMENT, 3)],
    "holds two sets": [exactly("a", 0, 1), exactly("a", 1 - MOMENT, 2), exactly("b", 2, 4)],
    "does not complete": [exactly("a", 0, 2 - MOMENT), exactly("b", 2, 4)],
    "GPUs are held": [exactly("a", 0, 2), exactly("b", 2 - MOMENT, 4)],
    "is preempted": [exactly("a", 0, 1), exactly("a", 1 + MOMENT, 2 + MOMENT), exactly("b", 3, 5)],
}


@pytest.mark.parametrize("rule", BROKEN)
def test_exact_instants_are_excused_nothing(rule: str) -> None:
    """A moment in which a rule is broken breaks it, however short it is; without it the rule is kept."""
    gpus = 1 if rule == "GPUs are held" else 2
    preemptive = rule != "is preempted"

    found = trial(TWO, gpus, BROKEN[rule], preemptive=preemptive).found
    assert len(found) == 1
    assert rule in found[0]
    kept = [exactly("a", 0, 2), exactly("b", 2, 4)]
    assert trial(TWO, gpus, kept, preemptive=preemptive).found == []


def test_what_floats_are_excused_is_added() -> None:
    """Two jobs of a third of a second overlap by an ulp, or lack a part, and complete no earlier for it."""
    third = Fraction(1, 3)
    tasks = [task("a", 0, third), task("b", 0, third)]
    short, late = float(third), nextafter(float(third), 1.0)
    for runs in (
        [TaskStretch("a", 0.0, late, 1), TaskStretch("b", short, 2 * late, 1)],  # they overlap
        [TaskStretch("a", 0.0, short, 1), TaskStretch("b", short, 2 * short, 1)],  # the decimals lack a part
    ):
        judged = trial(tasks, 1, runs)
        assert judged.found == []
        first, last = judged.completions
        assert first is not None
        assert last is not None
        assert third <= first <= third * (1 + Fraction(1, 10**14))
        assert 2 * third <= last <= 2 * third * (1 + Fraction(1, 10**14))


def test_more_than_rounding_explains_is_refused() -> None:
    """A job may owe what its clock and a billionth of its least time explain in all, and no more."""
    error = clock_error(1.0, 1.0)
    for part, wrong in ((0.9, False), (1.1, True)):
        missing = trial([task("a", 0, 1)], 1, [TaskStretch("a", 0.0, 1 - part * error, 1)])
        assert any("does not complete" in rule for rule in missing.found) is wrong
    tasks = [task("a", 0, 1), task("b", 0, 1)]
    for part, wrong in ((0.4, False), (0.7, True)):  # once before the start, and once at the end
        early, end = 0.5 * error, 1 - part * error
        runs = [TaskStretch("a", -early, end - early, 1), TaskStretch("b", 1.0, 2.0, 1)]
        assert bool(trial(tasks, 1, runs).found) is wrong


def test_a_run_beside_many_owes_for_all_of_them() -> None:
    """Where three overlap for a moment on one GPU, all that follow are later by two moments."""
    tasks = [task(name, 0, 1) for name in "abc"]
    moment = 1e-10
    runs = [
        TaskStretch("a", 0.0, 1.0, 1),
        TaskStretch("b", 1 - moment, 2.0, 1),
        TaskStretch("c", 1 - moment, 1.0, 1),
    ]
    runs.append(TaskStretch("c", 2.0, 3 - moment, 1))
    judged = trial(tasks, 1, runs)

    assert judged.found == []
    owed = 2 * decimal(moment)
    assert judged.completions == (1 + owed, 2 + owed, 3 + owed - decimal(moment))


def test_a_run_within_another_owes_its_own_length() -> None:
    """What a job holds twice is as long as the overlap, and its end is that of the longest run."""
    moment, job = 1e-10, [task("a", 0, 3)]
    inside = [
        TaskStretch("a", 0.0, 2.0, 1),
        TaskStretch("a", 1.0, 1 + moment, 1),
        TaskStretch("a", 2 - moment, 3.0, 1),
    ]
    judged = trial(job, 2, inside)
    assert judged.found == []
    assert judged.completions[0] == 3 + Fraction(decimal(1 + moment)) - 1 + 2 - Fraction(decimal(2 - moment))

    judged = trial(job, 2, [TaskStretch("a", 0.0, 3.0, 1), TaskStretch("a", 1.0, 1 + moment, 1)])
    assert judged.completions[0] == 2 + Fraction(decimal(1 + moment))


def test_work_beyond_what_there_is_breaks_a_rule() -> None:
    """A job may run for a billionth longer than it needs, and no more."""
    for end, wrong in ((1 + Fraction(1, 10**10), False), (1 + Fraction(1, 10**8), True)):
        found = trial([task("a", 0, 1)], 1, [exactly("a", 0, end)]).found
        assert any("it has 1" in rule for rule in found) is wrong


def test_the_mean_is_over_completed_jobs() -> None:
    """A job that does not complete does not lower the mean JCT; without completed jobs, there is no mean."""
    assert trial(TWO, 2, [exactly("a", 0, 2)]).mean_jct == 2
    assert trial(TWO, 2, []).mean_jct is None


@pytest.mark.parametrize("seed", range(8))
def test_no_schedule_is_scored_better_than_the_optimum(seed: int) -> None:
    """However runs are moved by what is excused, none without a broken rule has a value below the optimum."""
    random = Random(seed)
    tasks = [task("a", 0, 1), task("b", 0, 1), task("c", Fraction(1, 2), 1)]
    best = (1 + 2 + 3 - Fraction(1, 2)) / Fraction(3)
    kept = 0
    for _ in range(60):
        error = clock_error(3.0, 1.0) * random.choice((0.05, 0.3, 1.0))
        runs = [
            TaskStretch(
                name, start + random.uniform(-error, error), start + 1 + random.uniform(-error, error), 1
            )
            for start, name in enumerate([*random.sample("ab", 2), "c"])
        ]
        judged = trial(tasks, 1, runs)
        if not judged.found:
            kept += 1
            assert unwrap(judged.mean_jct) >= best
    assert kept > 10


def test_deadlines_are_excused_what_the_clock_of_the_end_is() -> None:
    """A float may miss a deadline by its error; an exact end by no moment, whatever the start."""
    floats = trial([task("a", 0, 1)], 1, [TaskStretch("a", 0.0, 1.0, 1)])
    error = Fraction(clock_error(1.0, 1.0))
    assert floats.late([1 - error * Fraction(9, 10)]) == []
    assert floats.late([1 - error * Fraction(11, 10)]) == [0]

    for start in (0.0, Fraction(0)):
        judged = trial([task("a", 0, 1)], 1, [TaskStretch("a", start, Fraction(1), 1)])
        assert (judged.late([1]), judged.late([1 - MOMENT])) == ([], [0])


def test_runs_that_are_none_are_named() -> None:
    """A run of an unknown job, backwards or on another number of GPUs is named by its place, and left out."""
    runs = [exactly("a", 0, 1), exactly("x", 0, 1), exactly("a", 3, 2), exactly("a", 2, 3, 4)]
    found = trial([task("a", 0, 1)], 4, runs).found

    assert found == [
        "segments[1]: 'x' is not a job of the workload",
        "segments[2]: a segment must end after it starts",
        "segments[3]: GPU count 4 of job 'a' is not one of (1,)",
    ]


@pytest.mark.parametrize("seed", range(12))
def test_fair_times_are_those_of_a_fluid(seed: int) -> None:
    """Jobs complete when they do if time passes from event to event, in fractions, on any number of GPUs."""
    problem = tiny(seed, jobs=(1, 2, 3, 4), fair=True)
    loose = orders._Tasks(problem, Fraction(0))  # noqa: SLF001 - the fluid of the oracle
    by_date = sorted(zip(loose.release, loose.fluid(), strict=True), key=lambda pair: pair[0])

    assert problem.fair_times == [end for _, end in by_date]


def test_nobody_there_is_no_time_served() -> None:
    """After a pause the shares begin anew."""
    assert fair_times([task("a", 0, 2), task("b", 5, 2), task("c", 6, 1)], [2, 2, 1], 1) == [2, 8, 8]
