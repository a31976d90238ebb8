"""The knapsack of counts."""

import pytest

from formulations.goodput import counting
from formulations.goodput.beginning import mean
from formulations.goodput.case import Case
from formulations.goodput.counting import Counting
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.testing import brute_force
from instances.goodput import running_jobs
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import tiny


def test_the_bound_holds_and_the_optimum_is_left() -> None:
    """No optimum is below the least cost, and its options, or as good ones, are not ruled out by its value."""
    ruled_out = 0
    for seed in range(cases(200)):
        problem = tiny(seed)
        case = Case.of(problem)
        found, best = Counting.of(case), brute_force(problem)
        assert best is not None
        assert mean(case, found.least) <= oracle.optimum(problem), seed
        alive = found.alive(float(best[0]) * len(problem.jobs), Budget())
        for place, vector in enumerate(problem.vectors(best[1])):
            kept = vector == problem.currents[place]
            cost = problem.cost(place, sum(map(bool, vector)), sum(vector), restarts=not kept)
            assert any(option.cost <= cost * (1 + case.error) for option in alive[place]), seed
        ruled_out += sum(map(len, case.options)) - sum(map(len, alive))
    assert ruled_out > 0


def test_the_choice_costs_the_least() -> None:
    """The options that are chosen cost together what the knapsack says, on no more GPUs than there are."""
    problem = running_jobs(nodes=4, jobs=9, seed=3)
    found = Counting.of(Case.of(problem))
    choice = found.choice()
    assert sum(option.cost for option in choice) == pytest.approx(found.least)
    assert sum(option.gpus for option in choice) <= problem.total


def test_without_time_nothing_is_ruled_out() -> None:
    """A budget that has passed leaves all options."""
    case = Case.of(running_jobs(nodes=4, jobs=9, seed=3))
    assert Counting.of(case).alive(0.0, Budget(time_limit=0.0)) == list(case.options)


def test_tables_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More cells than memory holds are said to be too many."""
    monkeypatch.setattr(counting, "LARGEST_TABLE", 10)
    with pytest.raises(Unsupported, match="a table of 9 jobs by 16 GPUs is too large"):
        Counting.of(Case.of(running_jobs(nodes=4, jobs=9, seed=3)))
