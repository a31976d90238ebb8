"""Tiny problems of goodput."""

from random import Random
from typing import Any

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.goodput import Goodput, GoodputJob
from tests.exactness import goodput


def tiny(seed: int) -> Goodput:
    """Draw up to three jobs on up to four nodes, with numbers that are hard on floats."""
    return goodput.draw(Random(f"tiny {seed}"))


def committed(name: str = "small") -> list[Goodput]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"goodput/{name}")]
    return [problem for problem in found if isinstance(problem, Goodput)]


def job(name: str, *rows: list[float], **fields: Any) -> GoodputJob:
    """Return a job by its speed-ups, ten minutes old."""
    return GoodputJob(**{"name": name, "speedups": rows, "age": 600.0, **fields})


#: A job of linear speed on two nodes, which is better off on one.
LINEAR = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5])
