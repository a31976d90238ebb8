"""A user's program, as strictly typed as ours: `make check` checks it, nothing runs it."""

from collections.abc import Iterator
from typing import assert_type

import gsopt
from formulations.reclaiming import exact, milp
from gsopt.core.progress import KnownBracket
from gsopt.core.result import Result
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.simulation import Start
from gsopt.simulation.policy import Action, State
from heuristics.reclaiming import greedy


class OldestFirst:
    """A policy of the user's own."""

    preemptive = False

    def __init__(self, state: State) -> None:
        self.waiting: set[int] = {*state.arrived}

    def decide(self, state: State) -> Iterator[Action]:
        """Start whoever fits."""
        self.waiting |= {*state.arrived, *state.evicted}
        for job in sorted(self.waiting):
            if state.fits(job):
                self.waiting.remove(job)
                yield Start(job)


@gsopt.heuristic
def first(problem: Reclaiming, *, skip: int = 0) -> ReclaimingSolution:
    """Return the first servers."""
    names = [server.name for server in problem.servers]
    return ReclaimingSolution(servers=names[skip : skip + problem.demand])


def solve(problem: Reclaiming) -> tuple[str, ...]:
    """Solve in every way there is; each result knows the type of its solution."""
    history = gsopt.History()
    budget = gsopt.Budget(time_limit="2min", on_incumbent=lambda found: found.objective == 1)
    assert_type(budget.time_limit, float | None)
    result = gsopt.solve(problem, time_limit="30s", gap=0.01, on_progress=history, display=True)
    for each in (result, first(problem, skip=1), greedy(problem), exact(problem, time_limit="1min")):
        assert_type(each, Result[ReclaimingSolution])
    assert_type(milp(problem, budget=budget), Result[ReclaimingSolution])
    gsopt.write(result, "result.json")
    assert_type(gsopt.read_result("result.json", problem), Result[ReclaimingSolution])
    assert_type(history[0], KnownBracket)
    return () if result.solution is None else tuple(result.solution.servers)


def compare(problem: Reclaiming) -> list[str]:
    """Compare methods, simulate policies."""
    comparison = gsopt.compare(problem, ["exact", first, greedy], time_limit="10s")
    workload = gsopt.Workload(jobs=[gsopt.Job(name="a", release_date=0, duration=3, gpus=1)])
    replay = gsopt.simulate(workload, OldestFirst, cluster=gsopt.Cluster.plain(4))
    policies = gsopt.compare_policies(workload, ["fifo", OldestFirst], cluster=4)
    return [row.method for row in comparison] + [str(replay.metrics.mean_jct), str(policies)]


def drain(path: str) -> tuple[str, ...]:
    """Drain nodes of a cluster that runs."""
    return tuple(gsopt.snapshots.drain(gsopt.snapshots.read_snapshot(path), 2, time_limit="5s").commands)
