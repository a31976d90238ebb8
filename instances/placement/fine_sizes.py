"""Fine sizes: generated workers of hundreds of sizes, on servers with a very large capacity of one resource."""

from random import Random

from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.arguments import at_least

_CAPACITY = 100_000

#: Smallest and largest size. At most five workers fit on a server.
_SIZES = (20_000, 35_000)


def fine_sizes(*, workers: int = 200, seed: int = 0) -> Placement:
    """Generate workers that need 20,000 to 35,000 of a server's 100,000 units of GPU.

    Source: the third data set, HARD0 to HARD9, of Scholl, Klein and Juergens, "BISON: a fast hybrid procedure
    for exactly solving the one-dimensional bin packing problem", Computers and Operations Research 24 (1997).
    The random draws are gsopt's own.

    Parameters
    ----------
    workers
        Number of workers, which is also the number of servers.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = fine_sizes(workers=3)
    >>> problem.size, all(20_000 <= line.demand.gpu <= 35_000 for line in problem.workers)
    (3, True)
    """
    at_least(1, workers=workers)
    random = Random(f"{workers} {seed}")
    return Placement(
        name=f"fine-sizes-{workers}-{seed}",
        about=About(source="random sizes from 20,000 to 35,000 of 100,000", seed=seed),
        servers=(Server(name="s", count=workers, capacity=Resources(gpu=_CAPACITY)),),
        workers=tuple(
            Workers(job=f"j{number}", demand=Resources(gpu=random.randint(*_SIZES)))
            for number in range(1, workers + 1)
        ),
    )
