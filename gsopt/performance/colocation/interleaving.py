"""Interleaving: jobs that take turns in using disk, CPU, GPU and network within each iteration."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Number


def cycle(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the shortest time in which the jobs of a group, taking turns, complete one iteration each.

    The time is in seconds. `stages` contains the seconds for which each job needs each resource in an
    iteration. An iteration uses each resource once, always in the same cyclic order, but may start with any
    resource. In each phase of the cycle every job uses a different resource, and all wait for the slowest job
    before the next phase. Source: Muri (SIGCOMM 2022). Complexity: O(k!) for k resources.
    """
    resources = len(stages[0]) if stages else 0
    is_group = 1 <= len(stages) <= resources
    require(is_group, "stages", stages, "must hold 1 job, and at most as many as resources")
    for job, own in enumerate(stages):
        require(len(own) == resources, f"stages[{job}]", own, f"must hold {resources} resources")
        require(all(seconds >= 0 for seconds in own), f"stages[{job}]", own, "must be seconds, at least 0")
    return min(
        sum(max(own[(part + shift) % resources] for own, shift in pairs) for part in range(resources))
        for shifts in permutations(range(1, resources), len(stages) - 1)
        for pairs in [list(zip(stages, (0, *shifts), strict=True))]
    )


def interleaved(stages: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Return the slowdowns of all pairs of interleaved models, for `gsopt.scenario.speed.Speed.interference`.

    `stages` contains the seconds for which each model needs each resource in an iteration. The slowdown of a
    model is the cycle time of the pair relative to the model's own iteration. Groups of three or more may be
    slower than their pairs suggest, as the cycle of a group is at least as long as that of each pair in it.
    """
    for model, own in stages.items():
        require(sum(own) > 0, f"stages[{model!r}]", own, "must be seconds that are not all 0")
    return {
        model: {other: float(cycle([own, its]) / sum(own)) for other, its in stages.items()}
        for model, own in stages.items()
    }
