"""Dynamic programming over the GPUs of each type."""

import pytest

from formulations.configuration import table
from formulations.configuration.case import Case
from formulations.configuration.table import LeastCosts
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.problems.configuration import Configuration, shapes
from tests.strategies.configuration import job, node


def filled(problem: Configuration) -> LeastCosts:
    """Fill the table of a problem."""
    found = LeastCosts.of(Case.of(problem), Budget())
    assert found is not None
    return found


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
    assert LeastCosts.of(Case.of(node(4, job("a", 1.0, 2.0, 4.0))), Budget(time_limit=0.0)) is None
