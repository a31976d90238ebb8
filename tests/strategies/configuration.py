"""Tiny problems of configuration."""

from random import Random
from typing import Any

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.configuration import AdaptiveJob, Configuration, ConfigurationSolution, shapes
from tests.exactness import configuration


def tiny(seed: int) -> Configuration:
    """Draw up to four jobs on up to three types, with numbers that are hard on floats."""
    return configuration.draw(Random(f"tiny {seed}"))


def committed(name: str = "small") -> list[Configuration]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"configuration/{name}")]
    return [problem for problem in found if isinstance(problem, Configuration)]


def job(name: str, *goodputs: float | None, **fields: Any) -> AdaptiveJob:
    """Return a job by its goodputs."""
    return AdaptiveJob(name=name, goodputs=goodputs, **fields)


def node(gpus: int, *jobs: AdaptiveJob, **changes: Any) -> Configuration:
    """Return jobs on so many GPUs of nodes of four, of one of which they may have 1, 2 and 4."""
    return Configuration(gpus={"t4": gpus}, configurations=shapes("t4", 1, 4), jobs=jobs, **changes)


def chosen(**places: int) -> ConfigurationSolution:
    """Return a solution by names of jobs."""
    return ConfigurationSolution(configurations=places)
