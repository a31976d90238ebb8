"""Search: the best plan of tiny windows, against all plans."""

from random import Random

import pytest

from gsopt.core.numbers.tolerances import CONTINUOUS
from heuristics.policies.shockwave.program import Effort
from heuristics.policies.shockwave.search import best_plan
from heuristics.policies.shockwave.window import Window, WindowClaim
from tests.effort import cases
from tests.heuristics.policies.shockwave.drawn import drawn, plans, value


def test_the_plan_is_the_best() -> None:
    """Whatever the price, no plan is worth more; where none gives all what they must get there is none."""
    random = Random(9)
    for _ in range(cases(500)):
        window = drawn(random)
        worths = [worth for plan in plans(window) if (worth := value(window, plan)) is not None]
        found = best_plan(window, Effort())
        assert (found is None) == (not worths)
        if found is not None:
            assert (window.load(found) <= window.gpus).all()
            assert value(window, found) == pytest.approx(max(worths), rel=CONTINUOUS, abs=CONTINUOUS)


def test_within_the_gap() -> None:
    """With a gap a plan gains at most that part less than the best, and leaves no more time to the longest."""
    random = Random(10)
    for _ in range(cases(200)):
        window = drawn(random)
        worths = [worth for plan in plans(window) if (worth := value(window, plan)) is not None]
        found = best_plan(window, Effort(gap=0.3))
        if found is not None:
            worth = value(window, found)
            assert worth is not None
            spare = 0.3 * sum(sum(claim.gains) for claim in window.claims)
            assert worth >= max(worths) - spare - CONTINUOUS


def test_numbers_that_fit_no_rounds_are_given_up() -> None:
    """A job of both GPUs for one round and one of one GPU for two fit by number, not by round."""
    claims = [WindowClaim(2, (1.0, 0.0), left=1.0), WindowClaim(1, (0.75, 0.75), left=1.0)]
    window = Window(gpus=2, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = best_plan(window, Effort())
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(("gap", "gained"), [(0.0, 2.0), (0.04, 2.0), (0.1, 1.9)])
def test_a_packing_is_enough_within_the_gap(gap: float, gained: float) -> None:
    """Where the best numbers do not fit, the next ones that do are taken within the gap, else the best plan."""
    gains = [(2, (0.9, 0.6)), (3, (1.0, 0.8)), (2, (0.5, 0.5)), (3, (1.0, 0.8))]
    claims = [WindowClaim(gpus, worth, left=1.0) for gpus, worth in gains]
    window = Window(gpus=3, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = best_plan(window, Effort(gap=gap))
    assert plan is not None
    assert window.gained(plan.sum(axis=1)) == pytest.approx(gained)


def test_a_shorter_remaining_time_pays_for_less_gain() -> None:
    """A round each leaves 100 s and is worth 1 - 100 / 64; both for the first leave 160 s: 1.625 - 160 / 64."""
    claims = [WindowClaim(1, (0.875, 0.75), left=150.0), WindowClaim(1, (0.125, 0.0), left=160.0)]
    plan = best_plan(Window(gpus=1, rounds=2, length=60.0, claims=claims, price=1 / 64), Effort())
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [1, 1]


def test_what_is_found_later_may_be_worth_less() -> None:
    """Both jobs once gain 1 and leave 30 s; the first one twice gains as much and leaves 90 s to the other."""
    claims = [WindowClaim(1, (0.5, 0.5), left=90.0), WindowClaim(2, (0.5, 0.0), left=90.0)]
    plan = best_plan(Window(gpus=2, rounds=2, length=60.0, claims=claims, price=1 / 256), Effort())
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [1, 1]


def test_the_gap_is_a_part_of_the_gain() -> None:
    """A gap of an eighth leaves less than a sixteenth of 1/2 open, not 5/16 of what 60 s cost."""
    claims = [WindowClaim(1, (1.0, 0.25), left=90.0), WindowClaim(2, (0.25, 0.25), left=180.0)]
    plan = best_plan(Window(gpus=2, rounds=2, length=60.0, claims=claims, price=1 / 32), Effort(gap=0.125))
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [0, 2]


def test_no_jobs() -> None:
    """Without jobs the plan is empty."""
    plan = best_plan(Window(gpus=1, rounds=2, length=60.0, claims=[], price=1.0), Effort())
    assert plan is not None
    assert plan.shape == (0, 2)
