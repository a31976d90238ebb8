"""The bound of areas holds for starts at any time."""

from fractions import Fraction

from formulations.sharing import orders
from formulations.sharing.best import Best
from formulations.sharing.listing import in_turn
from formulations.sharing.root import raise_to_root
from gsopt.core.budget import Budget
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases


def test_no_schedule_is_below() -> None:
    """Neither a start between two events nor one at an event leads below it."""
    drawn = [interfering_jobs(jobs=3, gpus=2, seed=seed, starts="any") for seed in range(cases(15))]
    for problem in [between_events(starts="any"), *drawn]:
        best = Best(problem, Budget(), "areas")
        best.take(in_turn(problem))
        raise_to_root(best)
        proven = orders(problem)
        assert proven.objective is not None
        assert best.bound <= proven.objective
        assert best.bound >= Fraction(sum(problem.durations), len(problem.jobs))
