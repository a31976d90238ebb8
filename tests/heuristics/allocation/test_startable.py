"""What every heuristic does when the queued jobs cannot all start."""

from gsopt.result import Status
from gsopt.study import heuristics, load


def test_every_heuristic_names_the_first_job_that_cannot_start() -> None:
    """Every heuristic of the decision reports infeasible, and the first job that cannot start."""
    problem = load("allocation/small/cannot-start")
    for method in heuristics("allocation").values():
        result = method(problem)
        assert (result.status, result.solution) == (Status.INFEASIBLE, None)
        assert result.message == "queued job 'third' needs 3 GPUs to start, 2 are left"


def test_the_name_of_the_function_is_kept() -> None:
    """A method carries the name of the function it was made of."""
    assert all(name == method.__name__ for name, method in heuristics("allocation").items())
