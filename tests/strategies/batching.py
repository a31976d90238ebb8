"""Tiny problems of batching."""

from random import Random

from gsopt.problems.batching import Batching
from tests.exactness import batching


def tiny(seed: int) -> Batching:
    """Draw up to four jobs on up to seven GPUs, with numbers that are hard on floats."""
    return batching.draw(Random(f"tiny {seed}"))
