"""Program: the order of rounds and the most gain, against all plans."""

from random import Random

import numpy as np
import pytest

from gsopt.core.numbers.tolerances import CONTINUOUS
from heuristics.policies.shockwave.program import Effort, RoundProgram
from heuristics.policies.shockwave.window import Window, WindowClaim
from tests.effort import cases
from tests.heuristics.policies.shockwave.drawn import drawn, lateness, plans


def test_the_order_is_the_best() -> None:
    """No plan with the same numbers of rounds has a lower weighted sum of mean places."""
    random = Random(7)
    for _ in range(cases(120)):
        window = drawn(random)
        every = list(plans(window))
        plan = random.choice(every)
        found = RoundProgram(window, Effort()).first(plan)
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
        plan = None if (least > window.rounds).any() else RoundProgram(window, Effort()).most(least)
        assert (plan is None) == (not gains)
        if plan is not None:
            assert window.gained(plan.sum(axis=1)) == pytest.approx(max(gains), rel=CONTINUOUS, abs=CONTINUOUS)


def test_jobs_change_places() -> None:
    """The two heaviest of three jobs come first, whoever shared their rounds."""
    claims = [WindowClaim(1, (0.0, 0.0), left=9.0, weight=weight) for weight in (1.0, 2.0, 3.0)]
    window = Window(gpus=2, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = np.array([[False, True], [True, False], [False, True]])
    assert RoundProgram(window, Effort()).first(plan).astype(int).tolist() == [[0, 1], [1, 0], [1, 0]]


def test_without_time_the_most_is_the_start() -> None:
    """A solve that has no time ends with the plan that it was given, and finds none without."""
    claims = [WindowClaim(gpus, (1.0, 0.5), left=9.0) for gpus in (1, 2, 2)]
    program = RoundProgram(Window(gpus=3, rounds=2, length=60.0, claims=claims, price=0.0), Effort(limit=0.0))
    start = np.array([[True, False], [False, False], [False, False]])
    found = program.most(np.array([1, 0, 0]), start)
    assert found is not None
    assert found.tolist() == start.tolist()
    assert program.most(np.array([1, 0, 0])) is None


def test_gains_may_be_tiny() -> None:
    """Gains of a trillionth are told apart, though solvers take them for none."""
    claims = [WindowClaim(1, (gain, gain), left=9.0) for gain in (1e-12, 2e-12, 3e-12)]
    window = Window(gpus=1, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = RoundProgram(window, Effort()).most(np.zeros(3, dtype=np.int64))
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [0, 0, 2]


def test_without_time_the_plan_is_the_start() -> None:
    """A solve that has no time leaves the numbers of rounds as they are, the heaviest rounds first."""
    claims = [WindowClaim(1, (0.0,) * 3, left=9.0, weight=weight) for weight in (1.0, 5.0)]
    window = Window(gpus=1, rounds=3, length=60.0, claims=claims, price=0.0)
    plan = np.array([[True, False, True], [False, True, False]])
    assert RoundProgram(window, Effort(limit=0.0)).first(plan).tolist() == [
        [False, True, True],
        [True, False, False],
    ]
