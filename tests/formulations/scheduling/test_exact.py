"""The default method for scheduling, and what it keeps and divides."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random

import pytest

from formulations.scheduling import event_orders, exact, milp
from formulations.scheduling.annealing import Annealing
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import blocks_of, by_blocks
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.timetable import TimetableStep, replay
from gsopt.core.budget import Budget
from gsopt.core.files import write
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import decimal
from gsopt.core.numbers.tolerances import CONTINUOUS, LINEAR_ROWS, SUM
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.schedule.bounds import lower_bound, mean_jct
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.exactness import orders
from tests.strategies.scheduling import figure_4, one_by_one, packing, rigid, tiny
from tests.unwrap import unwrap

Found = Result[SchedulingSolution]

#: The module; its name in the package is the method's.
MODULE = import_module("formulations.scheduling.exact")


def test_the_optimum_is_that_of_every_order() -> None:
    """On tiny instances, with and without deadlines, the optimum or its absence is proven."""
    infeasible = 0
    for seed in range(cases(120)):
        problem = tiny(seed, fair=seed % 3 == 2)
        found, oracle = exact(problem), event_orders(problem)
        assert found.status is oracle.status, problem.name
        if oracle.objective is not None:
            assert found.objective == pytest.approx(oracle.objective, rel=SUM), problem.name
            assert _bound(found) <= oracle.objective * (1 + SUM), problem.name
        infeasible += oracle.status is Status.INFEASIBLE
    assert infeasible >= cases(5)


def test_no_bound_on_the_way_is_above_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a poor schedule, with windows that leave much to be ruled out, no bound ever exceeds the optimum."""
    bounds: list[float] = []

    def keep(self: BestSchedule, total: float) -> None:
        bounds.append(self.instance.mean_jct(total))
        raise_bound(self, total)

    raise_bound = BestSchedule.raise_bound
    monkeypatch.setattr(BestSchedule, "raise_bound", keep)
    monkeypatch.setattr(LocalSearch, "begin", _poor)
    monkeypatch.setattr(MODULE, "best_nearby_plan", lambda *_, **__: None)
    techniques: set[str] = set()
    for seed in range(cases(40)):
        problem = tiny(seed, jobs=(3, 4))
        optimum = unwrap(event_orders(problem).objective)
        bounds.clear()
        found = exact(problem)
        value = float(found.objective or 0)
        assert found.status is Status.OPTIMAL, problem.name
        assert value == pytest.approx(optimum, rel=SUM)
        assert len(bounds) >= 3
        # a proof that nothing is better than the schedule known raises the bound to any height
        assert all(bound <= optimum * (1 + SUM) or bound >= value for bound in bounds), problem.name
        assert _bound(found) <= optimum * (1 + SUM), problem.name
        techniques.add(found.message)
    assert "model of positions" in techniques


def _poor(self: LocalSearch, budget: Budget, *, known: Sequence[OrderPlan] = ()) -> Iterator[OrderPlan]:
    del budget, known
    yield one_by_one(self.instance)


def test_the_bound_is_the_one_found() -> None:
    """Where branch and bound closes the bracket, the tiny gap that its tolerances leave is shown."""
    problem = elastic_jobs(jobs=7, gpus=8, load=1.5, seed=9)
    result = exact(problem)
    assert (result.status, result.message) == (Status.OPTIMAL, "model of positions")
    assert 0 < float(result.objective or 0) - _bound(result) < CONTINUOUS * float(result.objective or 0)
    assert 0 < unwrap(result.gap) < CONTINUOUS


def test_the_optimum_is_that_of_the_reference_model() -> None:
    """On twenty instances of five and six jobs both methods prove the same optimum."""
    for seed in range(cases(20)):
        problem = elastic_jobs(jobs=5 + seed % 2, gpus=(2, 4, 6, 8)[seed % 4], load=1.2, seed=seed)
        found, other = exact(problem), milp(problem)
        assert found.status is other.status is Status.OPTIMAL, problem.name
        assert found.objective == pytest.approx(other.objective, rel=CONTINUOUS)
        for proof in (found, other):
            assert _bound(proof) <= float(found.objective or 0) * (1 + SUM)


@pytest.mark.parametrize("fair", [False, True])
def test_late_dates_change_nothing(fair: bool) -> None:
    """Instances are solved alike at second 0 and at 1.7e9, as seconds since 1970, up to its ticks."""
    later = 1.7e9
    for seed in range(cases(12)):
        problem = tiny(seed, fair=fair, halves=True)
        jobs = [job.model_copy(update={"release": job.release + later}) for job in problem.jobs]
        moved = problem.model_copy(update={"jobs": tuple(jobs)})
        ticks = clock_error(later, 0)
        for method in (exact, milp):
            before, after = method(problem), method(moved)
            assert after.status is before.status, problem.name
            assert after.stopped_by is before.stopped_by
            if before.objective is not None:
                assert after.objective == pytest.approx(before.objective, abs=ticks, rel=0)
                assert _bound(after) == pytest.approx(_bound(before), abs=ticks, rel=SUM)


def _bound(result: Found) -> float:
    return float(unwrap(result.bound))


@pytest.mark.parametrize("method", [exact, milp, event_orders])
def test_optima_by_hand(method: Callable[[Scheduling], Found]) -> None:
    """Figure 4 shows an optimum, 3, 5.5 and 8 s; on two GPUs an area that fits in 2 s takes 3 s."""
    for problem, value in ((figure_4(), (3 + 8 + 5.5 - 2) / 3), (packing(), (1 + 3) / 2)):
        result = method(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(value)


def test_fairness_that_cannot_be_kept_is_proven() -> None:
    """An infeasible constant is refused with the smallest that is possible."""
    result = exact(rigid((0, 2), gpus=4, fairness=1.0))
    assert result.status is Status.INFEASIBLE
    assert "the smallest fairness possible is 1.5 s" in result.message


def test_shortest_first_is_optimal_on_rigid() -> None:
    """On one GPU with jobs at once the optimum is shortest processing time first."""
    works = [1 + (7 * i) % 13 for i in range(12)]
    result = exact(rigid(*((0, work) for work in works)))
    clock = [sum(sorted(works)[: i + 1]) for i in range(len(works))]
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(sum(clock) / len(works))


@pytest.mark.parametrize("jobs", [15, 60])
def test_a_time_limit_leaves_a_bracket(jobs: int) -> None:
    """What takes too long ends with a schedule and a bound no weaker than the plain bounds."""
    problem = elastic_jobs(jobs=jobs, gpus=8, load=1.5, seed=3)
    result = exact(problem, time_limit=2.0)
    assert result.status in {Status.FEASIBLE, Status.OPTIMAL}
    plain = mean_jct(lower_bound(problem.workload, problem.gpus), problem.workload)
    assert plain * (1 - SUM) <= _bound(result) <= unwrap(result.objective)


def test_times_too_different_for_a_model_leave_a_bracket() -> None:
    """Where a job takes a nanosecond and another one years, there is a schedule and a bound all the same."""
    sizes = {"a": (3e-4, 3), "b": (1.5e-9, 2), "c": (3.6e8, 2), "d": (6e5, 2)}
    jobs = [ElasticJob(name=n, release=0, work=work, rates={on: 1.0}) for n, (work, on) in sizes.items()]
    result = exact(Scheduling(gpus=3, jobs=jobs))
    assert result.status is Status.FEASIBLE
    assert _bound(result) <= float(result.objective or 0) <= 1.01 * _bound(result)


def test_without_time_there_still_is_a_schedule() -> None:
    """A limit of 0 leaves the first list schedule and the plain bounds."""
    result = exact(elastic_jobs(jobs=12, gpus=8, seed=1), time_limit=0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert _bound(result) > 0


def test_the_start_is_kept_however_short_the_time() -> None:
    """A good schedule that is given is the answer where nothing better is found."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    search = Annealing(Instance.of(problem))
    search.improve(500)
    start = search.timetable.solution
    result = exact(problem, time_limit=0, start=start)

    assert float(result.objective or 0) <= problem.objective(start)
    assert float(exact(problem, time_limit=0).objective or 0) > float(result.objective or 0)


def test_a_gap_that_is_met_ends_the_search() -> None:
    """With a wide gap the search ends before the bracket closes."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    result = exact(problem, gap=0.2)
    assert result.stopped_by is StoppedBy.GAP
    assert CONTINUOUS < unwrap(result.gap) <= 0.2


def test_a_callback_hears_of_judged_schedules_and_may_end_the_search() -> None:
    """Results come with falling values and bounds that hold; returning True stops."""
    problem = elastic_jobs(jobs=10, gpus=8, load=1.5, seed=27)
    heard: list[Found] = []
    result = exact(problem, on_incumbent=heard.append)
    values = [float(each.objective or 0) for each in heard]

    assert len(heard) >= 3
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(float(result.objective or 0), rel=SUM)
    assert all(_bound(each) <= values[-1] * (1 + SUM) for each in heard)
    stopped = exact(problem, on_incumbent=lambda _: True)
    assert (stopped.objective, stopped.stopped_by) == (heard[0].objective, StoppedBy.INTERRUPT)


def test_nothing_is_modelled_by_pyomo() -> None:
    """Solving imports no Pyomo, and few jobs no compiler, which take longer than many a limit."""
    code = (
        "import sys, gsopt; from formulations.scheduling import exact;"
        "from instances.scheduling import elastic_jobs;"
        "found = exact(elastic_jobs(jobs=7, gpus=8, load=1.5, seed=9));"
        "print(found.message, {'pyomo', 'numba'} & {*sys.modules})"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert out.strip() == "model of positions set()"


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    """Ctrl-C during a long solve is answered with the best schedule."""
    file = tmp_path / "long.json"
    write(elastic_jobs(jobs=40, gpus=16, load=1.5, seed=2), file)
    code = (
        "import sys, gsopt; from formulations.scheduling import exact;"
        "result = exact(gsopt.load(sys.argv[1]), on_incumbent=lambda _: print('heard', flush=True));"
        "print(result.status, result.stopped_by)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True)
    assert unwrap(process.stdout).readline() == "heard\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert out.splitlines()[-1] == "feasible interrupt"


def _two(*, fairness: float | None = None) -> Scheduling:
    """Return a job of 2 s and, 1 s later, one of 1 s, on one GPU; the clock begins at 10 s."""
    return rigid((10, 2), (11, 1), fairness=fairness)


def _best(problem: Scheduling | None = None, budget: Budget | None = None) -> BestSchedule:
    problem = problem or _two()
    return BestSchedule(problem, Instance.of(problem), budget or Budget(), "test")


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
    assert unwrap(best.plan).steps == LONG_FIRST.steps


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
    replayed, kept = (
        BestSchedule(problem, Instance.of(problem), Budget(start=start), "exact") for _ in range(2)
    )

    assert replayed.take_start()
    assert kept.take_start(as_it_is=True)
    assert kept.completions == replayed.completions
    assert kept.plan == replayed.plan


def test_completions_are_those_of_the_replay() -> None:
    """Whatever a plan says of its completions, those of the schedule count."""
    best = _best()
    best.take(SHORT_FIRST)

    assert unwrap(best.plan).completions == (3, 2)
    runs = [Run(job="a", start=10, end=11, gpus=1), Run(job="a", start=12, end=13, gpus=1)]
    other = Run(job="b", start=11, end=12, gpus=1)
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
    problem = rigid(*((1e6 + random.randint(0, 99) / 10, 0.1) for _ in range(7)), gpus=7)
    best = _best(problem)
    first = min(decimal(job.release) for job in problem.jobs)
    for total in (sum(map(best.instance.earliest, range(7))), best.lower + random.random()):
        best.raise_bound(total)
        released = sum(Fraction(decimal(job.release) - first) for job in problem.jobs)
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
    runs = [Run(job="a", start=10, end=12, gpus=1), Run(job="b", start=12.5, end=13.5, gpus=1)]
    best = _best(budget=Budget(start=SchedulingSolution(runs=runs)))
    assert best.take_start()
    assert unwrap(best.plan).completions == (2, 3.5)
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


Solve = Callable[[Scheduling, Budget], Found]

#: Half a second on a clock that shows seconds since 1970.
EPOCH = 1_700_000_000.5


def in_turn(problem: Scheduling, budget: Budget, *, pause: float = 0.0, bound: float = 0.0) -> Found:
    """Run the jobs one after the other, each after a pause."""
    now, runs = 0.0, []
    for job in sorted(problem.jobs, key=lambda job: job.release):
        start = max(now, job.release) + pause
        now = start + job.work
        runs.append(Run(job=job.name, start=start, end=now, gpus=1))
    solution = SchedulingSolution(runs=runs)
    return Result.judged(problem, method="test", solution=solution, bound=bound, runtime=budget.runtime)


@pytest.mark.parametrize(
    ("problem", "blocks"),
    [
        (rigid((0, 4), (4, 1)), ["a", "b"]),
        (rigid((0, 4), (3.9, 1)), ["ab"]),
        (rigid((0, 2), (1, 2), (4, 1)), ["ab", "c"]),
        (rigid((0, 2), (1, 2), (3.9, 1)), ["abc"]),
        (rigid((0, 1), (5, 2), (6.9, 1), (8, 1)), ["a", "bc", "d"]),
        (rigid((EPOCH, 4), (EPOCH + 4, 1), (EPOCH + 4.9, 1)), ["a", "bc"]),
        (rigid((0, 4), (4, 1), fairness=0), ["a", "b"]),
    ],
)
def test_a_block_ends_where_all_of_it_can_be_done(problem: Scheduling, blocks: list[str]) -> None:
    """Jobs are apart where those before are complete, one after the other, when the next one is released."""
    assert ["".join(block) for block in blocks_of(problem)] == blocks


def test_fair_shares_keep_jobs_together() -> None:
    """A job that would be complete, but not under the fair share that makes its deadline, is not apart."""
    rates = {1: 1.0, 2: 4.0}
    jobs = [ElasticJob(name=n, release=r, work=4, rates=rates, gpus=1) for n, r in (("a", 0), ("b", 1.5))]
    free = Scheduling(gpus=2, jobs=jobs)
    assert list(blocks_of(free)) == [("a",), ("b",)]
    assert list(blocks_of(free.model_copy(update={"fairness": 1.0}))) == [("a", "b")]


def test_many_jobs_are_apart_only_if_far_away() -> None:
    """Of more than a hundred jobs a block begins after a pause in which all could be done."""
    for count, blocks in ((100, 100), (101, 2)):
        dates = [*range(0, 2 * count - 2, 2), 10 * count]
        assert len(list(blocks_of(rigid(*((date, 1) for date in dates))))) == blocks


@pytest.mark.parametrize("method", [exact, event_orders])
@pytest.mark.parametrize("shift", [0.0, EPOCH])
def test_blocks_have_the_optimum_of_the_whole(method: Callable[[Scheduling], Found], shift: float) -> None:
    """Blocks of two, one and two jobs, decades apart, add up to the optimum of all orders of events."""
    rates = {1: 1.0, 2: 1.5}
    dates = (0, 0.5, 1e6, 1e9, 1e9 + 0.25)
    jobs = [
        ElasticJob(name=str(i), release=shift + date, work=1 + i % 3, rates=rates)
        for i, date in enumerate(dates)
    ]
    problem = Scheduling(gpus=2, jobs=jobs)
    parts = [problem.model_copy(update={"jobs": tuple(part)}) for part in (jobs[:2], jobs[2:3], jobs[3:])]
    total = sum(len(part.jobs) * (orders.optimum(part) or Fraction(0)) for part in parts)
    result = method(problem)

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(float(total / 5), rel=1e-9)
    assert Fraction(result.bound or 0) <= total / 5


def test_blocks_whose_schedules_overlap_are_solved_together() -> None:
    """Where a block is done too late for the next one, both become one, on the clock of the first."""
    problem, asked = rigid((10, 2), (12, 1), (20, 1)), list[list[tuple[str, float]]]()

    def late(part: Scheduling, budget: Budget) -> Found:
        asked.append([(job.name, job.release) for job in part.jobs])
        return in_turn(part, budget, pause=0.5, bound=1.0)

    result = by_blocks(problem, Budget(), late, method="test")

    assert asked == [[("a", 0)], [("c", 0)], [("a", 0), ("b", 2)]]
    assert problem.violations(unwrap(result.solution)) == []
    assert result.objective == pytest.approx((2.5 + 2 + 1.5) / 3)
    assert result.bound == pytest.approx(1.0)


def test_bounds_add_up_by_jobs() -> None:
    """The bound is the mean over all jobs of what is proven of each block."""
    problem, bounds = rigid((0, 2), (1, 2), (10, 1)), {2: 2.0, 1: 0.5}
    result = by_blocks(
        problem,
        Budget(),
        lambda part, budget: in_turn(part, budget, bound=bounds[len(part.jobs)]),
        method="test",
    )

    assert result.bound == pytest.approx((2 * 2.0 + 0.5) / 3)


def test_a_block_without_a_schedule_ends_all() -> None:
    """Where one block has none, the whole has none, and says why."""

    def none_for_b(part: Scheduling, budget: Budget) -> Found:
        found = in_turn(part, budget)
        if part.jobs[0].name == "b":
            found = Result.judged(
                part, method="test", solution=None, infeasible=True, message="b is late", runtime=0.0
            )
        return found

    result = by_blocks(rigid((0, 1), (5, 1)), Budget(), none_for_b, method="test")
    assert (result.status, result.solution, result.message) == (Status.INFEASIBLE, None, "b is late")


def test_each_block_has_its_part_of_the_start_and_of_the_time() -> None:
    """A block is given its own runs from its own first release date on, and no callbacks."""
    problem = rigid((EPOCH, 2), (EPOCH + 3, 1), (EPOCH + 3.5, 1))
    runs = [("a", 0.25, 2.25), ("b", 3.0, 4.0), ("c", 4.5, 5.5)]
    start = SchedulingSolution(runs=[Run(job=n, start=EPOCH + b, end=EPOCH + e, gpus=1) for n, b, e in runs])
    given = dict[str, Budget]()

    def solve(part: Scheduling, budget: Budget) -> Found:
        given[part.jobs[0].name] = budget
        return in_turn(part, budget)

    heard = list[Found]()
    by_blocks(problem, Budget(start=start, on_incumbent=heard.append), solve, method="test")

    own = {name: budget.start.runs for name, budget in given.items() if budget.start is not None}
    assert {name: [(run.job, run.start, run.end) for run in own[name]] for name in own} == {
        "a": [("a", 0.25, 2.25)],
        "b": [("b", 0, 1), ("c", 1.5, 2.5)],
    }
    assert all(budget.on_incumbent is None for budget in given.values())
    assert [each.objective for each in heard] == [pytest.approx((2 + 1 + 1.5) / 3)]


def test_an_interrupt_leaves_the_others_no_time() -> None:
    """After Ctrl-C in one block each other has the time for a first schedule only, and the whole says so."""
    limits = list[float | None]()

    def interrupted(part: Scheduling, budget: Budget) -> Found:
        limits.append(budget.left())
        return replace(in_turn(part, budget), stopped_by=StoppedBy.INTERRUPT)

    result = by_blocks(rigid((0, 1), (5, 1), (9, 1)), Budget(), interrupted, method="test")

    assert limits[0] is None
    assert limits[1:] == [0.0, 0.0]
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert all(one.end <= other.start for one, other in pairwise(unwrap(result.solution).runs))
