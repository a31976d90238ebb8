"""Kill order: preempt jobs in a given order until enough servers are vacated."""

from collections.abc import Iterable

from heuristics.reclaiming.hosting import Hosting


def vacated_in_order(hosting: Hosting, jobs: Iterable[int], demand: int) -> list[int]:
    """Preempt jobs one by one until at least `demand` servers host no job, and keep the first ones vacated.

    Servers that host no job at the start come first.
    Servers vacated by the same job come in the order of the instance.

    Parameters
    ----------
    hosting
        Which jobs stand on which servers.
    jobs
        Every job, in the order of preemption.
    demand
        Number of servers to vacate.

    Returns
    -------
    list of int
        Servers in the order vacated, exactly `demand` of them.
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
