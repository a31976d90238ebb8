"""Vectors: generated workers of a few types that need GPUs, CPU and memory."""

from random import Random
from typing import get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Workers
from instances.placement.clusters import CAPACITY, INFERENCE, TRAINING, Minimize, check_cluster, cluster

_GPUS = (1, 2, 4, 8)

_MOST_TYPES, _LARGEST_SKEW = 500, 10

#: Minimum and maximum number of CPU cores, and of GB of memory, per GPU.
_CORES, _MEMORY = (4, 14), (8, 60)

#: Upper limits, so that all types fit on an inference server, which is smaller than a training server.
_CORES_AT_MOST, _MEMORY_AT_MOST = CAPACITY["inference"].cpu, CAPACITY["inference"].memory


def vectors(
    *,
    types: int = 12,
    workers: int = 2000,
    training: int = TRAINING,
    inference: int = INFERENCE,
    skew: float = 1.0,
    occupied: float = 0.0,
    minimize: Minimize = "servers",
    seed: int = 0,
) -> Placement:
    """Generate workers of several types, and training and inference servers with capacities as in Aryl.

    A type needs 1, 2, 4 or 8 GPUs, with 4 to 14 cores and 8 to 60 GB per GPU, but at most 92 cores and 210 GB
    in total. Every type has at least one worker. The types of the other workers are drawn at random, with
    weights between 1 and 4.

    Parameters
    ----------
    types
        Number of types, i.e. of different combinations of GPUs, CPU and memory; at most 500.
    workers
        Number of workers, at least as many as types.
    training, inference
        Number of training servers and of inference servers. Each has 8 GPUs, 92 cores, and 350 GB (training) or
        210 GB (inference).
    skew
        Determines how rare types with more GPUs are: the number of GPUs g of a type is drawn with a weight of
        ``g ** -skew``. Must be between -10 and 10.
    occupied
        Share of the servers that are partly in use.
    minimize
        The objective, as in `gsopt.problems.placement.Placement`.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = vectors(types=4, workers=100, seed=1)
    >>> len(problem.workers), sum(line.count for line in problem.workers)
    (4, 100)
    """
    require(1 <= types <= _MOST_TYPES, "types", types, f"must be between 1 and {_MOST_TYPES}")
    require(workers >= types, "workers", workers, f"must be at least the {types} types")
    check_cluster(training, inference, occupied)
    require(abs(skew) <= _LARGEST_SKEW, "skew", skew, f"must be between -{_LARGEST_SKEW} and {_LARGEST_SKEW}")
    require_one_of("minimize", minimize, get_args(Minimize))
    random = Random(seed)
    drawn: dict[tuple[int, int, int], None] = {}
    while len(drawn) < types:
        drawn[_vector(skew, random)] = None
    weights = [random.uniform(1, 4) for _ in drawn]
    counts = [1 + extra for extra in _spread(workers - types, weights, random)]
    lines = tuple(
        Workers(job=f"j{number}", count=count, demand=Resources(gpu=gpu, cpu=cpu, memory=memory))
        for number, ((gpu, cpu, memory), count) in enumerate(zip(drawn, counts, strict=True), start=1)
    )
    return Placement(
        name=f"vectors-{types}-{workers}-{seed}",
        about=About(source=f"{types} random vectors, skew {skew:g}, {occupied:g} occupied", seed=seed),
        minimize=minimize,
        servers=cluster(training, inference, occupied=occupied, random=random),
        workers=lines,
    )


def _vector(skew: float, random: Random) -> tuple[int, int, int]:
    gpus = random.choices(_GPUS, weights=[gpus**-skew for gpus in _GPUS])[0]
    cores = round(gpus * random.uniform(*_CORES))
    memory = round(gpus * random.uniform(*_MEMORY))
    return gpus, min(cores, _CORES_AT_MOST), min(memory, _MEMORY_AT_MOST)


def _spread(number: int, weights: list[float], random: Random) -> list[int]:
    chosen = random.choices(range(len(weights)), weights=weights, k=number)
    return [chosen.count(index) for index in range(len(weights))]
