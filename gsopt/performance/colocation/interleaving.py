"""Interleaving: jobs that take turns with what their iterations need, such as disk, CPU, GPU and network."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import Number


def cycle(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the least seconds in which all jobs of a group do one iteration, each with one resource at a time.

    An iteration uses each resource once, always in the same order, and begins with any. In each part of the
    cycle every job has another resource, and all wait for the slowest before they change over. Source: Muri
    (SIGCOMM 2022). O(k!) for k resources.

    Parameters
    ----------
    stages
        Seconds that each job of the group needs each resource in one iteration, at least 0; one job at least,
        and no more than there are resources.
    """
    resources = len(stages[0]) if stages else 0
    if not 1 <= len(stages) <= resources:
        raise InvalidInput("", "stages", shorten(stages), "must hold 1 job, and at most as many as resources")
    for job, own in enumerate(stages):
        if len(own) != resources:
            raise InvalidInput("", f"stages[{job}]", shorten(own), f"must hold {resources} resources")
        if not all(seconds >= 0 for seconds in own):
            raise InvalidInput("", f"stages[{job}]", shorten(own), "must be seconds, at least 0")
    first, *rest = stages
    return min(
        sum(
            max(
                first[part], *(own[(part + shift) % resources] for own, shift in zip(rest, shifts, strict=True))
            )
            if rest
            else first[part]
            for part in range(resources)
        )
        for shifts in permutations(range(1, resources), len(rest))
    )


def interleaved(stages: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Find the slowdowns of all pairs of models that interleave, for `gsopt.scenario.speed.Speed.interference`.

    A model is slowed down from its own iteration to the cycle of the pair. A group of three or more is slower
    than its pairs say: no pair of it has a longer cycle.

    Parameters
    ----------
    stages
        Seconds that each model needs each resource in one iteration, not all 0.
    """
    for model, own in stages.items():
        if not sum(own) > 0:
            raise InvalidInput("", f"stages[{model!r}]", shorten(own), "must be seconds that are not all 0")
    return {
        model: {other: float(cycle([own, its]) / sum(own)) for other, its in stages.items()}
        for model, own in stages.items()
    }
