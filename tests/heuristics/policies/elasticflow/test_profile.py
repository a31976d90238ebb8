"""Profile: slots one by one find the same shares."""

from random import Random

import pytest

from heuristics.policies.elasticflow.profile import PlannedShare, Request, SlotProfile
from tests.effort import cases
from tests.heuristics.policies.elasticflow.requests import LENGTH, drawn


def by_slots(left: list[int], request: Request) -> PlannedShare | None:
    """Serve a job slot by slot."""
    for top in request.levels:
        missing, taken = request.work, list[int]()
        for free in left[: request.slots]:
            if missing <= 1e-9 * request.work:
                break
            taken.append(max([level for level in request.levels if level <= min(free, top)], default=0))
            missing -= request.speed(taken[-1]) * LENGTH
        if missing <= 1e-9 * request.work:
            for slot, count in enumerate(taken):
                left[slot] -= count
            return PlannedShare(top, taken[0] if taken else 0, len(taken))
    return None


def test_slots_one_by_one_say_the_same() -> None:
    """Every share, and what is left in every slot, is that of a plan which goes through all slots."""
    for seed in range(cases(200)):
        profile, left = SlotProfile(8, LENGTH), [8] * 60
        for request in drawn(Random(seed)):
            assert profile.serve(request) == by_slots(left, request), seed
        begin, flat = 0, list[int]()
        for end, free in profile.left:
            flat += [free] * (min(end, 60) - begin)
            begin = min(end, 60)
        assert flat == left, seed


def test_work_that_is_done_takes_nothing() -> None:
    """A job without work left needs no slot."""
    profile = SlotProfile(1, LENGTH)
    assert profile.serve(Request(0, 0.0, (1,), (1.0,), 4)) == PlannedShare(1, 0, 0)
    assert [free for _, free in profile.left] == [1]


@pytest.mark.parametrize("slots", [0, -3])
def test_deadlines_that_have_passed_cannot_be_kept(slots: int) -> None:
    """A job whose deadline is in the past gets no share."""
    assert SlotProfile(1, LENGTH).serve(Request(0, 1.0, (1,), (1.0,), slots)) is None


def test_a_level_that_is_not_left_is_made_up_for_later() -> None:
    """A job runs on the GPUs that are left until others are complete, and then on its level."""
    profile = SlotProfile(4, LENGTH)
    assert profile.serve(Request(0, 360.0, (3,), (3.0,), 9)) == PlannedShare(3, 3, 2)
    assert profile.serve(Request(1, 600.0, (1, 4), (1.0, 4.0), 4)) == PlannedShare(4, 1, 4)
    assert [free for _, free in profile.left] == [0, 0, 4]


def test_work_that_is_too_much_by_rounding_is_in_time() -> None:
    """Three slots of work, but for a few roundings of it, are three slots."""
    request = Request(0, work=3 * LENGTH * (1 + 1e-12), levels=(1,), speeds=(1.0,), slots=3)
    assert SlotProfile(1, LENGTH).serve(request) == PlannedShare(1, 1, 3)
