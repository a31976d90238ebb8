"""Whole GPUs: generated workers that need nothing but GPUs."""

from random import Random

from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.arguments import at_least

_GPUS = 8


def whole_gpus(
    *, workers: int = 3000, servers: int = 1200, powers_of_two: bool = True, seed: int = 0
) -> Placement:
    """Generate workers that need nothing but GPUs, and servers with 8 GPUs.

    Every worker is a separate job. A worker with g GPUs is drawn with a probability proportional to 1 / g. In
    total, 3,000 workers need about 6,400 GPUs if sizes are powers of two, and about 8,800 if all sizes are
    allowed.

    Parameters
    ----------
    workers, servers
        Number of workers, and number of servers.
    powers_of_two
        Whether sizes are only 1, 2, 4 and 8, instead of all integers from 1 to 8.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = whole_gpus(workers=10, servers=4, seed=1)
    >>> sorted({line.demand.gpu for line in problem.workers})
    [1, 2, 4]
    """
    at_least(0, workers=workers)
    at_least(1, servers=servers)
    random = Random(seed)
    sizes = (1, 2, 4, 8) if powers_of_two else tuple(range(1, _GPUS + 1))
    drawn = random.choices(sizes, weights=[1 / size for size in sizes], k=workers)
    return Placement(
        name=f"whole-gpus-{workers}-{seed}",
        about=About(source=f"random sizes from {', '.join(map(str, sizes))} GPUs", seed=seed),
        servers=(Server(name="s", count=servers, capacity=Resources(gpu=_GPUS)),),
        workers=tuple(
            Workers(job=f"j{number}", demand=Resources(gpu=gpus)) for number, gpus in enumerate(drawn, start=1)
        ),
    )
