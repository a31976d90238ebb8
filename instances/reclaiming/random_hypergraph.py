"""Random hypergraphs: jobs that span randomly drawn servers."""

from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from instances.arguments import at_least
from instances.reclaiming.layout import crowd, named, server_name


def random_hypergraph(
    *,
    servers: int = 60,
    jobs: int = 60,
    span: int = 2,
    demand: int = 12,
    seed: int = 0,
) -> Reclaiming:
    """Generate jobs that have one GPU on each of `span` randomly drawn servers.

    Every server has eight GPUs, or as many as the fullest server needs if that is more. With a span of 2, the
    jobs are the edges of a random graph. A large graph usually has a giant component if there are more than
    half as many jobs as servers.

    Parameters
    ----------
    servers, jobs
        Number of servers, and number of jobs.
    span, demand
        Number of servers of each job, and number of servers to return.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = random_hypergraph(servers=6, jobs=4, span=3, demand=2, seed=1)
    >>> [len(job.workers) for job in problem.jobs]
    [3, 3, 3, 3]
    """
    at_least(1, servers=servers)
    at_least(0, jobs=jobs)
    require(1 <= span <= servers, "span", span, f"must be between 1 and the {servers} servers")
    require(0 <= demand <= servers, "demand", demand, f"must be between 0 and the {servers} servers")
    random = Random(seed)
    placements = [dict.fromkeys(random.sample(range(servers), span), 1) for _ in range(jobs)]
    gpus = max(8, crowd(placements))
    return Reclaiming(
        name=f"random-hypergraph-{servers}-{jobs}-{span}-{demand}-{seed}",
        about=About(source=f"random hypergraph, every job on {span} of {servers} servers", seed=seed),
        demand=demand,
        servers=tuple(Server(name=server_name(number), gpus=gpus) for number in range(servers)),
        jobs=tuple(
            Job(name=f"j{number}", workers=named(placement))
            for number, placement in enumerate(placements, start=1)
        ),
    )
