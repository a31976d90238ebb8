"""Which machines are given up."""

from collections.abc import Sequence
from typing import Any

from gsopt.core.method import NoSolution, heuristic
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.simulation.policy import Request
from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.orchestrator import Orchestrator, reclaiming
from tests.heuristics.policies.aryl.books import books, crew, form

_GREEDY = find_method("reclaiming", "greedy")


def _three() -> Books:
    """Return a machine with base workers, one with flexible ones, one with both, and one that is empty."""
    given = books(1, 4)
    crew(given, 0, form(given, "inference", 4, 2, (1.0, 1.5, 2.0, 2.5)), {1: 2}, {2: 1, 3: 1})
    crew(given, 1, form(given, "inference", 4, 1), {3: 1})
    return given


def _request(servers: int, **fields: Any) -> Request:
    return Request(**{"deadline": 9, "servers": servers, "gpus": 0, "among": (), "gpu_type": "T4", **fields})


def test_empty_machines_first() -> None:
    """First go empty machines, then those with flexible workers only, then what the method chooses."""
    told: list[tuple[Reclaiming, Sequence[str]]] = []
    orchestrator = Orchestrator(_GREEDY, on_reclaim=lambda *each: told.append(each))
    for servers, expected in [(1, [4]), (2, [4, 2]), (3, [4, 2, 1]), (9, [4, 2, 1, 3])]:
        assert orchestrator.answer(_three(), _request(servers)) == expected
    assert [(len(problem.servers), problem.demand, tuple(servers)) for problem, servers in told] == [
        (2, 1, ("t0",)),
        (2, 2, ("t0", "t2")),
    ]


def test_flexible_workers_there_are_released() -> None:
    """A job that loses flexible workers keeps the largest allowed number of the others."""
    given = _three()
    given.crews[0].speeds = (1.0, 0.0, 2.0, 2.5)
    Orchestrator(_GREEDY).answer(given, _request(2))
    assert (given.crews[0].extra, given.flexible.tolist()) == (0, [0, 0, 0, 0, 0])


def test_among_and_type() -> None:
    """Only machines that are there, of the type or among the names that are given, are given up."""
    given = _three()
    given.there[4] = 0
    orchestrator = Orchestrator(_GREEDY)
    assert orchestrator.answer(given, _request(1)) == [2]
    assert orchestrator.answer(_three(), _request(1, among=("v0", "t0"), gpu_type="")) == [0]
    assert orchestrator.answer(_three(), _request(1, gpu_type="V100")) == [0]


def test_the_method_may_choose_among_all() -> None:
    """Unless spare machines come first the method sees all candidates."""
    asked: list[int] = []
    orchestrator = Orchestrator(
        _GREEDY, spare_first=False, on_reclaim=lambda problem, _: asked.append(len(problem.servers))
    )
    assert orchestrator.answer(_three(), _request(1)) == [2]
    assert asked == [4]


def test_a_method_without_a_solution_gives_up_nothing() -> None:
    """What the method does not decide is left to the deadline."""

    @heuristic
    def gives_up(problem: Reclaiming) -> ReclaimingSolution | NoSolution:
        return NoSolution(f"{problem.demand}")

    assert Orchestrator(gives_up).answer(_three(), _request(3)) == [4, 2]


def test_the_decision() -> None:
    """The decision knows base and flexible workers on the machines, and how many servers lie elsewhere."""
    given = _three()
    crew(given, 2, form(given, "mixed", 2, 2), {0: 1, 2: 1})
    problem = reclaiming(given, [1, 2, 3], 1)
    assert [(each.name, dict(each.workers), dict(each.flexible)) for each in problem.jobs] == [
        ("0", {"t0": 8}, {"t1": 4, "t2": 4}),
        ("1", {"t2": 4}, {}),
        ("2", {"t1": 2}, {}),
    ]
    assert [each.training_servers for each in problem.jobs] == [0, 0, 1]
