"""Layout: numbers of GPUs for a schedule that only says how many GPUs each start takes of which class."""

from collections.abc import Iterable

import numpy as np

from formulations.sharing.jobs import Units
from formulations.sharing.search import Found
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import Run


def laid_out(problem: Sharing, units: Units, found: Found) -> SharingSolution:
    """Give the schedule that a search has found: each start takes the GPUs of lowest number of each class."""
    users: list[set[int]] = [set() for _ in range(problem.gpus)]
    runs = []
    for job in np.lexsort((np.arange(len(found.start)), found.start)):
        now = found.start[job]
        for own in users:
            own -= {user for user in own if found.end[user] <= now}
        chosen: list[int] = []
        for other, count in enumerate(found.taken[job]):
            if count:
                holders = set() if other == len(found.start) else {other}
                chosen += _first(count, (gpu for gpu, own in enumerate(users) if own == holders))
        for gpu in chosen:
            users[gpu].add(int(job))
        name = problem.jobs[units.order[job]].name
        runs.append(Run(job=name, start=units.seconds(now), gpus=sorted(chosen)))
    return SharingSolution(runs=runs)


def _first(count: int, gpus: Iterable[int]) -> list[int]:
    return [gpu for gpu, _ in zip(gpus, range(count), strict=False)]
