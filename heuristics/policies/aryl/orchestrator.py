"""Orchestrator: which machines are given up when they are asked for."""

from collections.abc import Callable, Iterable, Sequence

from gsopt.core.result import Result
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.simulation.policy import Request
from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.flexing import release

#: A method of the decision `reclaiming`.
Reclaim = Callable[[Reclaiming], Result[ReclaimingSolution]]

#: Is told every problem that a method has decided, and the servers that are given up by it.
OnReclaim = Callable[[Reclaiming, Sequence[str]], object]


class Orchestrator:
    """Answers requests: machines without base workers first, then those that a method chooses.

    Flexible workers on machines that are given up are released, and their jobs run on with fewer: the largest
    allowed number that is left. Jobs with base workers there are preempted.

    Source: Aryl, sections 4 and 5.3.

    Parameters
    ----------
    method
        Chooses among machines with base workers.
    spare_first
        Whether machines without base workers are given up before the method is asked, those with the fewest
        flexible workers first; else it chooses among all.
    on_reclaim
        Is told what the method was asked and what is given up; nobody when None.
    """

    def __init__(
        self, method: Reclaim, *, spare_first: bool = True, on_reclaim: OnReclaim | None = None
    ) -> None:
        self._method, self._spare_first, self._on_reclaim = method, spare_first, on_reclaim

    def answer(self, books: Books, request: Request) -> list[int]:
        """Choose the machines that are given up for a request, and release the flexible workers on them.

        Fewer than are asked for where fewer are there, or the method finds no solution: what is owed then is
        taken at the deadline.
        """
        candidates = _candidates(books, request)
        owed = min(request.servers, len(candidates))
        spare = [machine for machine in candidates if self._spare_first and not books.base[machine]]
        given = sorted(spare, key=lambda machine: int(books.flexible[machine]))[:owed]
        if owed > len(given):
            others = [machine for machine in candidates if machine not in spare]
            given += self._chosen(books, others, owed - len(given))
        _make_way(books, given)
        return given

    def _chosen(self, books: Books, machines: Sequence[int], demand: int) -> list[int]:
        problem = reclaiming(books, machines, demand)
        solution = self._method(problem).solution
        servers = () if solution is None else solution.servers
        if self._on_reclaim is not None:
            self._on_reclaim(problem, servers)
        return [books.machines.number_of[name] for name in servers]


def reclaiming(books: Books, machines: Iterable[int], demand: int) -> Reclaiming:
    """Return the decision which of some machines are returned, with the jobs that have base workers there."""
    names = {machine: books.machines.names[machine] for machine in machines}
    jobs = (_job(crew, names) for crew in books.crews.values())
    return Reclaiming(
        demand=demand,
        servers=[Server(name=name, gpus=int(books.machines.gpus[machine])) for machine, name in names.items()],
        jobs=[job for job in jobs if job is not None],
    )


def _job(crew: Crew, names: dict[int, str]) -> Job | None:
    """Return a job as the decision knows it; None without base workers on the machines."""
    size = crew.form.worker_gpus
    base = {names[machine]: number * size for machine, number in crew.base.items() if machine in names}
    if not base:
        return None
    flexible = {names[machine]: number * size for machine, number in crew.flexible.items() if machine in names}
    return Job(name=str(crew.job), workers=base, flexible=flexible, training_servers=len(crew.base) - len(base))


def _candidates(books: Books, request: Request) -> list[int]:
    """Return the machines that are there and may be given up for a request, in the order of the cluster."""
    machines, among = books.machines, set(request.among)
    suits = (books.there > 0) & machines.suiting(request.gpu_type, 0)
    return [number for number in suits.nonzero()[0].tolist() if not among or machines.names[number] in among]


def _make_way(books: Books, given: Iterable[int]) -> None:
    """Release the flexible workers on machines."""
    crews: dict[int, Crew] = {}
    for machine in given:
        for crew in books.guests(machine):
            books.put_flexible(crew, machine, -crew.flexible[machine])
            crews[crew.job] = crew
    for crew in crews.values():
        release(books, crew, crew.allowed(crew.extra))
