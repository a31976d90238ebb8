"""Jobs that are complete before others are released, solved apart and put together."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from formulations.scheduling import event_orders, exact
from formulations.scheduling.blocks import blocks_of, by_blocks
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from tests.exactness import orders

Found = Result[SchedulingSolution]
Solve = Callable[[Scheduling, Budget], Found]

#: Half a second on a clock that shows seconds since 1970.
LATE = 1_700_000_000.5


def one_gpu(*jobs: tuple[float, float], fairness: float | None = None) -> Scheduling:
    """Return jobs a, b, ... by release date and seconds on the only GPU."""
    made = [
        ElasticJob(name=n, release=r, work=w, rates={1: 1.0}) for n, (r, w) in zip("abcdef", jobs, strict=False)
    ]
    return Scheduling(gpus=1, jobs=made, fairness=fairness)


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
        (one_gpu((0, 4), (4, 1)), ["a", "b"]),
        (one_gpu((0, 4), (3.9, 1)), ["ab"]),
        (one_gpu((0, 2), (1, 2), (4, 1)), ["ab", "c"]),
        (one_gpu((0, 2), (1, 2), (3.9, 1)), ["abc"]),
        (one_gpu((0, 1), (5, 2), (6.9, 1), (8, 1)), ["a", "bc", "d"]),
        (one_gpu((LATE, 4), (LATE + 4, 1), (LATE + 4.9, 1)), ["a", "bc"]),
        (one_gpu((0, 4), (4, 1), fairness=0), ["a", "b"]),
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
        jobs = [ElasticJob(name=str(i), release=date, work=1, rates={1: 1.0}) for i, date in enumerate(dates)]
        assert len(list(blocks_of(Scheduling(gpus=1, jobs=jobs)))) == blocks


@pytest.mark.parametrize("method", [exact, event_orders])
@pytest.mark.parametrize("shift", [0.0, LATE])
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
    problem, asked = one_gpu((10, 2), (12, 1), (20, 1)), list[list[tuple[str, float]]]()

    def late(part: Scheduling, budget: Budget) -> Found:
        asked.append([(job.name, job.release) for job in part.jobs])
        return in_turn(part, budget, pause=0.5, bound=1.0)

    result = by_blocks(problem, Budget(), late, method="test")

    assert asked == [[("a", 0)], [("c", 0)], [("a", 0), ("b", 2)]]
    assert result.solution is not None
    assert problem.violations(result.solution) == []
    assert result.objective == pytest.approx((2.5 + 2 + 1.5) / 3)
    assert result.bound == pytest.approx(1.0)


def test_bounds_add_up_by_jobs() -> None:
    """The bound is the mean over all jobs of what is proven of each block."""
    problem, bounds = one_gpu((0, 2), (1, 2), (10, 1)), {2: 2.0, 1: 0.5}
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

    result = by_blocks(one_gpu((0, 1), (5, 1)), Budget(), none_for_b, method="test")
    assert (result.status, result.solution, result.message) == (Status.INFEASIBLE, None, "b is late")


def test_each_block_has_its_part_of_the_start_and_of_the_time() -> None:
    """A block is given its own runs from its own first release date on, and no callbacks."""
    problem = one_gpu((LATE, 2), (LATE + 3, 1), (LATE + 3.5, 1))
    runs = [("a", 0.25, 2.25), ("b", 3.0, 4.0), ("c", 4.5, 5.5)]
    start = SchedulingSolution(runs=[Run(job=n, start=LATE + b, end=LATE + e, gpus=1) for n, b, e in runs])
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

    result = by_blocks(one_gpu((0, 1), (5, 1), (9, 1)), Budget(), interrupted, method="test")

    assert limits[0] is None
    assert limits[1:] == [0.0, 0.0]
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.solution is not None
    assert all(one.end <= other.start for one, other in pairwise(result.solution.runs))
