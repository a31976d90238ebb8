"""What is known of an optimum, from both sides."""

from fractions import Fraction
from math import inf
from random import Random

import pytest

from formulations.scheduling.best import Best
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.timetable import TimetableStep, replay
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import decimal
from gsopt.core.numbers.tolerances import CONTINUOUS, LINEAR_ROWS
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution

Found = Result[SchedulingSolution]


def _two(*, fairness: float | None = None) -> Scheduling:
    """Return a job of 2 s and, 1 s later, one of 1 s, on one GPU; the clock begins at 10 s."""
    jobs = [
        ElasticJob(name="long", release=10, work=2, rates={1: 1.0}),
        ElasticJob(name="short", release=11, work=1, rates={1: 1.0}),
    ]
    return Scheduling(gpus=1, jobs=jobs, fairness=fairness)


def _best(problem: Scheduling | None = None, budget: Budget | None = None) -> Best:
    problem = problem or _two()
    return Best(problem, Instance.of(problem), budget or Budget(), "test")


def _plan(*steps: tuple[float, int | None]) -> OrderPlan:
    """Run one job at a time for these seconds; what it says of completions is wrong."""
    own = [TimetableStep(seconds, {} if job is None else {job: 1}) for seconds, job in steps]
    return OrderPlan(tuple(own), (0.0, 0.0))


#: Completions at 2 and 3 s, both in total 5 s; at 3 and 2 s, no better; and half a second, or 8 s, later.
LONG_FIRST, SHORT_FIRST = _plan((2, 0), (1, 1)), _plan((1, 0), (1, 1), (1, 0))
LATE, LAST = _plan((0.25, None), (2, 0), (1, 1)), _plan((4, None), (2, 0), (1, 1))


def test_at_first_nothing_is_known_but_what_each_job_needs() -> None:
    """Without a schedule the value is infinite, and the bound is the sum of times as if alone."""
    best = _best()

    assert (best.plan, best.total, best.gap) == (None, inf, inf)
    assert best.lower == 2 + 2
    assert best.finished is None
    assert not best.closed
    result = best.result(StoppedBy.TIME_LIMIT)
    assert (result.status, result.solution) == (Status.UNKNOWN, None)
    assert result.bound == pytest.approx((4 - 1) / 2)


def test_only_what_is_better_is_taken() -> None:
    """A schedule is kept if its total is below the best one's; none, an equal and a worse one are not."""
    best = _best()
    taken = [best.take(plan) for plan in (None, LAST, LATE, LONG_FIRST, SHORT_FIRST, LATE)]

    assert taken == [False, True, True, True, False, False]
    assert best.total == 5
    assert best.plan is not None
    assert best.plan.steps == LONG_FIRST.steps


def test_a_timetable_is_taken_with_the_steps_that_it_comes_to() -> None:
    """What is handed over as a timetable is the best schedule, and a plan where somebody asks for one."""
    best = _best()
    timetable = replay(best.instance, LONG_FIRST.steps)

    assert best.take_timetable(timetable)
    assert not best.take_timetable(timetable)
    assert best.plan is not None
    assert best.plan.steps == LONG_FIRST.steps
    assert best.completions == best.plan.completions == timetable.completions


def test_a_start_is_taken_as_it_is() -> None:
    """Without a replay the start has the same completion times, on the clock of the instance."""
    problem = _two()
    start = replay(Instance.of(problem), SHORT_FIRST.steps).solution
    replayed, kept = (Best(problem, Instance.of(problem), Budget(start=start), "exact") for _ in range(2))

    assert replayed.take_start()
    assert kept.take_start(as_it_is=True)
    assert kept.completions == replayed.completions
    assert kept.plan == replayed.plan


def test_completions_are_those_of_the_replay() -> None:
    """Whatever a plan says of its completions, those of the schedule count."""
    best = _best()
    best.take(SHORT_FIRST)

    assert best.plan is not None
    assert best.plan.completions == (3, 2)
    runs = [Run(job="long", start=10, end=11, gpus=1), Run(job="long", start=12, end=13, gpus=1)]
    other = Run(job="short", start=11, end=12, gpus=1)
    result = best.result(StoppedBy.FINISHED)
    assert result.solution == SchedulingSolution(runs=[*runs, other])
    assert result.objective == (5 - 1) / 2


def test_a_plan_that_leaves_a_job_out_is_no_schedule() -> None:
    """Where a job does not complete there is nothing to take."""
    best = _best()

    assert not best.take(_plan((2, 0)))
    assert best.plan is None


def test_what_misses_a_deadline_is_not_taken() -> None:
    """With fairness a better schedule that makes a job late is refused."""
    best = _best(_two(fairness=0))
    assert best.instance.deadline == pytest.approx((3, 3))

    assert not best.take(_plan((1.5, None), (2, 0), (1, 1)))
    assert best.take(SHORT_FIRST)


def test_schedules_are_looked_for_up_to_the_best_with_room_for_rounding() -> None:
    """The limit is the best total and a little of the sum of job completion times, or all deadlines."""
    best, fair = _best(), _best(_two(fairness=0))
    assert (best.limit, fair.limit) == (inf, sum(fair.instance.deadline))

    best.take(LONG_FIRST)
    assert best.limit - 5 == pytest.approx(LINEAR_ROWS * (5 - 1), rel=1e-6)


def test_bounds_rise_and_do_not_pass_the_best() -> None:
    """Of bounds the highest is kept, up to the total of the best schedule, since it is for what is no worse."""
    best = _best()
    best.raise_bound(3.5)
    assert best.lower == 4

    best.raise_bound(4.5)
    best.raise_bound(4.25)
    assert best.lower == 4.5

    best.take(LONG_FIRST)
    best.raise_bound(99)
    assert best.lower == 5


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_is_never_above_what_proves_it(seed: int) -> None:
    """The mean in floats is at most that of the same sum and the release dates as they are written."""
    random = Random(seed)
    jobs = [
        ElasticJob(name=str(i), release=1e6 + random.randint(0, 99) / 10, work=0.1, rates={1: 1.0})
        for i in range(7)
    ]
    best = _best(Scheduling(gpus=7, jobs=jobs))
    first = min(decimal(job.release) for job in jobs)
    for total in (sum(map(best.instance.earliest, range(7))), best.lower + random.random()):
        best.raise_bound(total)
        released = sum(Fraction(decimal(job.release) - first) for job in jobs)
        assert best.bound <= (Fraction(best.lower) - released) / 7
        assert best.bound == pytest.approx(best.instance.mean_jct(best.lower), rel=1e-12)


def test_the_gap_is_relative_to_the_completion_times() -> None:
    """The gap is that of the mean job completion time, and 0 at least."""
    best = _best()
    best.take(LONG_FIRST)
    assert best.gap == pytest.approx((5 - 4) / (4 - 1))
    assert best.gap == pytest.approx(best.result(StoppedBy.GAP).gap)

    best = _best()
    best.take(LATE)
    best.raise_bound(5.5)
    best.take(LONG_FIRST)
    assert best.gap == 0


def test_value_and_bound_meet_as_far_as_values_can_be_told_apart() -> None:
    """The bracket is closed where the difference is a millionth of the value, and no sooner."""
    best = _best()
    best.take(LONG_FIRST)
    resolution = best.problem.resolution(2)
    assert resolution == pytest.approx(2 * CONTINUOUS, rel=0.1)

    best.raise_bound(5 - 2 * 1.01 * resolution)
    assert not best.closed
    assert best.finished is None
    best.raise_bound(5 - 2 * 0.99 * resolution)
    assert best.closed
    assert best.finished is StoppedBy.FINISHED
    assert best.result(StoppedBy.FINISHED).status is Status.OPTIMAL


def test_a_bound_at_the_goal_settles_the_problem() -> None:
    """The goal is below the total, and no bound that reaches it leaves the bracket open."""
    best = _best()
    best.take(LONG_FIRST)
    assert best.lower < best.goal < best.total

    best.raise_bound(best.goal)
    assert best.closed


def test_why_to_stop() -> None:
    """What is proven comes before a wish to stop, that before a gap that is met, and that before the time."""
    best = _best(budget=Budget(gap=0.34, time_limit=0.0))
    best.take(LATE)
    reasons = [best.finished]
    best.take(LONG_FIRST)  # a gap of a third
    reasons.append(best.finished)
    best.asked_to_stop = True
    reasons.append(best.finished)
    best.raise_bound(5)
    reasons.append(best.finished)

    assert reasons == [StoppedBy.TIME_LIMIT, StoppedBy.GAP, StoppedBy.INTERRUPT, StoppedBy.FINISHED]


def test_a_proof_that_there_is_none_ends_it() -> None:
    """Where no schedule exists the result says why, and has neither schedule nor bound."""
    best = _best(_two(fairness=0))
    best.infeasible = "too late"
    result = best.result(StoppedBy.FINISHED, message="other")

    assert best.finished is StoppedBy.FINISHED
    assert (result.status, result.bound, result.message) == (Status.INFEASIBLE, None, "too late")


def test_a_result_says_how_it_came_about() -> None:
    """Method, solver, message and reason are those given."""
    result = _best().result(StoppedBy.CRASH, solver="highs", message="lost")

    assert (result.method, result.solver, result.message) == ("test", "highs", "lost")
    assert result.stopped_by is StoppedBy.CRASH


def test_the_start_is_taken_over() -> None:
    """The schedule given to start from is the best one known, with its completion times."""
    runs = [Run(job="long", start=10, end=12, gpus=1), Run(job="short", start=12.5, end=13.5, gpus=1)]
    best = _best(budget=Budget(start=SchedulingSolution(runs=runs)))

    assert best.take_start()
    assert best.plan is not None
    assert best.plan.completions == (2, 3.5)
    assert best.result(StoppedBy.FINISHED).objective == 2.25


def test_without_a_start_there_is_none() -> None:
    """No start is nothing taken."""
    best = _best()

    assert not best.take_start()
    assert best.plan is None


def test_better_schedules_are_told() -> None:
    """A callback hears of each better schedule once, with the bound known by then."""
    heard: list[Found] = []
    best = _best(budget=Budget(on_incumbent=heard.append))
    best.take(LAST)
    best.raise_bound(4.5)
    for plan in (LATE, LATE, LONG_FIRST):
        best.take(plan)

    assert [result.objective for result in heard] == [6, 2.25, 2]
    assert [result.bound for result in heard] == pytest.approx([1.5, 1.75, 1.75])
    assert {result.method for result in heard} == {"test"}
    assert not best.asked_to_stop


def test_a_wish_to_stop_stays() -> None:
    """Once the callback has returned True the end is wanted, whatever it returns later."""
    wishes = iter([False, True, False])
    best = _best(budget=Budget(on_incumbent=lambda _: next(wishes)))
    asked = []
    for plan in (LAST, LATE, LONG_FIRST):
        best.take(plan)
        asked.append(best.asked_to_stop)

    assert asked == [False, True, True]
