"""Placing again by a method."""

from gsopt.core.method import NoSolution, heuristic
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.placement import Placed, Placement, PlacementSolution
from heuristics.policies.aryl.settling import settle
from tests.heuristics.policies.aryl.books import books, crew, form


@heuristic
def _last_server(problem: Placement) -> PlacementSolution | NoSolution:
    """Put every worker on the last server."""
    name = problem.servers[-1].name
    return PlacementSolution(placed=[Placed(name, n, line.count) for n, line in enumerate(problem.workers)])


@heuristic
def _gives_up(problem: Placement) -> PlacementSolution | NoSolution:
    return NoSolution(f"{len(problem.workers)}")


def test_what_is_new_is_placed_again() -> None:
    """New base and flexible workers go where the method says; what was there before stays."""
    given = books(0, 3)
    old = crew(given, 0, form(given, "inference", 2, 1, (1.0, 2.0, 3.0)), {0: 1}, {1: 1})
    old.gpus = {0: (0, 1), 1: (8, 9)}
    given.put_flexible(old, 1, 1)
    new = crew(given, 1, form(given, "inference", 2, 1), {0: 1})
    problem = settle(given, _last_server, grouping=True)
    assert problem is not None
    assert [(line.job, line.kind, line.count) for line in problem.workers] == [
        ("0", "flexible", 1),
        ("1", "inelastic", 1),
    ]
    assert (old.flexible, new.base) == ({1: 1, 2: 1}, {2: 1})
    assert (given.base.tolist(), given.flexible.tolist()) == ([2, 0, 2], [0, 2, 2])


def test_servers_as_the_decision_knows_them() -> None:
    """Base workers count as used; a machine with flexible workers only is an empty one of its idle GPUs."""
    given = books(1, 2)
    old = crew(given, 0, form(given, "inference", 2, 1, (1.0, 2.0)), {1: 1}, {2: 1})
    old.gpus = {1: (8, 9), 2: (16, 17)}
    crew(given, 1, form(given, "training", 4, 1), {0: 1})
    problem = settle(given, _gives_up, grouping=True)
    assert problem is not None
    assert [(s.pool, s.capacity.gpu, s.used.gpu) for s in problem.servers] == [
        ("training", 8, 0),
        ("inference", 8, 2),
        ("inference", 6, 0),
    ]
    assert problem.minimize == "preferences"


def test_workers_stay_in_their_pool() -> None:
    """No method puts a worker onto a machine that does not suit its job."""
    given = books(1, 1)
    one = crew(given, 0, form(given, "inference", 4, 1), {1: 1})
    exact = find_method("placement", "exact")
    problem = settle(given, exact, grouping=True)
    assert problem is not None
    assert problem.violations(PlacementSolution(placed=[Placed("v0", 0, 1)]))
    assert one.base == {1: 1}  # though an inelastic job would be better placed on the training pool


def test_without_a_solution_workers_stay() -> None:
    """Workers stay where they are if the method finds nothing, and nothing is asked where nothing is new."""
    given = books(2, 0)
    one = crew(given, 0, form(given, "training", 4, 1, (1.0, 2.0)), {1: 1}, {0: 1})
    settle(given, _gives_up, grouping=False)
    assert (one.base, one.flexible, given.idle.tolist()) == ({1: 1}, {0: 1}, [4, 4])
    one.gpus = {1: (8, 9, 10, 11), 0: (0, 1, 2, 3)}
    assert settle(given, _gives_up, grouping=False) is None
