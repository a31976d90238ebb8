"""Program: the order of rounds and the most gain, against all plans."""

from random import Random

import numpy as np
import pytest

from gsopt.simulation.deciders.windows.program import Effort, Program
from gsopt.simulation.deciders.windows.window import Claim, Window
from gsopt.tolerances import CONTINUOUS
from tests.effort import cases
from tests.gsopt.simulation.deciders.windows.drawn import drawn, lateness, plans


def test_the_order_is_the_best() -> None:
    """No plan with the same numbers of rounds has a lower weighted sum of mean places."""
    random = Random(7)
    for _ in range(cases(120)):
        window = drawn(random)
        every = list(plans(window))
        plan = random.choice(every)
        found = Program(window, Effort()).first(plan)
        alike = [other for other in every if (other.sum(axis=1) == plan.sum(axis=1)).all()]
        best = min(lateness(window, other) for other in alike)
        assert found.sum(axis=1).tolist() == plan.sum(axis=1).tolist()
        assert (window.load(found) <= window.gpus).all()
        assert lateness(window, found) == pytest.approx(best, rel=CONTINUOUS, abs=CONTINUOUS)


def test_the_most_gain_is_the_most() -> None:
    """No plan with the fewest rounds of all jobs gains more, and where there is none nothing is found."""
    random = Random(8)
    for _ in range(cases(80)):
        window = drawn(random)
        least = np.array([claim.least for claim in window.claims])
        gains = [window.gained(n) for plan in plans(window) if ((n := plan.sum(axis=1)) >= least).all()]
        plan = None if (least > window.rounds).any() else Program(window, Effort()).most(least)
        assert (plan is None) == (not gains)
        if plan is not None:
            assert window.gained(plan.sum(axis=1)) == pytest.approx(max(gains), rel=CONTINUOUS, abs=CONTINUOUS)


def test_without_time_the_plan_is_the_start() -> None:
    """A solve that has no time leaves the numbers of rounds as they are, the heaviest rounds first."""
    claims = [Claim(1, (0.0,) * 3, left=9.0, weight=weight) for weight in (1.0, 5.0)]
    window = Window(gpus=1, rounds=3, length=60.0, claims=claims, price=0.0)
    plan = np.array([[True, False, True], [False, True, False]])
    assert Program(window, Effort(limit=0.0)).first(plan).tolist() == [
        [False, True, True],
        [True, False, False],
    ]
