"""What an optimum may choose, and the optimum among that."""

from itertools import accumulate

import pytest

from formulations.batching.case import Case
from formulations.batching.proof import Tables, settle
from gsopt.core.budget import Budget
from gsopt.core.enumeration import brute_force
from gsopt.performance.batching.split import least_costs
from gsopt.problems.batching import Batching
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.strategies.batching import CRITERIA, tiny


def tables(problem: Batching) -> Tables:
    """Fill both tables of a problem."""
    case = Case.of(problem)
    return Tables(case, least_costs(case.costs, case.gpus), least_costs(case.costs[::-1], case.gpus))


def test_the_optimum_is_among_the_choices() -> None:
    """On tiny instances every number of GPUs that some optimum has is a choice in its place."""
    checked = 0
    for seed in range(cases(200)):
        problem = tiny(8000 + seed)
        if sum(len(counts) for counts in problem.counts) > 5:
            continue
        best = brute_force(problem)
        assert best is not None
        given, counts = tables(problem), Case.of(problem).counts(best[1])
        for place, used in enumerate(accumulate(counts, initial=0)):
            assert place == len(counts) or (used, counts[place]) in set(given.choices(place)), seed
        checked += 1
    assert checked > cases(200) / 4


def test_choices_are_few() -> None:
    """With numbers of three digits drawn for 60 jobs the optimum is the only path, by every criterion."""
    for criterion in CRITERIA:
        given = tables(elastic_jobs(gpus=64, jobs=60, criterion=criterion, seed=3))
        assert all(len(list(given.choices(place))) == 1 for place in range(60))


def test_numbers_that_are_too_long_leave_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a common unit has too many digits nothing is proven, and without time neither."""
    problem = elastic_jobs(gpus=9, jobs=6, criterion="rate", seed=1)
    twins = [job.model_copy(update={"name": f"{job.name}{k}"}) for job in problem.jobs for k in range(2)]
    given = tables(problem.model_copy(update={"jobs": tuple(twins), "gpus": 14}))
    assert settle(given, Budget()) is not None
    assert settle(given, Budget(time_limit=0.0)) is None
    monkeypatch.setattr("formulations.batching.proof._LONGEST", 3)
    assert settle(given, Budget()) is None
