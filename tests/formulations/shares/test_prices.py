"""Bounds by prices, whatever the prices are."""

from fractions import Fraction
from random import Random

from formulations.shares.needs import alone
from formulations.shares.prices import bound, most_yield, worths
from gsopt.core.problem import Sense
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.strategies.shares import alike, tiny


def test_no_prices_are_beaten() -> None:
    """On random instances no shares are better than the bound of prices that are drawn."""
    for seed in range(cases(100)):
        problem, random = tiny(seed), Random(seed)
        fastest = [max(problem.rates[job.name].values()) for job in problem.jobs]
        jobs = [Fraction(random.randint(0, 3)) / rate for rate in fastest]
        gpus = {kind: Fraction(random.randint(0, 9), random.randint(1, 9)) for kind in problem.gpus}
        paid = worths(problem) if problem.criterion == "fifo" else jobs
        best = oracle.optimum(problem)
        least, most = best if isinstance(best, tuple) else (best, best)
        value = most if problem.sense is Sense.MINIMIZE else least
        assert not problem.sense.better(value, bound(problem, paid, gpus, alone(problem))), seed


def test_a_job_takes_its_best_type_or_none() -> None:
    """What is left of a job's time at prices is what it earns on its best type, and never below 0."""
    problem = alike({}, {"gpus": 2}, gpus=2)
    assert most_yield(problem, [1, 1], {"v100": 0}) == 2
    assert most_yield(problem, [1, 1], {"v100": Fraction(1, 2)}) == 1 + Fraction(1, 2)
    assert most_yield(problem, [1, 1], {"v100": 5}) == 10


def test_steps_are_worth_what_they_cost() -> None:
    """A job without a price has the one of its GPUs, which is what makes the bound the water level."""
    assert bound(alike({}, {}, {}, gpus=2), [0, 0, 0], {"v100": 1}, 1) == Fraction(2, 3)
