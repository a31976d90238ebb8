"""The reduction: what is put together, the moves, the bound, and the way back."""

import numpy as np
from hypothesis import given, settings

from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing, Patterns
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placed, Placement, PlacementSolution, Resources, Server, Workers
from gsopt.solvers.backends import Highs
from gsopt.testing import brute_force
from instances.placement import elastic, vectors
from tests.strategies.placement import committed, placements


def test_servers_and_workers_that_are_alike_are_one() -> None:
    """A thousand servers in two lines are two kinds, and lines with the same demand one demand."""
    problem = vectors(types=3, workers=30)
    doubled = Placement(**{**dict(problem), "workers": (*problem.workers, *problem.workers)})
    packing = Packing.of(doubled)

    assert packing.limits.tolist() == [443, 520]
    assert packing.demands.shape == (3, 3)
    assert packing.totals.tolist() == [2 * line.count for line in problem.workers]


def test_amounts_are_divided_by_what_divides_every_demand() -> None:
    """Demands of 400 and 600 against 1,300 free become 2 and 3 against 6; what nobody needs is left out."""
    problem = Placement(
        servers=(Server(name="s", capacity=Resources(gpu=1300, memory=7)),),
        workers=tuple(Workers(job=str(gpu), demand=Resources(gpu=gpu)) for gpu in (400, 600)),
    )
    packing = Packing.of(problem)

    assert packing.demands.tolist() == [[2], [3]]
    assert packing.rooms.tolist() == [[6]]


def test_servers_without_room_are_left_out() -> None:
    """A server on which no worker fits is no kind, but counts when it is in use."""
    full = Server(name="full", count=3, capacity=Resources(gpu=8), used=Resources(gpu=8))
    problem = Placement(
        servers=(full, Server(name="s", capacity=Resources(gpu=8))),
        workers=(Workers(job="a", demand=Resources(gpu=1)),),
    )
    packing = Packing.of(problem)

    assert [kind.names for kind in packing.kinds] == [("s",)]
    assert packing.offset == 3


def test_zones_follow_the_problem() -> None:
    """One zone for servers alone, two for whole jobs, three for preferences with flexible workers."""
    problem = elastic(jobs=20)
    alone = Placement(**{**dict(problem), "minimize": "servers", "split_jobs": True})
    whole = Placement(**{**dict(problem), "minimize": "servers"})

    assert [len(Packing.of(p).zones) for p in (alone, whole, problem)] == [1, 2, 3]


def test_whole_jobs_of_one_profile_are_one_unit() -> None:
    """Jobs with the same workers move as copies of one unit; split jobs move worker by worker."""
    need = Resources(gpu=2)
    lines = tuple(Workers(job=f"j{k}", count=3, demand=need, kind="base") for k in range(4))
    servers = (Server(name="t", count=9, capacity=Resources(gpu=8)),)
    whole = Packing.of(Placement(servers=servers, workers=lines, minimize="preferences", split_jobs=False))
    split = Packing.of(Placement(servers=servers, workers=lines, minimize="preferences"))

    assert [unit.number for unit in whole.units] == [4]
    assert [unit.number for unit in split.units] == [12]


@given(placements())
@settings(deadline=None, max_examples=40)
def test_the_model_counts_what_the_judge_counts(problem: Placement) -> None:
    """The optimum of the program over all maximal patterns is read as a placement of the same value."""
    if problem.misfit:
        return
    packing = Packing.of(problem)
    patterns = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert patterns is not None
    outcome = Highs().solve(packing.form(patterns))
    best = brute_force(problem)
    if outcome.values is None:
        assert best is None
        return
    solution = packing.solution(outcome.values.astype(int), patterns)

    assert best is not None
    assert problem.violations(solution) == []
    assert problem.objective(solution) == round(outcome.objective or 0) == best[0]
    assert packing.floor <= best[0]


def test_patterns_know_each_other() -> None:
    """Patterns add up in order, and leaving out known ones leaves out repetitions too."""
    first = Patterns.of([(0, 0, [1, 2]), (0, 1, [1, 2])], 2)
    second = Patterns.of([(0, 1, [1, 2]), (0, 1, [0, 2]), (0, 1, [0, 2])], 2)

    assert (first + second).counts.tolist() == [[1, 2], [1, 2], [1, 2], [0, 2], [0, 2]]
    assert second.without(set(first.keys())).counts.tolist() == [[0, 2]]
    assert len(Patterns.of([], 2) + first) == 2


def test_the_committed_problem_of_all_kinds() -> None:
    """On the example of all kinds training, shared and flexible servers are filled from their own workers."""
    problem = committed("small/preferences")
    packing = Packing.of(problem)
    patterns = Patterns.of([(0, 0, [2, 0]), (1, 1, [0, 2]), (2, 1, [0, 2])], 2)
    moved = np.zeros(packing.moves, dtype=np.int64)
    moved[1:3] = 2  # base and flexible workers go to inference servers
    solution = packing.solution(np.append(moved, [1, 1, 1]), patterns)

    assert set(solution.placed) == {("t", 0, 2), ("i[0]", 1, 2), ("i[1]", 2, 2)}


def test_flexible_workers_on_a_server_in_use_share_it() -> None:
    """Beside what an inference server runs already flexible workers are misplaced, in the model as well."""
    problem = Placement(
        servers=(
            Server(name="used", pool="inference", capacity=Resources(gpu=8), used=Resources(gpu=4)),
            Server(name="empty", pool="inference", capacity=Resources(gpu=8)),
        ),
        workers=(Workers(job="a", kind="flexible", count=2, demand=Resources(gpu=1)),),
        minimize="preferences",
    )
    packing = Packing.of(problem)
    for server in ("used", "empty"):
        solution = PlacementSolution(placed=(Placed(server, 0, 2),))
        filled = packing.encode(solution)
        point = np.asarray(filled.values, dtype=np.float64)

        assert (filled.patterns.zone == packing.shared_zone).all() == (server == "used")
        assert packing.value(filled) == problem.objective(solution)
        assert packing.form(filled.patterns).violation(point) == 0
