"""Cost tables of problems, against the judge."""

from random import Random

import pytest
from numpy.random import default_rng

from gsopt.performance.batching import BatchingJob, Progress, StepTime
from gsopt.problems.batching import Batches, Batching
from gsopt.testing import brute_force
from heuristics.batching.evolution.offers import Offers
from tests.effort import cases
from tests.exactness import batching

MODEL = StepTime(fixed=0.05, per_sample=0.001)


def job(name: str = "a", **fields: object) -> BatchingJob:
    """Return a job of up to two GPUs."""
    given = {"batch_limit": 512, "local_limit": 256, "throughput": MODEL, "remaining": 1000.0} | fields
    return BatchingJob.model_validate({"name": name} | given)


def test_costs_are_those_of_the_judge() -> None:
    """On any problem a solution costs what the table adds up, and the optimum is within the table."""
    compared = 0
    for seed in range(cases(40)):
        problem = batching.draw(Random(seed))
        offers = Offers.of(problem)
        sign = -1 if problem.criterion == "rate" else 1
        best = brute_force(problem)
        costs = offers.table.used_cost
        for chosen in ({}, *([] if best is None else [best[1]])):
            solution = chosen if isinstance(chosen, Batches) else Batches(running={})
            gpus = {name: grant.gpus for name, grant in solution.running.items()}
            total = sum(costs[place, gpus.get(name, 0)] for place, name in enumerate(offers.table.names))
            own = offers.solution(gpus)
            assert total == pytest.approx(sign * float(problem.objective(own)), rel=1e-12)
            if best is not None and solution is best[1]:
                assert problem.violations(own) == []
                assert problem.objective(own) == best[0]
            compared += 1
    assert compared > cases(40)


def test_a_job_keeps_its_batch_where_a_change_is_not_worth_it() -> None:
    """A batch of 500 on two GPUs is kept if 512 samples save less than the change costs."""
    before = job(previous_gpus=2, previous_batch=500)
    sizes = [
        Offers.of(Batching(gpus=2, jobs=[before], reconfiguration=cost)).batch_sizes[0][2]
        for cost in (0.0, 9.0)
    ]

    assert sizes == [512, 500]


def test_what_is_left_is_drawn() -> None:
    """Draws have the mean of the distribution; known samples stay, and so does everything without a draw."""
    believed = job("b", remaining=None, progress=Progress(alpha=5, beta=8, processed=1000))
    problem = Batching(gpus=2, jobs=[job(), believed])
    draw = Offers.of(problem, is_drawn=True).table.draw
    generator = default_rng(0)

    assert draw is not None
    weights = [draw(generator) for _ in range(3000)]
    assert {float(each[0]) for each in weights} == {1000.0}
    assert sum(float(each[1]) for each in weights) / 3000 == pytest.approx(2000, rel=0.05)
    assert Offers.of(problem).table.draw is None
    assert Offers.of(Batching(gpus=2, jobs=[job()]), is_drawn=True).table.draw is None


def test_rates_are_drawn_as_rates() -> None:
    """Where completions per second count, weights are one over the samples left."""
    believed = job(remaining=None, progress=Progress(alpha=5, beta=8, processed=1000))
    time, rate = (
        Offers.of(Batching(gpus=2, jobs=[believed], criterion=criterion), is_drawn=True).table.draw
        for criterion in ("sum_time", "rate")
    )

    assert time is not None
    assert rate is not None
    assert 1 / time(default_rng(3)) == pytest.approx(rate(default_rng(3)))
