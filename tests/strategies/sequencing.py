"""Tiny problems of sequencing."""

from random import Random

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.sequencing import Machine, Sequencing, UnitJob
from tests.exactness import sequencing


def tiny(seed: int) -> Sequencing:
    """Draw up to five jobs on up to three machines, with numbers that are hard on floats."""
    return sequencing.draw(Random(f"tiny {seed}"))


def committed(place: str = "small") -> list[Sequencing]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"sequencing/{place}")]
    return [problem for problem in found if isinstance(problem, Sequencing)]


def small(name: str) -> Sequencing:
    """Load a committed small instance."""
    return next(problem for problem in committed() if problem.name == f"sequencing/small/{name}")


def alike(*seconds: float, machines: int = 1, available: float = 0.0) -> Sequencing:
    """Return jobs a, b, ... by their seconds on machines of one type."""
    return Sequencing(
        machines=[Machine(name=f"m{i}", gpu_type="v100", available=available) for i in range(machines)],
        jobs=[
            UnitJob(name=name, seconds={"v100": each}) for name, each in zip("abcdefgh", seconds, strict=False)
        ],
    )
