"""Tiny problems of colocation."""

from random import Random

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.colocation import Colocation
from tests.exactness import colocation


def tiny(seed: int) -> Colocation:
    """Draw up to four running and four pending jobs, with numbers that are hard on floats."""
    return colocation.draw(Random(f"tiny {seed}"))


def committed(name: str = "small") -> list[Colocation]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"colocation/{name}")]
    return [problem for problem in found if isinstance(problem, Colocation)]


def small(name: str) -> Colocation:
    """Load a committed small instance."""
    return next(problem for problem in committed() if problem.name == f"colocation/small/{name}")
