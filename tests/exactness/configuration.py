"""Configuration: random jobs on GPUs of a few types, and the best choice by trying all."""

from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import product
from math import pow as power_of
from random import Random

from gsopt.problems.configuration import AdaptiveJob, Configuration, ConfigurationSolution, Shape
from tests.exactness.numbers import Draw, exactly, numbers, total

#: Types, nodes and GPUs of configurations.
_SHAPES = (("a", 1, 1), ("a", 1, 2), ("a", 2, 4), ("b", 1, 1), ("b", 1, 3), ("b", 1, 2), ("c", 1, 1))


def draw(random: Random) -> Configuration:
    """Draw up to four jobs and configurations of up to three types, some of which are held or pinned."""
    family, number = numbers(random)
    listed = random.sample(_SHAPES, random.randint(0, 5))
    gpus = {kind: random.randint(1, 5) for kind in "abc"}
    left = dict(gpus)
    return Configuration(
        name=family,
        gpus=gpus,
        configurations=[Shape(type=kind, nodes=nodes, gpus=count) for kind, nodes, count in listed],
        jobs=[_job(random, f"j{index}", number, listed, left) for index in range(random.randint(0, 4))],
        power=random.choice((-0.5, -0.5, -0.5, -1.0, -2.0, 0.5, 1.0)),
        penalty=random.choice((1.1, 1.1, 0.0, 0.123456789, 40.0)),
        decimals=random.choice((2, 2, 2, 0, 6)),
        cap=random.choice((3000.0, 3000.0, 1.5, 1e6)),
    )


def _job(
    random: Random, name: str, number: Draw, listed: list[tuple[str, int, int]], left: dict[str, int]
) -> AdaptiveJob:
    goodputs = [min(max(number(), 1e-9), 1e9) if random.random() < 0.8 else None for _ in listed]
    current, pinned = None, False
    if listed and random.random() < 0.6:
        current = random.randrange(len(listed))
        kind, _, gpus = listed[current]
        if left[kind] >= gpus:
            left[kind] -= gpus
            pinned = goodputs[current] is not None and random.random() < 0.2
    return AdaptiveJob(
        name=name,
        goodputs=goodputs,
        current=current,
        restart_factor=random.choice((0.0, 0.5, 0.9, 0.99, 1.0, random.random())),
        pinned=pinned,
    )


def optimum(problem: Configuration) -> Fraction:
    """Try every configuration of every job."""
    places = (None, *range(len(problem.configurations)))
    found = [_total(problem, chosen) for chosen in product(places, repeat=len(problem.jobs))]
    return min(value for value in found if value is not None)


def value(problem: Configuration, solution: ConfigurationSolution) -> Fraction | None:
    """Return the total over all jobs; None when a rule is broken."""
    if not set(solution.configurations) <= {job.name for job in problem.jobs}:
        return None
    return _total(problem, tuple(solution.configurations.get(job.name) for job in problem.jobs))


def _total(problem: Configuration, chosen: tuple[int | None, ...]) -> Fraction | None:
    used: Counter[str] = Counter()
    for place in chosen:
        if place is not None:
            shape = problem.configurations[place]
            used[shape.type] += shape.gpus
    if any(count > problem.gpus[kind] for kind, count in used.items()):
        return None
    return total(_counted(problem, job, place) for job, place in zip(problem.jobs, chosen, strict=True))


def _counted(problem: Configuration, job: AdaptiveJob, place: int | None) -> Fraction | None:
    if job.pinned and place != job.current:
        return None
    if place is None:
        return exactly(problem.penalty)
    goodput = job.goodputs[place]
    if goodput is None:
        return None
    if job.current is not None and job.current != place:
        goodput *= job.restart_factor
    cap = exactly(problem.cap)
    try:
        raised = power_of(goodput, problem.power)
    except (ValueError, OverflowError):
        raised = float("inf")
    if raised >= problem.cap + 1:
        counted = cap
    else:
        grid = Decimal(1).scaleb(-problem.decimals)
        counted = min(Fraction(Decimal(raised).quantize(grid, ROUND_HALF_EVEN)), cap)
    return counted if problem.power < 0 else -counted
