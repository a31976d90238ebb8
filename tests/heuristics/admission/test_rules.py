"""Every rule finds legal solutions, in time, and the same ones in whatever order the gangs are listed."""

from random import Random

import pytest

import heuristics.admission
from gsopt.core.method import Method
from gsopt.core.numbers.grid import exact_total
from gsopt.problems.admission import Admission, Gang, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster
from tests.effort import cases
from tests.heuristics.admission.drawn import draw
from tests.heuristics.results import solved, value

RULES = [
    getattr(heuristics.admission, name) for name in heuristics.admission.__all__ if name != "cheapest_first"
]


def _part(gpus: int, count: int = 1) -> list[Part]:
    return [Part(count=count, needs=Resources(gpu=gpus))]


@pytest.mark.parametrize("rule", RULES)
def test_solutions_are_legal_and_cost_at_most_all_evictions(rule: Method) -> None:
    """The judge accepts all solutions, and none costs more than evicting whoever may be evicted."""
    found = 0
    for seed in range(cases(300, least=100)):
        problem = draw(Random(seed))
        result = rule(problem)
        if result.solution is None:
            continue
        found += 1
        evictable = [gang for gang in problem.running if problem.evictable(gang)]
        moves = [gang.move_cost or 0 for gang in problem.running if gang.name in result.solution.moved]
        assert value(result) <= exact_total([*(gang.cost for gang in evictable), *moves]), seed
    assert found > cases(50, least=15)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_gangs_matters_only_if_they_are_alike(rule: Method) -> None:
    """With priorities that differ, the order in which running gangs are listed changes nothing."""
    for seed in range(cases(150, least=50)):
        problem = draw(Random(seed))
        unlike = [
            gang.model_copy(update={"priority": 10 * gang.priority + number - 50, "cost": gang.cost + number})
            for number, gang in enumerate(problem.running)
        ]
        problem = Admission.model_validate({**dict(problem), "running": unlike})
        shuffled = Random(seed).sample(unlike, len(unlike))
        other = Admission.model_validate({**dict(problem), "running": shuffled})
        first, second = rule(problem).solution, rule(other).solution
        if first is None or second is None:
            assert first is second, seed
        else:
            assert set(first.evicted) == set(second.evicted), seed
            assert (first.moved, first.placed) == (second.moved, second.placed), seed


@pytest.mark.parametrize("rule", RULES)
def test_nobody_stops_for_a_gang_that_fits(rule: Method) -> None:
    """A pending gang for which there is room is placed in the group with the least room to spare."""
    problem = Admission(
        cluster=Cluster.uniform(racks=2, machines=2, gpus=8),
        running=[Running(name="a", parts=_part(8), on=[{"machine 1.0": 1}])],
        pending=[Gang(name="p", parts=_part(8), within="rack", priority=1)],
    )
    solution = solved(rule(problem))
    assert (solution.evicted, solution.placed) == ((), {"p": ({"machine 1.1": 1},)})


@pytest.mark.parametrize("rule", RULES)
def test_what_is_impossible_is_proven_to_be(rule: Method) -> None:
    """A gang that does not even fit into the empty cluster is an obstacle, and the message says why."""
    problem = Admission(
        cluster=Cluster.uniform(machines=1, gpus=8),
        running=[],
        pending=[Gang(name="p", parts=_part(8, count=2))],
    )
    result = rule(problem)
    assert result.status.name == "INFEASIBLE"
    assert "'p' needs 2 workers" in result.message


@pytest.mark.parametrize("rule", RULES)
def test_the_deadline_holds(rule: Method) -> None:
    """Without time, a rule returns nothing, or what it found without looking."""
    running = [Running(name=f"g{each}", parts=_part(8), on=[{f"machine 0.{each}": 1}]) for each in range(50)]
    problem = Admission(
        cluster=Cluster.uniform(machines=50, gpus=8),
        running=running,
        pending=[Gang(name="p", parts=_part(8, count=10), priority=1)],
    )
    result = rule(problem, time_limit=0)
    assert result.solution is None
    assert "time limit" in result.message


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.__name__ != "kai_consolidate"])
def test_pending_gangs_come_by_priority(rule: Method) -> None:
    """The most important pending gang gets the only free machine; victims are less important than all."""
    problem = Admission(
        cluster=Cluster.uniform(machines=2, gpus=8),
        running=[Running(name="a", parts=_part(8), on=[{"machine 0.1": 1}])],
        pending=[
            Gang(name="low", parts=_part(8), priority=1),
            Gang(name="high", parts=_part(8), priority=2),
        ],
    )
    solution = solved(rule(problem))
    assert solution.evicted == ("a",)
    assert solution.placed == {"high": ({"machine 0.0": 1},), "low": ({"machine 0.1": 1},)}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.__name__ != "kai_consolidate"])
def test_gangs_stop_as_a_whole(rule: Method) -> None:
    """A gang of which one worker is in the way stops on all machines, so that two workers fit."""
    problem = Admission(
        cluster=Cluster.uniform(machines=2, gpus=8),
        running=[Running(name="a", parts=_part(8, count=2), on=[{"machine 0.0": 1, "machine 0.1": 1}])],
        pending=[Gang(name="p", parts=_part(8, count=2), priority=1)],
    )
    assert solved(rule(problem)).evicted == ("a",)
