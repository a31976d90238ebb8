"""Kill order: servers vacated by preempting jobs in a given order."""

from collections.abc import Iterable

from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting


def vacated_in_order(hosting: Hosting, jobs: Iterable[int], demand: int) -> list[int]:
    """Return the first `demand` servers that are vacated when jobs are preempted in order.

    Servers that host no job at the start come first. Servers vacated by the same job keep the order of the
    instance.
    """
    running = [len(on_server) for on_server in hosting.jobs_of]
    vacated = [server for server, count in enumerate(running) if count == 0]
    for job in jobs:
        if len(vacated) >= demand:
            break
        for server in sorted(hosting.servers_of[job]):
            running[server] -= 1
            if running[server] == 0:
                vacated.append(server)
    return vacated[:demand]


def by_size(problem: Reclaiming, *, largest_first: bool) -> ReclaimingSolution:
    """Preempt jobs in order of size until enough servers are vacated, and return these servers.

    The size of a job is the number of GPUs of its base workers. Without `largest_first`, the smallest jobs come
    first.
    """
    hosting = Hosting.of(problem)
    gpus = [sum(job.workers.values()) for job in problem.jobs]
    order = sorted(range(len(gpus)), key=gpus.__getitem__, reverse=largest_first)
    return hosting.solution(vacated_in_order(hosting, order, problem.demand))
