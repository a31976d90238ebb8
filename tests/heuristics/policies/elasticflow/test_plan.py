"""Plan: who is served first, and to whom the GPUs go that are left over."""

from heuristics.policies.elasticflow.plan import by_deadline, keeps_all, shares, with_spare
from heuristics.policies.elasticflow.profile import PlannedShare, Request

LINEAR, FLAT = (1.0, 2.0, 4.0), (1.0, 1.2, 1.3)


def test_by_deadline_and_number() -> None:
    """The earliest deadline first, jobs without one last, and of equals the lower number."""
    requests = [Request(n, 1.0, (1,), (1.0,), slots) for n, slots in enumerate([None, 3, 1, 3])]
    assert [request.number for request in by_deadline(requests)] == [2, 1, 3, 0]
    assert [request.number for request in by_deadline(requests[::-1])] == [2, 1, 3, 0]


def test_a_late_job_takes_nothing_from_the_others() -> None:
    """What cannot be complete in time gets no share, and those behind it get theirs."""
    requests = [Request(0, 900.0, (1,), (1.0,), 2), Request(1, 60.0, (1,), (1.0,), 4)]
    assert shares(requests, 1, 60.0) == {1: PlannedShare(1, 1, 1)}
    assert not keeps_all(requests, 1, 60.0)


def test_levels_are_not_lowered_where_that_makes_others_late() -> None:
    """A job that is ahead could do with less for longer, but then another would have no room."""
    ahead = Request(0, 180.0, (1, 2), (1.0, 1.5), 3)
    wide = Request(1, 60.0, (2,), (1.0,), 3)
    assert shares([ahead, wide], 2, 60.0) == {0: PlannedShare(1, 1, 3)}
    assert shares([ahead, wide], 2, 60.0, {0: PlannedShare(2, 2, 9), 1: PlannedShare(2, 0, 9)}) == {
        0: PlannedShare(2, 2, 2),
        1: PlannedShare(2, 0, 3),
    }


def test_levels_are_lowered_where_that_makes_nobody_late() -> None:
    """Beside a job that is late in any case the other one has its least level, whatever it had before."""
    ahead = Request(0, 180.0, (1, 2), (1.0, 1.5), 3)
    lost = Request(1, 9000.0, (2,), (1.0,), 3)
    assert shares([ahead, lost], 2, 60.0, {0: PlannedShare(2, 2, 9)}) == {0: PlannedShare(1, 1, 3)}


def test_whoever_has_nothing_comes_first() -> None:
    """A job that would begin later gets its lowest level before another grows."""
    requests = [Request(0, 600.0, (1, 2, 4), LINEAR, 9), Request(1, 600.0, (1, 2, 4), FLAT, 20)]
    assert with_spare(requests, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 0, 20)}, 2) == {0: 1, 1: 1}


def test_linear_jobs_grow_before_flat_ones() -> None:
    """GPUs that are left over go where they cost the least GPU time, past steps that do not fit."""
    requests = [Request(0, 600.0, (1, 2, 4), FLAT, 9), Request(1, 600.0, (1, 2, 4), LINEAR, 20)]
    planned = {0: PlannedShare(1, 1, 9), 1: PlannedShare(1, 1, 20)}
    assert [with_spare(requests, planned, gpus) for gpus in (3, 4, 5, 6)] == [
        {0: 1, 1: 2},
        {0: 2, 1: 2},
        {0: 1, 1: 4},
        {0: 2, 1: 4},
    ]


def test_a_job_without_a_share_saves_at_its_lowest_level() -> None:
    """One of half the gain on one GPU, though of two thirds on two, comes after one of three fifths."""
    requests = [Request(0, 600.0, (1, 2), (1.0, 1.5), None), Request(1, 600.0, (1, 2), (1.0, 1.6), 20)]
    assert with_spare(requests, {1: PlannedShare(1, 1, 10)}, 3) == {0: 1, 1: 2}


def test_gains_count_for_each_gpu() -> None:
    """A step of two GPUs that gains more for each comes before one of one GPU, which costs less in all."""
    requests = [Request(0, 600.0, (1, 2), (1.0, 1.5), 20), Request(1, 600.0, (1, 3), (1.0, 2.2), 20)]
    assert with_spare(requests, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 1, 10)}, 4) == {0: 1, 1: 3}


def test_later_work_is_saved_at_the_level_of_the_share() -> None:
    """The smaller gain wins where each second that is saved later is one on two GPUs at poor speed."""
    requests = [
        Request(0, 600.0, (1, 2), (1.0, 1.9), 20),
        Request(1, 600.0, (1, 2, 3), (1.0, 1.5, 2.2), 20),
    ]
    planned = {0: PlannedShare(1, 1, 10), 1: PlannedShare(2, 2, 7)}
    assert with_spare(requests, planned, 4) == {0: 1, 1: 3}


def test_linear_jobs_tie() -> None:
    """Of jobs that are as many times faster as they have GPUs the first one grows, whatever the rounding."""
    whole, thirds = (1.0, 2.0, 3.0), (1 / 3, 2 / 3, 3 / 3)
    requests = [Request(n, 600.0, (1, 2, 3), speeds, 60) for n, speeds in enumerate([whole, thirds])]
    assert with_spare(requests, {0: PlannedShare(2, 2, 5), 1: PlannedShare(2, 2, 15)}, 5) == {0: 3, 1: 2}
