"""Tiny problems of batching."""

from random import Random
from typing import Literal

from gsopt.problems.batching import Batching
from tests.exactness import batching

#: What may count.
CRITERIA: tuple[Literal["sruf", "rate", "sum_time"], ...] = ("sruf", "rate", "sum_time")


def tiny(seed: int) -> Batching:
    """Draw up to four jobs on up to five GPUs, with numbers that are hard on floats."""
    return batching.draw(Random(f"tiny {seed}"))
