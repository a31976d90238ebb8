"""Interleaving: jobs that take turns in using disk, CPU, GPU and network within each iteration."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement, permutations
from typing import Any

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Number


def cycle(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the shortest time in seconds in which jobs that take turns complete one iteration each.

    `stages` contains the seconds for which each job needs each resource in an iteration. An iteration uses each
    resource once, always in the same cyclic order, but may start with any resource. In each phase of the cycle,
    every job uses a different resource, and all jobs wait for the slowest one before the next phase. Source:
    Muri (SIGCOMM 2022). Complexity: O(k k!) for k resources.
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
    model is the cycle time of the pair divided by the duration of the model's own iteration. Groups of three or
    more models may be slower than their pairs suggest, because the cycle of a group is at least as long as that
    of each pair in it.
    """
    for model, own in stages.items():
        require(sum(own) > 0, f"stages[{model!r}]", own, "must be seconds that are not all 0")
    return {
        model: {other: float(cycle([own, its]) / sum(own)) for other, its in stages.items()}
        for model, own in stages.items()
    }


#: Number of parts in a cycle of `pipelined`, and number of parts that are simulated; only the last four count.
_PARTS, _FOLLOWED = 4, 8


def pipelined(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the shortest cycle in seconds of up to four jobs with input, GPU and network stages.

    A cycle has four parts. The input stage of a job may take two of them, and its GPU and network stages take
    one part each. Two jobs may also alternate between the input of one job and the rest of the other. All
    orders of the jobs are compared. Source: the simulator published by the authors of Muri.
    """
    require(1 <= len(stages) <= _PARTS, "stages", stages, "must hold 1 to 4 jobs")
    for job, own in enumerate(stages):
        require(len(own) == _PARTS - 1, f"stages[{job}]", own, "must hold seconds of input, GPU and network")
    if len(stages) == 1:
        return sum(stages[0])
    cycles = [_repeated(order) for order in permutations(stages)]
    if len(stages) == 2:  # noqa: PLR2004
        (one, *rest), (other, *its) = stages
        cycles.append(max(one, sum(its)) + max(other, sum(rest)))
    return min(cycles)


def _repeated(order: Sequence[Sequence[Number]]) -> Any:
    """Return the duration in seconds of the second of two cycles, where job m is m parts behind."""
    ends: list[Any] = [0]
    for part in range(_FOLLOWED):
        network, gpu, given = (dict(enumerate(order)).get((part + shift) % _PARTS) for shift in (1, 2, 3))
        times = [ends[-1] + own[stage] for own, stage in ((network, 2), (gpu, 1)) if own]
        times += [ends[-2] + given[0]] if given and part else []
        ends.append(max(times, default=0))
    return ends[_FOLLOWED] - ends[_FOLLOWED - _PARTS]


def grouped(
    stages: Mapping[str, Sequence[float]],
    alone: Mapping[str, float],
    *,
    most: int = 4,
    crowding: Sequence[float] = (),
    cycle_of: Callable[[Sequence[Sequence[float]]], Any] = cycle,
) -> dict[str, dict[str, float]]:
    """Return the slowdowns in all groups of at most `most` interleaved models, for `Speed.groups`.

    The slowdown of a model is the cycle time of its group divided by the duration of its iteration alone, but
    at least 1.

    Parameters
    ----------
    stages
        Seconds for which each model needs each resource in an iteration.
    alone
        Duration of an iteration of each model alone, in seconds.
    most
        Largest number of jobs in a group; at least 2.
    crowding
        Factors by which cycles of two jobs, three jobs, and so on are longer than computed; 1 for missing ones.
    cycle_of
        The function that computes the cycle of a group: `cycle` or `pipelined`.

    Examples
    --------
    >>> stages = {"disk": (3.0, 1.0), "gpu": (1.0, 3.0)}
    >>> grouped(stages, {"disk": 4.0, "gpu": 4.0}, most=2)["disk"]
    {'disk': 1.5, 'gpu': 1.0}
    """
    found: dict[str, dict[str, float]] = {model: {} for model in stages}
    for size in range(2, most + 1):
        longer = crowding[size - 2] if size - 2 < len(crowding) else 1.0
        for models in combinations_with_replacement(sorted(stages), size):
            seconds = float(cycle_of([stages[model] for model in models])) * longer
            for model in set(models):
                others = list(models)
                others.remove(model)
                found[model][" + ".join(others)] = max(1.0, seconds / alone[model])
    return found
