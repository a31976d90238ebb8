"""Interleaving: jobs that take turns using disk, CPU, GPU and network within each iteration."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement, permutations
from typing import Any

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Number


def cycle(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the least seconds in which the jobs of a group, taking turns, complete one iteration each.

    `stages` contains the seconds for which each job needs each resource in an iteration. An iteration uses each
    resource once, always in the same cyclic order, but may start with any resource. In each phase of the cycle
    every job uses a different resource, and all wait for the slowest job before the next phase. Source: Muri
    (SIGCOMM 2022). Complexity: O(k!) for k resources.
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


#: Number of parts of a cycle of `pipelined`, and number of parts that are simulated; only the last four count.
_PARTS, _FOLLOWED = 4, 8


def pipelined(stages: Sequence[Sequence[Number]]) -> Any:
    """Return the least seconds of a cycle of up to four jobs with input, GPU and network stages.

    A cycle has four parts. The input stage spans two of them and only has to end with the second one. The GPU
    and network stages take one part each. Two jobs may also alternate between the input of one and the rest of
    the other. Source: the simulator that the authors of Muri published. Complexity: O(k!) for k jobs.
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
    """Return the seconds that the second of two cycles takes, where job m is m parts behind."""
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
    """Return the slowdowns of all groups of up to `most` interleaved models, for `Speed.groups`.

    The slowdown of a model is the cycle of its group relative to its iteration alone, at least 1.

    Parameters
    ----------
    stages
        Seconds for which each model needs each resource in an iteration.
    alone
        Seconds of an iteration of each model alone.
    most
        Largest number of jobs in a group; at least 2.
    crowding
        Factors by which cycles of two jobs, three jobs, and so on are longer than computed; 1 if left out.
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
