"""Tiny problems of batching."""

from random import Random
from typing import Literal

from gsopt.problems.batching import Batching
from gsopt.studies.catalogue import load, names
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
