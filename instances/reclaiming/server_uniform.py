"""Server-uniform hypergraphs: every server hosts the same number of randomly drawn jobs."""

from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from instances.arguments import at_least
from instances.reclaiming.layout import named, server_name


def server_uniform(
    *,
    servers: int = 60,
    jobs: int = 60,
    degree: int = 5,
    demand: int = 6,
    seed: int = 0,
) -> Reclaiming:
    """Generate servers that each host `degree` different jobs, drawn at random.

    These instances are hard: no server has fewer jobs than another, and the bound of the linear relaxation is
    usually far below the optimum. A job that is not drawn for any server is left out. Every server has eight
    GPUs, or `degree` if that is more.

    Parameters
    ----------
    servers, jobs
        Number of servers, and number of jobs to draw from.
    degree, demand
        Number of jobs on each server, and number of servers to return.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = server_uniform(servers=6, jobs=5, degree=2, demand=2, seed=1)
    >>> set(problem.used_gpus.values())
    {2}
    """
    at_least(1, servers=servers)
    at_least(0, jobs=jobs)
    require(0 <= degree <= jobs, "degree", degree, f"must be between 0 and the {jobs} jobs")
    require(0 <= demand <= servers, "demand", demand, f"must be between 0 and the {servers} servers")
    random = Random(seed)
    placements: list[dict[int, int]] = [{} for _ in range(jobs)]
    for server in range(servers):
        for job in random.sample(range(jobs), degree):
            placements[job][server] = 1
    return Reclaiming(
        name=f"server-uniform-{servers}-{jobs}-{degree}-{demand}-{seed}",
        about=About(source=f"server-uniform hypergraph, {degree} of {jobs} jobs on every server", seed=seed),
        demand=demand,
        servers=tuple(Server(name=server_name(number), gpus=max(8, degree)) for number in range(servers)),
        jobs=tuple(
            Job(name=f"j{number}", workers=named(placement))
            for number, placement in enumerate(placements, start=1)
            if placement
        ),
    )
