"""Plan: who is served first, and to whom the GPUs go that are left over."""

from heuristics.policies.elasticflow.plan import by_deadline, keeps_all, shares, with_spare
from heuristics.policies.elasticflow.profile import PlannedShare
from heuristics.policies.elasticflow.wish import Wish

LINEAR, FLAT = (1.0, 2.0, 4.0), (1.0, 1.2, 1.3)


def test_by_deadline_and_number() -> None:
    """The earliest deadline first, jobs without one last, and of equals the lower number."""
    wishes = [Wish(n, 1.0, (1,), (1.0,), slots) for n, slots in enumerate([None, 3, 1, 3])]
    assert [wish.number for wish in by_deadline(wishes)] == [2, 1, 3, 0]
    assert [wish.number for wish in by_deadline(wishes[::-1])] == [2, 1, 3, 0]


def test_a_late_job_takes_nothing_from_the_others() -> None:
    """What cannot be complete in time gets no share, and those behind it get theirs."""
    wishes = [Wish(0, 900.0, (1,), (1.0,), 2), Wish(1, 60.0, (1,), (1.0,), 4)]
    assert shares(wishes, 1, 60.0) == {1: PlannedShare(1, 1, 1)}
    assert not keeps_all(wishes, 1, 60.0)


def test_levels_are_not_lowered_where_that_makes_others_late() -> None:
    """A job that is ahead could do with less for longer, but then another would have no room."""
    ahead = Wish(0, 180.0, (1, 2), (1.0, 1.5), 3)
    wide = Wish(1, 60.0, (2,), (1.0,), 3)
    assert shares([ahead, wide], 2, 60.0) == {0: PlannedShare(1, 1, 3)}
    assert shares([ahead, wide], 2, 60.0, {0: PlannedShare(2, 2, 9), 1: PlannedShare(2, 0, 9)}) == {
        0: PlannedShare(2, 2, 2),
        1: PlannedShare(2, 0, 3),
    }


def test_levels_are_lowered_where_that_makes_nobody_late() -> None:
    """Beside a job that is late in any case the other one has its least level, whatever it had before."""
    ahead = Wish(0, 180.0, (1, 2), (1.0, 1.5), 3)
    lost = Wish(1, 9000.0, (2,), (1.0,), 3)
    assert shares([ahead, lost], 2, 60.0, {0: PlannedShare(2, 2, 9)}) == {0: PlannedShare(1, 1, 3)}


def test_whoever_has_nothing_comes_first() -> None:
    """A job that would begin later gets its lowest level before another grows."""
    wishes = [Wish(0, 600.0, (1, 2, 4), LINEAR, 9), Wish(1, 600.0, (1, 2, 4), FLAT, 20)]
    assert with_spare(wishes, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 0, 20)}, 2) == {0: 1, 1: 1}


def test_linear_jobs_grow_before_flat_ones() -> None:
    """GPUs that are left over go where they cost the least GPU time, past steps that do not fit."""
    wishes = [Wish(0, 600.0, (1, 2, 4), FLAT, 9), Wish(1, 600.0, (1, 2, 4), LINEAR, 20)]
    planned = {0: PlannedShare(1, 1, 9), 1: PlannedShare(1, 1, 20)}
    assert [with_spare(wishes, planned, gpus) for gpus in (3, 4, 5, 6)] == [
        {0: 1, 1: 2},
        {0: 2, 1: 2},
        {0: 1, 1: 4},
        {0: 2, 1: 4},
    ]


def test_a_job_without_a_share_saves_at_its_lowest_level() -> None:
    """One of half the gain on one GPU, though of two thirds on two, comes after one of three fifths."""
    wishes = [Wish(0, 600.0, (1, 2), (1.0, 1.5), None), Wish(1, 600.0, (1, 2), (1.0, 1.6), 20)]
    assert with_spare(wishes, {1: PlannedShare(1, 1, 10)}, 3) == {0: 1, 1: 2}


def test_gains_count_for_each_gpu() -> None:
    """A step of two GPUs that gains more for each comes before one of one GPU, which costs less in all."""
    wishes = [Wish(0, 600.0, (1, 2), (1.0, 1.5), 20), Wish(1, 600.0, (1, 3), (1.0, 2.2), 20)]
    assert with_spare(wishes, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 1, 10)}, 4) == {0: 1, 1: 3}


def test_later_work_is_saved_at_the_level_of_the_share() -> None:
    """The smaller gain wins where each second that is saved later is one on two GPUs at poor speed."""
    wishes = [
        Wish(0, 600.0, (1, 2), (1.0, 1.9), 20),
        Wish(1, 600.0, (1, 2, 3), (1.0, 1.5, 2.2), 20),
    ]
    planned = {0: PlannedShare(1, 1, 10), 1: PlannedShare(2, 2, 7)}
    assert with_spare(wishes, planned, 4) == {0: 1, 1: 3}


def test_linear_jobs_tie() -> None:
    """Of jobs that are as many times faster as they have GPUs the first one grows, whatever the rounding."""
    whole, thirds = (1.0, 2.0, 3.0), (1 / 3, 2 / 3, 3 / 3)
    wishes = [Wish(n, 600.0, (1, 2, 3), speeds, 60) for n, speeds in enumerate([whole, thirds])]
    assert with_spare(wishes, {0: PlannedShare(2, 2, 5), 1: PlannedShare(2, 2, 15)}, 5) == {0: 3, 1: 2}
