"""Tables 2 to 4 and Appendix C, recomputed exactly."""

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from heuristics.allocation.two_jobs import (
    LinearJob,
    TwoJobs,
    end_point_rule,
    one_after_the_other,
    printed_rule,
)

#: Work is maximum workers times minimum running time. In Table 4 job A has the smaller maximum.
TABLE_2 = TwoJobs(8, p=LinearJob(6 * 50, 2, 6), q=LinearJob(6 * 20, 2, 6))
TABLE_4 = TwoJobs(8, p=LinearJob(3 * 100, 2, 3), q=LinearJob(6 * 20, 2, 6))


def random_pairs(count: int, seed: int) -> Iterator[TwoJobs]:
    """Draw pairs in the setting of Equation 2, p the one of the smaller maximum."""
    rng = random.Random(seed)
    while count:
        most_p = rng.randint(1, 12)
        most_q = rng.randint(most_p, 14)
        least_p, least_q = rng.randint(1, most_p), rng.randint(1, most_q)
        capacity = rng.randint(1, 26)
        if most_q < capacity < most_p + most_q and least_p + least_q < capacity:
            p, q = (
                LinearJob(rng.randint(1, 120), least_p, most_p),
                LinearJob(rng.randint(1, 120), least_q, most_q),
            )
            yield TwoJobs(capacity, p, q)
            count -= 1


def corners_are_feasible(jobs: TwoJobs) -> bool:
    """Check whether either job can have its maximum beside the other's minimum."""
    return jobs.end_points == (jobs.capacity - jobs.q.most, jobs.p.most)


def best_split(jobs: TwoJobs) -> Fraction:
    """Return the smallest average over all splits of the GPUs."""
    fewest, most = jobs.end_points
    return min(jobs.average(gpus) for gpus in range(fewest, most + 1))


def test_no_job_uses_more_than_all_gpus() -> None:
    """A job whose maximum exceeds the capacity continues on all GPUs, not on its maximum."""
    jobs = TwoJobs(4, p=LinearJob(4, 1, 3), q=LinearJob(100, 1, 8))
    assert jobs.completion_times(2) == (Fraction(2), 2 + Fraction(100 - 2 * 2, 4))
    swapped = TwoJobs(4, p=LinearJob(100, 1, 8), q=LinearJob(4, 1, 8))
    assert swapped.completion_times(2) == (2 + Fraction(100 - 2 * 2, 4), Fraction(2))


@pytest.mark.parametrize(
    ("gpus", "first", "second", "average"),
    [
        (6, Fraction(50), Fraction(160, 3), Fraction(155, 3)),
        (2, Fraction(190, 3), Fraction(20), Fraction(125, 3)),
        (4, Fraction(60), Fraction(30), Fraction(45)),
    ],
)
def test_table_3(gpus: int, first: Fraction, second: Fraction, average: Fraction) -> None:
    """Table 3: (50, 53.33, 51.67), (63.33, 20, 41.67) and (60, 30, 45) for 6, 2 and 4 workers of A."""
    assert TABLE_2.completion_times(gpus) == (first, second)
    assert TABLE_2.average(gpus) == average


def test_the_difference_of_24_percent_is_relative_to_the_best() -> None:
    """Section 5.1: worst and best of Table 3 differ by 10, which is 24 % of the best and 19 % of the worst."""
    best, worst = TABLE_2.average(2), TABLE_2.average(6)
    assert worst - best == 10
    assert round(100 * (worst - best) / best) == 24
    assert round(100 * (worst - best) / worst) == 19


def test_all_splits_of_table_2() -> None:
    """Giving A 2 to 6 of the eight workers averages 41.67, 43, 45, 48.33 and 51.67."""
    averages = [TABLE_2.average(gpus) for gpus in range(2, 7)]
    assert averages == [Fraction(125, 3), 43, 45, Fraction(145, 3), Fraction(155, 3)]


def test_table_4() -> None:
    """Table 4: favouring A gives (100, 24, 62), favouring B (106.67, 20, 63.33); A wins 6.67 and B loses 4."""
    assert TABLE_4.completion_times(3) == (Fraction(100), Fraction(24))
    assert TABLE_4.completion_times(2) == (Fraction(320, 3), Fraction(20))
    assert (TABLE_4.average(3), TABLE_4.average(2)) == (Fraction(62), Fraction(190, 3))
    assert TABLE_4.completion_times(2)[0] - TABLE_4.completion_times(3)[0] == Fraction(20, 3)


def test_joint_optima_of_tables_3_and_4() -> None:
    """The best sums of completion times are 83.33 for Table 2 and 124 for Table 4, queueing included."""
    assert 2 * TABLE_2.average(end_point_rule(TABLE_2)) == Fraction(250, 3)
    assert 2 * TABLE_4.average(end_point_rule(TABLE_4)) == 124
    for jobs in (TABLE_2, TABLE_4):
        assert one_after_the_other(jobs) > best_split(jobs) == jobs.average(end_point_rule(jobs))


def test_equation_7_is_the_average() -> None:
    """The closed form (Equation 7) equals the completion times (Equations 5 and 6) at every split."""
    for jobs in random_pairs(300, seed=1):
        p, q, capacity = jobs.p, jobs.q, jobs.capacity
        for gpus in range(jobs.end_points[0], jobs.end_points[1] + 1):
            if Fraction(p.work, gpus) <= Fraction(q.work, capacity - gpus):
                value = Fraction(p.work + q.work, 2 * q.most)
                value += Fraction(p.work, gpus) * (1 - Fraction(capacity, 2 * q.most))
            else:
                value = Fraction(p.work + q.work, 2 * p.most)
                value += Fraction(q.work, capacity - gpus) * (1 - Fraction(capacity, 2 * p.most))
            assert jobs.average(gpus) == value


def test_the_printed_rule_holds_with_feasible_corners() -> None:
    """Appendix C's conclusions give the best split whenever either job can have its maximum."""
    pairs = [jobs for jobs in random_pairs(3_000, seed=3) if corners_are_feasible(jobs)]
    assert len(pairs) > 500
    assert all(jobs.average(printed_rule(jobs)) == best_split(jobs) for jobs in pairs)


def test_the_printed_rule_fails_with_an_infeasible_corner() -> None:
    """C=11, p=(91, 5..8), q=(83, 4..8): the rule favours q, sum 30.396; seven GPUs for p give 29.875."""
    jobs = TwoJobs(11, p=LinearJob(91, 5, 8), q=LinearJob(83, 4, 8))
    assert not corners_are_feasible(jobs)
    assert 2 * jobs.average(printed_rule(jobs)) == Fraction(1459, 48)
    assert 2 * jobs.average(end_point_rule(jobs)) == 2 * best_split(jobs) == Fraction(239, 8)


def test_the_end_point_rule_always_holds() -> None:
    """Evaluating both end points gives the best split of every random pair."""
    assert all(jobs.average(end_point_rule(jobs)) == best_split(jobs) for jobs in random_pairs(3_000, seed=5))


def test_both_conclusions_agree_at_twice_the_maximum() -> None:
    """At C = 2 g_max(p) Equation 7 is constant in case II, so favouring p is right by both conclusions."""
    jobs = TwoJobs(10, p=LinearJob(60, 1, 5), q=LinearJob(40, 1, 9))
    second_first = [
        gpus for gpus in range(1, 6) if jobs.completion_times(gpus)[1] <= jobs.completion_times(gpus)[0]
    ]
    assert len({jobs.average(gpus) for gpus in second_first}) == 1
    assert jobs.average(5) == best_split(jobs)


def test_one_after_the_other_can_be_best() -> None:
    """C=10, p=(37, 1..9), q=(118, 7..9): side by side sums to 28.185 at best, one after the other to 21.333."""
    jobs = TwoJobs(10, p=LinearJob(37, 1, 9), q=LinearJob(118, 7, 9))
    assert 2 * best_split(jobs) == Fraction(761, 27)
    assert 2 * one_after_the_other(jobs) == Fraction(64, 3)
