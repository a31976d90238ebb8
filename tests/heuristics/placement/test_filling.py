"""Filling: the fast loop against one written out, worker by worker."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from gsopt.core.method import NoSolution
from gsopt.problems.placement import Placement, PlacementSolution, Server
from heuristics.placement.filling import fill
from heuristics.placement.scores import first, roomiest, roomiest_in_use, tightest
from tests.effort import cases
from tests.strategies.placement import committed, placements

SCORES: dict[str, tuple[Callable[..., int], bool]] = {
    "tightest": (tightest, False),
    "first": (first, False),
    "roomiest": (roomiest, True),
    "roomiest in use": (roomiest_in_use, True),
}


def written_out(problem: Placement, score: Callable[..., int]) -> dict[tuple[str, int], int] | None:
    """Place worker by worker, looking at every server; jobs may be split."""
    names, hosts = list(problem.hosts), list(problem.hosts.values())
    free = [list(host.free()) for host in hosts]
    kinds = [{"stays"} if host.in_use else set() for host in hosts]
    placed: dict[tuple[str, int], int] = {}
    for line, workers in enumerate(problem.workers):
        for _ in range(workers.count):
            need = workers.demand.vector()
            room = [s for s in range(len(hosts)) if all(f >= n for f, n in zip(free[s], need, strict=True))]
            if not room:
                return None
            chosen = min(
                room,
                key=lambda s: (
                    dislike(problem, workers.kind, hosts[s], kinds[s]),
                    score(free[s][0], not kinds[s], s),
                    s,
                ),
            )
            free[chosen] = [f - n for f, n in zip(free[chosen], need, strict=True)]
            kinds[chosen].add("flexible" if workers.kind == "flexible" else "stays")
            placed[names[chosen], line] = placed.get((names[chosen], line), 0) + 1
    return placed


def dislike(problem: Placement, kind: str, host: Server, kinds: set[str]) -> int:
    """Rank a server: 0 for the preferred pool and company, 1 for the other pool, 2 for base beside flexible."""
    if problem.minimize != "preferences":
        return 0
    if host.pool == "training":
        return int(kind != "inelastic")
    meets = "stays" in kinds if kind == "flexible" else kinds == {"flexible"}
    return 2 if meets else int(kind == "inelastic")


@pytest.mark.parametrize("name", SCORES)
@given(problem=placements())
@settings(deadline=None, max_examples=cases(60))
def test_it_equals_the_loop_written_out(name: str, problem: Placement) -> None:
    """Every score gives the placement of a loop that looks at every server for every worker."""
    score, one_by_one = SCORES[name]
    split = Placement(**{**dict(problem), "split_jobs": True})
    expected = written_out(split, score)
    found = fill(split, range(len(split.workers)), score, one_by_one=one_by_one)
    if isinstance(found, NoSolution):
        assert expected is None
        return
    placed: dict[tuple[str, int], int] = {}
    for server, line, number in found.placed:
        placed[server, line] = placed.get((server, line), 0) + number

    assert placed == expected


@given(problem=placements())
@settings(deadline=None, max_examples=cases(60))
def test_whole_jobs_stay_together(problem: Placement) -> None:
    """Where jobs are not split every job stands in one pool, or stays behind as a whole."""
    whole = Placement(**{**dict(problem), "split_jobs": False})
    found = fill(whole, range(len(whole.workers)), tightest)
    if isinstance(found, PlacementSolution):
        assert whole.violations(found) == []


def test_lines_that_are_alike_share_servers() -> None:
    """Lines of the same demand one after the other fill the same server, as one line would."""
    problem = committed("small/powers-of-two")
    one_by_one = tuple(
        line.model_copy(update={"job": f"{line.job}-{k}", "count": 1})
        for line in problem.workers
        for k in range(line.count)
    )
    apart = Placement(**{**dict(problem), "workers": one_by_one})
    together = fill(problem, range(len(problem.workers)), tightest)
    singly = fill(apart, range(len(apart.workers)), tightest)

    assert isinstance(together, PlacementSolution)
    assert isinstance(singly, PlacementSolution)
    assert problem.objective(together) == apart.objective(singly)
