"""Methods."""

import pytest

from gsopt.errors import InvalidSolution
from gsopt.method import accepts, heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Status
from tests.gsopt.problems.test_reclaiming import figure_5


@heuristic
def first_servers(problem: Reclaiming, *, skip: int = 0) -> ReclaimingSolution:
    """Return the first servers of the list."""
    names = [server.name for server in problem.servers]
    return ReclaimingSolution(servers=names[skip : skip + problem.demand])


def test_function_becomes_a_judged_method() -> None:
    """A plain function gains timing and judging and keeps its name, options and documentation."""
    result = first_servers(figure_5(2), skip=1)
    assert (result.method, result.status, result.objective) == ("first_servers", Status.FEASIBLE, 2)
    assert result.runtime >= 0
    assert first_servers.__doc__ == "Return the first servers of the list."


def test_broken_heuristic_is_an_error() -> None:
    """A heuristic that returns too few servers is stopped by the judge."""
    with pytest.raises(InvalidSolution):
        first_servers(figure_5(2), skip=5)


def test_options_are_known_by_name() -> None:
    """A method says which keyword options it takes."""
    assert accepts(first_servers, "skip")
    assert not accepts(first_servers, "seed")
