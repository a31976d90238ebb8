"""Tiny problems of shares."""

from random import Random
from typing import Any

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.shares import Criterion, Shares, TypedJob
from tests.exactness import shares


def tiny(seed: int) -> Shares:
    """Draw up to four jobs on up to three types, with numbers that are hard on floats."""
    return shares.draw(Random(f"tiny {seed}"))


def committed(place: str = "small") -> list[Shares]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"shares/{place}")]
    return [problem for problem in found if isinstance(problem, Shares)]


def small(name: str) -> Shares:
    """Load a committed small instance."""
    return next(problem for problem in committed() if problem.name == f"shares/small/{name}")


def alike(*jobs: dict[str, Any], gpus: int = 1, criterion: Criterion = "max_min") -> Shares:
    """Return jobs a, b, ... on GPUs of one type, at a step per second unless told otherwise."""
    made = [
        TypedJob(**{"name": name, "throughputs": {"v100": 1.0}, **job})
        for name, job in zip("abcdef", jobs, strict=False)
    ]
    return Shares(gpus={"v100": gpus}, jobs=made, criterion=criterion)
