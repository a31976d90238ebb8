"""Orchestrator: the choice of the machines to return when their owner requests some."""

from collections.abc import Callable, Iterable, Sequence

from gsopt.core.result import Result
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.simulation.policy import Request
from heuristics.policies.aryl.flexing import release
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob

#: A method of the decision `reclaiming`.
Reclaim = Callable[[Reclaiming], Result[ReclaimingSolution]]

#: A function called with every problem that the method solves, and with the servers that it chooses.
OnReclaim = Callable[[Reclaiming, Sequence[str]], object]


class Orchestrator:
    """The part of the policy that chooses the machines to return to their owner.

    Machines without base workers come first (if `spare_first` is set), followed by those that a method chooses.

    Flexible workers on returned machines are released, and their jobs continue with the largest allowed number
    of remaining workers. Jobs with base workers on these machines are preempted.

    Source: Aryl, sections 4 and 5.3.
    """

    def __init__(
        self, method: Reclaim, *, spare_first: bool = True, on_reclaim: OnReclaim | None = None
    ) -> None:
        self._method, self._spare_first, self._on_reclaim = method, spare_first, on_reclaim

    def answer(self, occupancy: Occupancy, request: Request) -> list[int]:
        """Choose the machines to return for a request, and remove the flexible workers on them.

        Fewer machines than requested are chosen if fewer suitable ones are available, or if the method finds no
        solution. The missing machines are then taken at the deadline.
        """
        candidates = _candidates(occupancy, request)
        owed = min(request.servers, len(candidates))
        spare = [machine for machine in candidates if self._spare_first and not occupancy.base[machine]]
        given = sorted(spare, key=lambda machine: int(occupancy.flexible[machine]))[:owed]
        if owed > len(given):
            others = [machine for machine in candidates if machine not in spare]
            given += self._chosen(occupancy, others, owed - len(given))
        _release_on(occupancy, given)
        return given

    def _chosen(self, occupancy: Occupancy, machines: Sequence[int], demand: int) -> list[int]:
        problem = reclaiming(occupancy, machines, demand)
        solution = self._method(problem).solution
        servers = () if solution is None else solution.servers
        if self._on_reclaim is not None:
            self._on_reclaim(problem, servers)
        return [occupancy.machines.number_of[name] for name in servers]


def reclaiming(occupancy: Occupancy, machines: Iterable[int], demand: int) -> Reclaiming:
    """Build the problem of choosing `demand` of the given machines to return.

    It includes the jobs with base workers on these machines.
    """
    names = {machine: occupancy.machines.names[machine] for machine in machines}
    jobs = (_job(running, names) for running in occupancy.jobs.values())
    return Reclaiming(
        demand=demand,
        servers=[
            Server(name=name, gpus=int(occupancy.machines.gpus[machine])) for machine, name in names.items()
        ],
        jobs=[job for job in jobs if job is not None],
    )


def _job(running: RunningJob, names: dict[int, str]) -> Job | None:
    """Build a job for the decision `reclaiming`, or None if it has no base workers on the machines."""
    size = running.form.worker_gpus
    base = {names[machine]: number * size for machine, number in running.base.items() if machine in names}
    if not base:
        return None
    flexible = {
        names[machine]: number * size for machine, number in running.flexible.items() if machine in names
    }
    return Job(
        name=str(running.job), workers=base, flexible=flexible, training_servers=len(running.base) - len(base)
    )


def _candidates(occupancy: Occupancy, request: Request) -> list[int]:
    """List the available machines that may be returned for a request, in the order of the cluster."""
    machines, among = occupancy.machines, set(request.among)
    suits = (occupancy.present > 0) & machines.suiting(request.gpu_type, 0)
    return [number for number in suits.nonzero()[0].tolist() if not among or machines.names[number] in among]


def _release_on(occupancy: Occupancy, given: Iterable[int]) -> None:
    """Remove the flexible workers on machines, and more workers until each job's number is allowed."""
    affected: dict[int, RunningJob] = {}
    for machine in given:
        for running in occupancy.flexible_on(machine):
            occupancy.put_flexible(running, machine, -running.flexible[machine])
            affected[running.job] = running
    for running in affected.values():
        release(occupancy, running, running.allowed(running.extra))
