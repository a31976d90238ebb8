"""The best solution and bound: kept when better, in exact numbers, until they meet."""

from fractions import Fraction
from typing import Any

import pytest

from formulations.common.best import Best
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.shares import Shares, TimeShares, TypedJob
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import CellShare, Waiting, WaitingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job

Known = Best[Waiting, WaitingSolution]


def two_jobs() -> Waiting:
    """Return jobs of 1 and 3 s on all GPUs of one machine; in the better order their mean is 2.5 s."""
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=2) for name, seconds in [("a", 1), ("b", 3)]]
    return Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)


def begun(budget: Budget) -> Known:
    """Begin with nothing known."""
    return Best(two_jobs(), budget, "test")


def in_order(*jobs: int) -> Any:
    """Return the schedule of an order."""
    return two_jobs().started([CellShare(job, {0: 2}) for job in jobs])


def test_only_better_schedules_are_kept_and_told_of() -> None:
    """The first is told, a worse one is not, a better one is; the callback's True asks to stop."""
    heard: list[Result[Any]] = []

    def stop_at_second(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) == 2

    best = begun(Budget(on_incumbent=stop_at_second))

    assert best.take(in_order(1, 0))
    assert not best.take(in_order(1, 0))
    assert best.finished is None
    assert best.take(in_order(0, 1))
    assert [result.objective for result in heard] == [Fraction(7, 2), Fraction(5, 2)]
    assert best.finished is StoppedBy.INTERRUPT


def test_bounds_are_rounded_to_the_step_and_end_the_search() -> None:
    """Means are multiples of half a second, so 2.1 proves 2.5."""
    best = begun(Budget())
    best.take(in_order(0, 1))
    best.raise_bound(2.1)
    assert (best.bound, best.finished) == (Fraction(5, 2), StoppedBy.FINISHED)
    assert best.result(StoppedBy.FINISHED).status is Status.OPTIMAL


def test_no_better_solution_than_the_best_one_proves_it() -> None:
    """That all better schedules take 99 s says that none is better than one of 3.5 s."""
    best = begun(Budget())
    best.take(in_order(1, 0))
    best.raise_bound(99, of_better=True)
    assert (best.bound, best.finished) == (Fraction(7, 2), StoppedBy.FINISHED)
    with pytest.raises(Contradiction, match=r"found 2.5, better than the bound 3.5"):
        best.take(in_order(0, 1))


def test_a_proof_that_a_solution_beats_is_wrong() -> None:
    """A bound beyond the value known is refused, by however little, and not taken for that value."""
    best = begun(Budget())
    best.take(in_order(0, 1))
    for wrong in (99, Fraction(5, 2) + Fraction(1, 10**30)):
        with pytest.raises(Contradiction, match=r"found 2.5, better than the bound"):
            best.raise_bound(wrong)
    assert (best.bound, best.finished) == (0, None)


def test_a_gap_and_a_limit_end_the_search() -> None:
    """Within the asked gap it is enough; without time too."""
    near, late = begun(Budget(gap=0.5)), begun(Budget(time_limit=0.0))
    for best in (near, late):
        best.take(in_order(1, 0))
        best.raise_bound(2.5)

    assert near.finished is StoppedBy.GAP
    assert late.finished is StoppedBy.TIME_LIMIT


def test_the_start_is_the_first_schedule() -> None:
    """What the budget brings is known from the beginning."""
    best = begun(Budget(start=in_order(1, 0)))

    assert best.known == in_order(1, 0)
    assert best.value == best.known_value == Fraction(7, 2)


def test_nothing_is_known_at_first() -> None:
    """Without a start there is neither solution nor value, and the bound is the one given."""
    best: Known = Best(two_jobs(), Budget(), "test", bound=Fraction(3, 2))

    assert (best.solution, best.value, best.bound, best.finished) == (None, None, Fraction(3, 2), None)
    assert best.result(StoppedBy.TIME_LIMIT).status is Status.UNKNOWN
    with pytest.raises(AssertionError):
        _ = best.known
    with pytest.raises(AssertionError):
        _ = best.known_value


def test_a_float_is_weakened_where_values_have_no_step() -> None:
    """A third as a float is taken to be a little less than a third, and exact numbers are taken as they are."""
    job = Job(name="a", release_date=0, duration=1, gpus=1)
    best: Best[Sharing, SharingSolution] = Best(Sharing(gpus=1, jobs=[job]), Budget(), "test")

    best.raise_bound(1 / 3)
    assert 0.3333333 < best.bound < Fraction(1 / 3)
    best.raise_bound(Fraction(1, 3))
    assert best.bound == Fraction(1, 3)
    best.raise_bound(Fraction(1, 4))
    assert best.bound == Fraction(1, 3)


def test_what_is_maximised_has_its_bound_above() -> None:
    """A higher value is better, a lower bound too, and a float is weakened upwards."""
    jobs = [TypedJob(name=name, throughputs={"v100": 1.0}) for name in "ab"]
    problem = Shares(gpus={"v100": 1}, jobs=jobs, criterion="fifo")
    best: Best[Shares, TimeShares] = Best(problem, Budget(), "test", bound=3)
    some, more = (TimeShares(shares={"a": {"v100": share}}) for share in (0.5, 1.0))

    assert best.take(some)
    assert best.take(more)
    assert not best.take(some)
    best.raise_bound(Fraction(5, 2))
    best.raise_bound(3)
    assert (best.value, best.bound, best.finished) == (2, Fraction(5, 2), None)
    best.raise_bound(2 + 1 / 3)
    assert 2 + 1 / 3 < best.bound < 2.3333334
    best.raise_bound(2 - 1e-10)  # as far as shares can be told apart
    assert (best.bound, best.finished) == (2, StoppedBy.FINISHED)
    with pytest.raises(Contradiction):
        best.raise_bound(1)
