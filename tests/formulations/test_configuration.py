"""Exact methods for configuration."""

from math import isclose
from typing import Any

import numpy as np
import pytest

from formulations.configuration import exact, milp, table
from formulations.configuration.case import ConfigurationCase, bound_alone, current_configurations
from formulations.configuration.table import LeastCosts
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status
from gsopt.problems.configuration import Configuration, ConfigurationSolution, Shape, shapes
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_formulation
from instances.configuration import growing_jobs
from tests.effort import cases
from tests.exactness import configuration as oracle
from tests.strategies.configuration import committed, job, node, tiny
from tests.unwrap import unwrap


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def _rank(problem: Configuration, solution: ConfigurationSolution) -> Any:
    """Rank equal values: few changes, then the first job's own or first configuration."""
    pairs = list(zip(problem.jobs, problem.places(solution), strict=True))
    changes = sum(place != each.current for each, place in pairs)
    preferred = [
        -1 if place is not None and place == each.current else len(each.goodputs) if place is None else place
        for each, place in pairs
    ]
    return changes, preferred


def test_proves_the_optimum_of_hard_numbers_and_breaks_ties_as_said() -> None:
    """On 500 instances the optimum of the oracle is proven, with the fewest changes, lowest jobs first."""
    messages = set()
    for seed in range(cases(500)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, best), seed
        equal = [
            each
            for each in problem.candidates()
            if not problem.violations(each) and problem.objective(each) == best
        ]
        assert result.solution == min(equal, key=lambda each: _rank(problem, each)), seed
        messages.add(result.message)
    assert messages == {"dynamic programming"}


def test_many_jobs_on_three_types_are_decided_by_the_table() -> None:
    """The cluster of the paper with 160 jobs is decided without a solver."""
    result = exact(growing_jobs(nodes=5, types=3, jobs=160, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "dynamic programming", "")


def test_a_table_that_is_too_large_is_left_to_the_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver proves the same optimum, and why it was asked is said."""
    problem = growing_jobs(nodes=1, jobs=3, seed=3)
    best = exact(problem)
    monkeypatch.setattr(table, "LARGEST_TABLE", 10)
    result = exact(problem)
    assert (result.status, result.objective, result.solver) == (Status.OPTIMAL, best.objective, "highs")
    assert result.message == "integer program; a table of 3 jobs by 5 sets of GPUs is too large"


def test_proves_the_optimum_of_small_instances() -> None:
    """On committed small instances both solvers prove the optimum that enumeration finds."""
    problems = committed()
    assert check_formulation(milp, problems[::8], backends=[Highs()]) == len(problems[::8])
    assert check_formulation(milp, problems[2::8], backends=[CpSat()]) == len(problems[2::8])


def test_agrees_with_the_table_on_three_types() -> None:
    """On a cluster of three types it proves what dynamic programming proves."""
    problem = growing_jobs(nodes=5, types=3, jobs=12, seed=7)
    assert milp(problem).objective == exact(problem).objective


def test_size_is_as_documented() -> None:
    """A column for each configuration of each job and for each job, and a row for each job and type."""
    problem = growing_jobs(nodes=2, types=2, jobs=9, seed=1)
    form = milp.standard_form(problem)
    assert form.matrix.shape == (9 + 2, sum(map(len, problem.costs)) + 9)


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = growing_jobs(nodes=4, jobs=9, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert form.violation(point) == 0
    assert isclose(form.objective(point), float(problem.objective(solution)), rel_tol=SUM)
    named = form.named(point)
    assert milp.extract(named, problem) == solution


def test_the_two_builders_are_equal() -> None:
    """The Pyomo model and the arrays filled directly are the same model, name by name."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        arrays, pyomo = milp.standard_form(problem), StandardForm.from_pyomo(milp.build(problem))
        across = [arrays.columns.index(name) for name in pyomo.columns]
        down = [arrays.rows.index(name) for name in pyomo.rows]
        assert arrays.matrix.shape == pyomo.matrix.shape, seed
        assert np.array_equal(arrays.matrix.toarray()[np.ix_(down, across)], pyomo.matrix.toarray()), seed
        for name in ("cost", "column_lower", "column_upper", "integer"):
            assert np.array_equal(getattr(arrays, name)[across], getattr(pyomo, name)), (seed, name)
        for name in ("row_lower", "row_upper"):
            assert np.array_equal(getattr(arrays, name)[down], getattr(pyomo, name)), (seed, name)
        assert (arrays.offset, arrays.sense) == (pyomo.offset, pyomo.sense)


def filled(problem: Configuration) -> LeastCosts:
    """Fill the table of a problem."""
    return unwrap(LeastCosts.of(ConfigurationCase.of(problem), Budget()))


def test_cells_are_as_coarse_as_all_options_allow() -> None:
    """Where all have multiples of four GPUs a cell is four, and no more are counted than all can use."""
    jobs = [job(name, None, None, 2.0) for name in "ab"]
    found = filled(node(1000, *jobs))
    assert (found.blocks, found.costs.shape) == ((4,), (3, 3))


def test_types_are_axes() -> None:
    """Each type is an axis, also one that nobody uses."""
    listed = [*shapes("a", 1, 2), *shapes("b", 1, 1), *shapes("c", 1, 1)]
    jobs = [job("x", 1.0, 2.0, None, 1.0), job("y", None, 2.0, None, 1.0)]
    problem = Configuration(gpus={"a": 2, "b": 9, "c": 1}, configurations=listed, jobs=jobs)
    found = filled(problem)
    assert found.costs.shape == (3, 3, 1, 2)
    assert [option.place for option in found.choice()] == [1, 3]
    assert found.least == sum(option.cost for option in found.choice())


def test_equal_jobs_are_served_in_their_order() -> None:
    """Of jobs that are alike the first ones have the GPUs."""
    found = filled(node(2, *(job(name, 1.0, None, None) for name in "abc")))
    assert [option.place for option in found.choice()] == [0, 0, None]


def test_a_table_beyond_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many cells raise Unsupported with their number."""
    monkeypatch.setattr(table, "LARGEST_TABLE", 3)
    with pytest.raises(Unsupported, match="a table of 1 jobs by 5 sets of GPUs"):
        filled(node(4, job("a", 1.0, 2.0, 4.0)))


def test_nothing_is_filled_without_time() -> None:
    """With no time there is no table."""
    assert LeastCosts.of(ConfigurationCase.of(node(4, job("a", 1.0, 2.0, 4.0))), Budget(time_limit=0.0)) is None


def test_dearer_options_with_no_fewer_gpus_are_left_out() -> None:
    """Of equal costs both stay; what is dearer than none goes; none stays."""
    found = ConfigurationCase.of(node(4, job("a", 1.0, 1.0, 0.5))).options[0]
    assert [option.place for option in found] == [0, 1, None]


def test_fewer_gpus_of_another_type_rule_nothing_out() -> None:
    """An option is held against those of its own type only."""
    listed = [Shape(type="fast", gpus=1), Shape(type="slow", gpus=2)]
    jobs = [job("a", 4.0, 1.0)]
    problem = Configuration(gpus={"fast": 1, "slow": 2}, configurations=listed, jobs=jobs)
    assert [option.place for option in ConfigurationCase.of(problem).options[0]] == [0, 1, None]


def test_what_is_kept_breaks_no_rule_and_nothing_is_below_the_bound() -> None:
    """On instances with hard numbers the beginning is a solution, and the bound no more than the optimum."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        assert problem.violations(current_configurations(problem)) == [], seed
        assert bound_alone(problem) <= oracle.optimum(problem), seed


def test_pinned_jobs_are_kept_before_others() -> None:
    """Where not all fit that have GPUs, pinned ones keep theirs."""
    first, pinned = job("a", 1.0, 2.0, None, current=1), job("b", 1.0, 2.0, None, current=1, pinned=True)
    assert current_configurations(node(2, first, pinned)).configurations == {"b": 1}


def test_totals_beyond_whole_numbers_are_refused() -> None:
    """Costs and a penalty of so many digits that sums of whole numbers may overflow raise Unsupported."""
    jobs = [job(name, 1.0, 2.0, 3.0) for name in "abcdefghijkl"]
    with pytest.raises(Unsupported, match="too many digits"):
        ConfigurationCase.of(node(16, *jobs, penalty=1.1234567890123457))
