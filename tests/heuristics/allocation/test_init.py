"""The heuristics of the package, all of them."""

from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics, load


def test_the_packages_methods() -> None:
    """The decision offers these heuristics, each by the name of its function."""
    found = heuristics("allocation")
    assert list(found) == ["highest_density", "marginal_greedy", "two_phase"]
    assert all(name == method.__name__ for name, method in found.items())


def test_every_heuristic_names_the_first_job_that_cannot_start() -> None:
    """Where the queued jobs cannot all start every heuristic reports infeasible and the first such job."""
    problem = load("allocation/small/cannot-start")
    for method in heuristics("allocation").values():
        result = method(problem)
        assert (result.status, result.solution) == (Status.INFEASIBLE, None)
        assert result.message == "queued job 'third' needs 3 GPUs to start, 2 are left"
