"""Vector packing: generated instances of the classes that the literature uses to compare methods."""

from collections.abc import Iterator
from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.arguments import at_least

#: Capacity, smallest size and largest size in the classes with independent sizes.
_UNIFORM = {
    1: (1_000, 100, 400),
    2: (1_000, 1, 1_000),
    3: (1_000, 200, 800),
    4: (1_000, 50, 200),
    5: (1_000, 25, 100),
    6: (150, 20, 100),
}

#: Smallest and largest size of the first resource, and the capacity, in the correlated classes.
_FIRST, _CAPACITY = (20, 100), 150

#: Maximum difference between the first size and the others in class 7.
_CLOSE = 10

#: Minimum and maximum sum of the first size and any other in class 8.
_OPPOSITE = (110, 130)

#: Capacity in class 10, and range of the sizes of two of the three workers that fill a server.
_FULL, _PART = 100, (25, 50)

_CLASSES = (*_UNIFORM, 7, 8, 10)

_COMMON = ("gpu", "cpu", "memory")

_MOST = 1_000


def vector_packing(*, family: int = 1, workers: int = 60, resources: int = 3, seed: int = 0) -> Placement:
    """Generate workers with different demands, and as many identical servers.

    These are classes 1 to 8 and 10 of Caprara and Toth, with any number of resources instead of two. In classes
    1 to 6 (class 6 is Spieksma's), the sizes of a worker are drawn independently for each resource. In class 7,
    they are close to each other. In class 8, the other sizes are large if the first one is small. Class 10
    consists of triplets, i.e. three workers that together fill a server completely, so the optimum is a third
    of the number of workers. Class 9 is left out.

    Source: Caprara and Toth, "Lower bounds and algorithms for the 2-dimensional vector packing problem",
    Discrete Applied Mathematics 111 (2001); Spieksma, "A branch-and-bound algorithm for the two-dimensional
    vector packing problem", Computers and Operations Research 21 (1994); for triplets, Falkenauer, "A hybrid
    grouping genetic algorithm for bin packing", Journal of Heuristics 2 (1996). The random draws are gsopt's
    own.

    Parameters
    ----------
    family
        Number of the class: 1 to 8, or 10.
    workers
        Number of workers, which must be a multiple of 3 in class 10.
    resources
        Number of resources: GPU, CPU, memory, and then r4, r5 and so on.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = vector_packing(family=10, workers=6, resources=4)
    >>> problem.resources, sum(demand[3] for demand in problem.demands)
    (('gpu', 'cpu', 'memory', 'r4'), 200)
    """
    at_least(1, workers=workers)
    require(family in _CLASSES, "family", family, f"must be one of {', '.join(map(str, _CLASSES))}")
    require(family != _CLASSES[-1] or workers % 3 == 0, "workers", workers, "must be a multiple of 3")
    require(1 <= resources <= _MOST, "resources", resources, f"must be between 1 and {_MOST}")
    random = Random(f"{family} {workers} {resources} {seed}")
    capacity, sizes = _sizes(family, workers, resources, random)
    names = [*_COMMON, *(f"r{number}" for number in range(4, resources + 1))][:resources]

    def amounts(vector: tuple[int, ...]) -> Resources:
        return Resources(**dict(zip(names, vector, strict=True)))

    return Placement(
        name=f"vector-packing-{family}-{workers}-{resources}-{seed}",
        about=About(source=f"class {family} of Caprara and Toth, {resources} resources", seed=seed),
        servers=(Server(name="s", count=workers, capacity=amounts((capacity,) * resources)),),
        workers=tuple(
            Workers(job=f"j{number}", demand=amounts(vector)) for number, vector in enumerate(sizes, start=1)
        ),
    )


def _sizes(family: int, workers: int, resources: int, random: Random) -> tuple[int, list[tuple[int, ...]]]:
    """Draw the sizes of all workers, and return the capacity of the servers and these sizes."""
    if family in _UNIFORM:
        capacity, least, largest = _UNIFORM[family]
        return capacity, [_vector(least, largest, resources, random) for _ in range(workers)]
    if family == _CLASSES[-1]:
        triplets = [vector for _ in range(workers // 3) for vector in _triplet(resources, random)]
        return _FULL, random.sample(triplets, k=workers)
    return _CAPACITY, [_correlated(family, resources, random) for _ in range(workers)]


def _vector(least: int, largest: int, resources: int, random: Random) -> tuple[int, ...]:
    return tuple(random.randint(least, largest) for _ in range(resources))


def _correlated(family: int, resources: int, random: Random) -> tuple[int, ...]:
    first = random.randint(*_FIRST)
    least, largest = (first - _CLOSE, first + _CLOSE) if family == 7 else (total - first for total in _OPPOSITE)  # noqa: PLR2004 - the class
    return first, *_vector(least, largest, resources - 1, random)


def _triplet(resources: int, random: Random) -> Iterator[tuple[int, ...]]:
    one, two = (_vector(*_PART, resources, random) for _ in range(2))
    rest = tuple(max(_FULL - a - b, 0) for a, b in zip(one, two, strict=True))
    yield from (one, two, rest) if any(rest) else _triplet(resources, random)
