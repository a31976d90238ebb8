"""Goodput: random jobs on a few nodes, and the best division by trying every node for every GPU."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

from gsopt.problems.goodput import Goodput, GoodputJob, GoodputSolution
from tests.exactness.numbers import Draw, exactly, numbers, total

#: GPUs of the nodes; at most five, so that all can be tried.
_NODES = ((), (1,), (2,), (4,), (1, 1), (2, 1), (2, 2), (1, 1, 1), (1, 2, 1), (1, 1, 1, 1), (3, 2), (1, 1, 3))


def draw(random: Random) -> Goodput:
    """Draw up to three jobs on up to four nodes, some of which run, with restarts that cost nothing to all."""
    family, number = numbers(random)
    nodes = random.choice(_NODES)
    free = list(nodes)
    return Goodput(
        name=family,
        nodes=nodes,
        jobs=[_job(random, f"j{index}", number, free) for index in range(random.randint(0, 3))],
        power=random.choice((-1, -1, -1, -2, -3, -5, -9, -10)),
        restart_time=random.choice((30.0, 30.0, 0.0, 7.5)),
        floor=random.choice((1e-3, 1e-3, 0.1, 1e-9, 1e-4, 0.01, 0.05, 1.0)),
    )


def _job(random: Random, name: str, number: Draw, free: list[int]) -> GoodputJob:
    current: list[int] = []
    if random.random() < 0.6:
        current = [random.randint(0, count) if random.random() < 0.6 else 0 for count in free]
        free[:] = [count - taken for count, taken in zip(free, current, strict=True)]
    monotone = random.random() < 0.5
    rows: list[list[float]] = []
    for nodes in range(1, random.randint(1, max(len(free), 1)) + 1):
        row = [min(number(), 1e12) for _ in range(random.randint(0, 6 - nodes))]
        rows.append(rows[-1][1:] if monotone and nodes > 2 else sorted(row) if monotone else row)
    return GoodputJob(
        name=name,
        speedups=rows,
        current=current,
        age=random.choice((0.0, 60.0, 61.5, 3600.0)),
        restarts=random.choice((0, 0, 1, 2)),
        max_gpus=random.choice((None, None, 1, 2, 3)),
    )


def optimum(problem: Goodput) -> Fraction:
    """Try every number of GPUs of every job on every node."""
    found = [_mean(problem, vectors) for vectors in _all(problem)]
    return min(mean for mean in found if mean is not None)


def value(problem: Goodput, solution: GoodputSolution) -> Fraction | None:
    """Return the mean over all jobs; None when a rule is broken."""
    if not set(solution.gpus) <= {job.name for job in problem.jobs}:
        return None
    none = [0] * len(problem.nodes)
    return _mean(problem, [tuple(solution.gpus.get(job.name, none)) for job in problem.jobs])


def _all(problem: Goodput) -> Iterator[list[tuple[int, ...]]]:
    """Yield who has which GPU, as numbers of GPUs: every way in which each node's GPUs can be shared out."""
    jobs = len(problem.jobs)
    shares = [
        [share for share in product(range(gpus + 1), repeat=jobs) if sum(share) <= gpus]
        for gpus in problem.nodes
    ]
    for chosen in product(*shares):
        yield [tuple(share[job] for share in chosen) for job in range(jobs)]


def _mean(problem: Goodput, vectors: list[tuple[int, ...]]) -> Fraction | None:
    for node, gpus in enumerate(problem.nodes):
        if sum(vector[node] for vector in vectors) > gpus:
            return None
        if sum(vector[node] > 0 and len([x for x in vector if x]) > 1 for vector in vectors) > 1:
            return None
    found = total(_counted(problem, job, vector) for job, vector in zip(problem.jobs, vectors, strict=True))
    return None if found is None else found / max(len(problem.jobs), 1)


def _counted(problem: Goodput, job: GoodputJob, vector: tuple[int, ...]) -> Fraction | None:
    gpus, nodes = sum(vector), len([count for count in vector if count])
    if job.max_gpus is not None and gpus > job.max_gpus:
        return None
    speedup = Fraction(0)
    if gpus:
        table = dict(enumerate(job.speedups, start=1))
        known = dict(enumerate(table.get(nodes, []), start=nodes))
        if gpus not in known:
            return None
        speedup = exactly(known[gpus]) / Fraction(sum(problem.nodes), len(problem.nodes))
    if vector != tuple(job.current or [0] * len(problem.nodes)):
        delay, age = exactly(problem.restart_time), exactly(job.age)
        left = age - job.restarts * delay
        if delay:
            speedup *= left / (age + delay) if left > 0 else 0
    return 1 / (speedup + exactly(problem.floor)) ** -problem.power
