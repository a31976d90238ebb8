"""Admitting: a policy that solves `admission` to choose the jobs to stop for a job that does not fit."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Literal, get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.method import MethodLike, accepts
from gsopt.core.method import run as run_method
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.admission import Admission, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State
from heuristics.policies.preempting.floor import Floor, Standing
from heuristics.policies.preempting.queue import Queue, Room, Victim

#: A method for the decision `admission`, or its name.
Solver = Callable[[Admission], object] | str

#: Name of the cost of stopping a job.
Cost = Literal["lost_work", "gpus", "jobs"]

#: Maximum cost of an eviction.
_MOST_COST = 1e12

#: Name of the waiting job in the instance of `admission`.
_PENDING = "pending"


def admitting(
    state: State,
    *,
    solver: Solver = "exact",
    cost: Cost = "lost_work",
    within: str = "",
    solver_time: float | None = 1.0,
) -> Decider:
    """Start jobs by priority. If one does not fit, stop jobs of lower priority, at the lowest total cost.

    For a job that does not fit, the decision `gsopt.problems.Admission` is solved: which running jobs of lower
    priority should stop, at minimum total cost, to make room? If no solution is found, no job stops, and the
    next job in the queue is tried. Everything else is as in
    `heuristics.policies.preempting.priority_preemption`.

    Source: gsopt. Key: priority. Ties: release date. Preemptive; does not know durations. One decision is
    solved for each job that does not fit but would fit without the jobs of lower priority.

    Parameters
    ----------
    solver
        A method for `admission`, or its name, such as ``exact`` or ``greedy``. If it is the rule of a
        scheduler, such as ``kueue``, this rule chooses the jobs that stop.
    cost
        Cost of stopping a job: the GPU time since its last start, or 0 if it has checkpoints (``lost_work``);
        its number of GPUs (``gpus``); or 1 (``jobs``). Among solutions of equal cost, the exact method chooses
        one that stops the fewest jobs.
    within
        Level of the cluster, such as ``rack``. All GPUs of a job must be in a single group of this level. Empty
        for no restriction.
    solver_time
        Time limit in seconds for each decision, after which the best solution found is used; None for no limit.

    Raises
    ------
    InvalidInput
        `within` is no level of the cluster, or another option is invalid.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [
    ...     Job(name="long", release_date=0, duration=9, gpus=2, checkpoints=False),
    ...     Job(name="short", release_date=4, duration=9, gpus=1, checkpoints=False),
    ...     Job(name="vital", release_date=5, duration=2, gpus=2, priority=1),
    ... ]
    >>> simulate(Workload(jobs=jobs), admitting, cluster="1x1x4").completion_times
    (9.0, 16.0, 7.0)
    """
    require_one_of("cost", cost, get_args(Cost))
    sound = solver_time is None or 0 < number_of(solver_time) < inf
    require(sound, "solver_time", solver_time, "must be a positive number of seconds, or None")
    method = find_method("admission", solver, field="solver")
    return Queue(Floor(state.cluster, within), _Solved(method, cost, solver_time))


class _Solved:
    """The rule that solves an instance of `admission` for each job that does not fit."""

    def __init__(self, method: MethodLike, cost: Cost, limit: float | None) -> None:
        self._method, self._cost = method, cost
        limited = limit is not None and accepts(method, "time_limit")
        self._options: dict[str, Any] = {"time_limit": float(limit)} if limit is not None and limited else {}

    def __call__(self, state: State, floor: Floor, job: int, victims: list[Victim]) -> Room | None:
        """Return the jobs that stop and where the waiting job is placed, or None if there is no solution."""
        problem = self._problem(state, floor, job, victims)
        solution = run_method(self._method, problem, **self._options).solution
        if solution is None:
            return None
        standing: Counter[int] = Counter()
        for part, machines in zip(problem.pending[0].parts, solution.placed[_PENDING], strict=True):
            for name, number in machines.items():
                standing[problem.position[name]] += number * part.needs.gpu
        return Room([int(name) for name in solution.evicted], standing)

    def _problem(self, state: State, floor: Floor, job: int, victims: list[Victim]) -> Admission:
        """Return the instance, in which the victims are gangs and all other occupied GPUs are in use."""
        machines = floor.cluster.machines
        running = [self._running(state, floor, victim) for victim in victims]
        used = [machine.gpus - len(free) for machine, free in zip(machines, floor.free, strict=True)]
        for victim in victims:
            for machine, number in floor.on[victim.job].items():
                used[machine] -= number
        item = state.jobs[job]
        sizes = Counter(floor.sizes(item))
        parts = [
            Part(
                count=count,
                needs=Resources(gpu=gpus),
                gpu_type=item.gpu_type,
                memory=item.memory or 0,
            )
            for gpus, count in sizes.items()
        ]
        return Admission(
            cluster=floor.cluster,
            nodes={
                machine.name: Node(used=Resources(gpu=number))
                for machine, number in zip(machines, used, strict=True)
                if number
            },
            running=running,
            pending=[Gang(name=_PENDING, parts=parts, within=floor.within, priority=item.priority)],
            second_objective="gangs",
        )

    def _running(self, state: State, floor: Floor, victim: Victim) -> Running:
        parts, on = _parts(state.jobs[victim.job], floor, floor.on[victim.job])
        return Running(
            name=str(victim.job),
            parts=parts,
            on=on,
            priority=victim.priority,
            started=float(victim.started),
            cost=self._cost_of(state, victim),
        )

    def _cost_of(self, state: State, victim: Victim) -> float:
        gpus = state.running[victim.job]
        if self._cost == "jobs":
            return 1.0
        if self._cost == "gpus":
            return float(gpus)
        lost = 0.0 if state.jobs[victim.job].checkpoints else float(state.now - victim.started)
        return min(gpus * lost, _MOST_COST)


def _parts(job: Job, floor: Floor, standing: Standing) -> tuple[list[Part], list[Mapping[str, int]]]:
    """Return the workers of a running job, grouped by their number of GPUs, and the machines of each group."""
    by_size: dict[int, list[int]] = {}
    for machine, gpus in standing.items():
        by_size.setdefault(gpus, []).append(machine)
    parts = [
        Part(count=len(machines), needs=Resources(gpu=gpus), gpu_type=job.gpu_type)
        for gpus, machines in by_size.items()
    ]
    names = floor.cluster.machines
    return parts, [{names[machine].name: 1 for machine in machines} for machines in by_size.values()]
