"""Tiny problems of batching."""

from math import inf
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gsopt.core.result import Result
from gsopt.evaluation.catalogue import load, names
from gsopt.performance.batching import BatchingJob, StepTime
from gsopt.problems.batching import Batches, Batching
from tests.exactness import batching

#: What may count.
CRITERIA: tuple[Literal["sruf", "rate", "sum_time"], ...] = ("sruf", "rate", "sum_time")


def tiny(seed: int) -> Batching:
    """Draw up to four jobs on up to five GPUs, with numbers that are hard on floats."""
    return batching.draw(Random(f"tiny {seed}"))


def committed(name: str = "small") -> list[Batching]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"batching/{name}")]
    return [problem for problem in found if isinstance(problem, Batching)]


def small(name: str) -> Batching:
    """Load a committed small instance."""
    return next(problem for problem in committed() if problem.name == f"batching/small/{name}")


def linear(name: str, cap: int, remaining: float, min_gpus: int = 1) -> BatchingJob:
    """Return a job whose speed is its GPUs, up to a cap."""
    return BatchingJob(
        name=name,
        batch_limit=cap,
        local_limit=1,
        throughput=StepTime(fixed=0, per_sample=1),
        remaining=remaining,
        min_gpus=min_gpus,
    )


#: Three jobs of linear speed.
THREE = (linear("long", 6, 100), linear("short", 2, 10), linear("middle", 6, 40))


def gpus_of(result: Result[Batches]) -> dict[str, int]:
    """Return the GPUs of each running job."""
    assert result.solution is not None
    return {name: grant.gpus for name, grant in result.solution.running.items()}


def drawn_costs(random: np.random.Generator) -> tuple[NDArray[np.float64], int]:
    """Draw costs of up to four jobs on up to five GPUs each, many of them equal, and GPUs to divide."""
    jobs, width = random.integers(0, 5), random.integers(0, 6)
    kind = random.integers(3)
    costs = random.integers(-3, 6, (jobs, width + 1)).astype(float)
    if kind:
        costs = random.normal(size=(jobs, width + 1)) * 10.0 ** random.integers(-3, 4)
    costs[random.random(costs.shape) < 0.2] = inf
    costs[:, 0] = 0 if kind == 2 else costs[:, 0]
    return costs, int(random.integers(0, 9))
