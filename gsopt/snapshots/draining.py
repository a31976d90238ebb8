"""Draining: the nodes to give back at the least preemption cost, and the commands that do so."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Number
from gsopt.core.result import Result, Status, plain
from gsopt.evaluation.solve import solve
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.snapshots.commands import commands_of
from gsopt.snapshots.gang import Gang
from gsopt.snapshots.returning import Cost, check_cost, chosen_nodes
from gsopt.snapshots.snapshot import Snapshot

#: Default time limit in seconds.
TIME_LIMIT = 10.0


def least_utilized(problem: Reclaiming) -> ReclaimingSolution:
    """Choose nodes in ascending order of the fraction of GPUs in use, as cluster autoscalers do.

    This rule considers each node separately, so it ignores that a gang on two nodes is lost only once. Ties
    are broken by node order.
    """
    used = problem.used_gpus
    order = sorted(problem.servers, key=lambda server: Fraction(used[server.name], server.gpus))
    return ReclaimingSolution(servers=[server.name for server in order[: problem.demand]])


def fewest_jobs(problem: Reclaiming) -> ReclaimingSolution:
    """Choose nodes in ascending order of the number of jobs with workers on them.

    Ties are broken by node order.
    """
    jobs = Counter(server for job in problem.jobs for server in job.workers)
    order = sorted(problem.servers, key=lambda server: jobs[server.name])
    return ReclaimingSolution(servers=[server.name for server in order[: problem.demand]])


#: Simple rules that consider each node separately, keyed by name.
RULES: Mapping[str, Callable[[Reclaiming], ReclaimingSolution]] = {
    "least utilized first": least_utilized,
    "fewest jobs first": fewest_jobs,
}


@dataclass(frozen=True)
class Drain:
    """The result of choosing nodes to give back.

    Attributes
    ----------
    snapshot
        The cluster.
    asked
        Requested number of nodes.
    cost
        Cost of preempting a gang, as in `Snapshot.reclaiming`.
    returnable
        Number of nodes that may be given back.
    kept
        Reasons why nodes must not be given back, keyed by node name, as in `Snapshot.kept`.
    problem, result
        The reclaiming problem and its result. Both are None if fewer nodes than requested, or none at all, may
        be given back.

    Examples
    --------
    >>> from gsopt.snapshots import Node, Part
    >>> nodes = [Node(name=name, gpus=8) for name in ("n1", "n2", "n3")]
    >>> pair = Gang(name="pair", parts=[Part(node="n1", gpus=1), Part(node="n2", gpus=1)])
    >>> drained = drain(Snapshot(nodes=nodes, gangs=[pair, Gang(name="b", parts=[Part(node="n3", gpus=8)])]), 2)
    >>> drained.servers, [gang.name for gang in drained.preempted], drained.rules["least utilized first"]
    (('n1', 'n2'), ['pair'], 1)
    """

    snapshot: Snapshot
    asked: int
    cost: str
    returnable: int
    kept: Mapping[str, str]
    problem: Reclaiming | None = None
    result: Result[ReclaimingSolution] | None = None

    @property
    def possible(self) -> bool:
        """Whether as many nodes as requested may be given back."""
        return self.asked <= self.returnable

    @property
    def solution(self) -> ReclaimingSolution | None:
        """The solution of the reclaiming problem, or None if there is none."""
        return None if self.result is None else self.result.solution

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the nodes to give back; empty if there is no solution."""
        return () if self.solution is None else tuple(self.solution.servers)

    @cached_property
    def preempted(self) -> tuple[Gang, ...]:
        """The gangs that use GPUs and are preempted when the nodes are given back."""
        if self.problem is None or self.solution is None:
            return ()
        names = {job.name for job in self.problem.preempted(self.solution)}
        return tuple(gang for gang in self.snapshot.gangs if gang.name in names)

    @cached_property
    def rules(self) -> dict[str, Number]:
        """Preemption cost of the nodes that simple rules would choose, keyed by rule, for comparison.

        The rules are ``"least utilized first"`` and ``"fewest jobs first"``, which consider each node
        separately. The mapping is empty if `problem` is None.
        """
        problem = self.problem
        if problem is None:
            return {}
        return {name: problem.objective(rule(problem)) for name, rule in RULES.items()}

    @cached_property
    def waits(self) -> dict[str, tuple[int, int]]:
        """Disruption budgets that allow fewer evictions than needed, mapped to the pair (needed, allowed)."""
        returned, evicted = set(self.servers), Counter[str]()
        for gang in self.snapshot.gangs:
            for part in gang.parts:
                if part.node in returned:
                    evicted.update(part.budgets)
        allowed = self.snapshot.budgets
        return {name: (number, allowed[name]) for name, number in evicted.items() if number > allowed[name]}

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Shell commands that carry out the solution; gsopt does not execute them."""
        return commands_of(self.snapshot, self.servers, {gang.name for gang in self.preempted})

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, in the form that ``gsopt drain --json`` prints."""
        result = self.result
        nothing = 0 if self.possible else None  # what is lost where there is nothing to decide
        status = Status.OPTIMAL if self.possible else Status.INFEASIBLE
        return {
            "status": (status if result is None else result.status).value,
            "cost": self.cost,
            "asked": self.asked,
            "returnable": self.returnable,
            "servers": list(self.servers),
            "objective": nothing if result is None else plain(result.objective),
            "bound": nothing if result is None else plain(result.bound),
            "gap": None if result is None else result.gap,
            "runtime": None if result is None else result.runtime,
            "rules": {name: plain(value) for name, value in self.rules.items()},
            "preempted": [
                {"name": gang.name, "kind": gang.kind, "gpus": gang.gpus, "nodes": list(gang.nodes)}
                for gang in self.preempted
            ],
            "waits": {name: {"evicted": each[0], "allowed": each[1]} for name, each in self.waits.items()},
            "kept": dict(self.kept),
            "commands": list(self.commands),
        }


def drain(
    snapshot: Snapshot,
    servers: int,
    *,
    cost: str = Cost.JOBS,
    among: Sequence[str] = (),
    time_limit: TimeLimit = TIME_LIMIT,
) -> Drain:
    """Choose which nodes to give back at the least preemption cost.

    Only nodes with GPUs are considered, and only the preemption of gangs with GPUs has a cost.

    Parameters
    ----------
    snapshot
        The cluster.
    servers
        Number of nodes to give back.
    cost
        Cost of preempting a gang, as in `Snapshot.reclaiming`.
    among
        Labels, each ``key`` or ``key=value``; only nodes that have all of them may be given back. For Slurm,
        partitions and features.
    time_limit
        Time limit, in seconds or as a string such as ``30s``. When it is reached, the best solution found so
        far is returned with its proven bound.

    Raises
    ------
    InvalidInput
        A cost or label does not exist, `servers` is not a non-negative integer, or the time limit is invalid.

    Examples
    --------
    >>> from gsopt.snapshots import Node
    >>> drain(Snapshot(nodes=[Node(name="n1", gpus=8)], gangs=[]), 1).commands[0]
    'kubectl cordon -- n1'
    """
    limit = checked_time_limit(time_limit)
    if isinstance(servers, bool) or not isinstance(servers, int) or servers < 0:
        raise InvalidInput("servers", shorten(servers), "must be a number of at least 0")
    check_cost(cost)
    kept = snapshot.kept(among)
    returnable = len(chosen_nodes(snapshot.nodes, among)) - len(kept)
    if servers > returnable or not returnable:
        return Drain(snapshot, servers, cost, returnable, kept)
    problem = snapshot.reclaiming(servers, cost=cost, among=among)
    return Drain(snapshot, servers, cost, returnable, kept, problem, solve(problem, time_limit=limit))
