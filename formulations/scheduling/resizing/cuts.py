"""Launch cuts: limits on the joint work of jobs in an interval, from their minimum and maximum GPUs."""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any

from formulations.scheduling.resizing.jobs import Resizable
from gsopt.core.numbers.tolerances import LINEAR_ROWS

#: Maximum number of jobs in the groups that are enumerated.
_LARGEST_GROUP = 3


def cut(model: Any, jobs: Resizable, values: Mapping[str, float]) -> bool:
    """Add the rows of each group of jobs that `values` violate in some interval; return whether any were added.

    Symbols are those of `Resizing`. A group has one row in each interval. The jobs of a group R have at most B
    GPUs in total, the sum of their b_i, which leaves D = C - B. While another job runs on x >= a_j > D GPUs,
    the group has at least x - D fewer GPUs, which is at least (1 - D / a_j) x. So in any interval, the y of R
    plus the (1 - D / a_j) y_j of the other jobs with a_j > D add up to at most B d. This also holds if several
    such jobs run at a time, because they take more GPUs from the group than these reductions add up to.
    """
    if not values:
        return False
    found = False
    for weights, most in groups(jobs):
        rows = [
            (f"{k},{i}", {j: weight for j, weight in weights.items() if j < jobs.there[i]})
            for k, i in jobs.cells
        ]
        if any(
            sum(weight * values[f"y[{j},{cell}]"] for j, weight in here.items())
            > most * values[f"d[{cell}]"] + LINEAR_ROWS
            for cell, here in rows
        ):
            found = True
            for (k, i), (_, here) in zip(jobs.cells, rows, strict=True):
                if here:
                    done = sum(weight * model.y[j, k, i] for j, weight in here.items())
                    model.shared.add(done <= most * model.d[k, i])
    return found


def groups(jobs: Resizable) -> Iterator[tuple[dict[int, float], float]]:
    """Yield, for each group of at most three jobs that restricts others, the weights and the limit of its row.

    The limit is a fraction of all GPUs, and is multiplied by the length of the interval.
    """
    numbers = range(len(jobs))
    for count in range(1, min(len(jobs), _LARGEST_GROUP + 1)):
        for group in combinations(numbers, count):
            left = jobs.gpus - sum(jobs.most[j] for j in group)
            if left > 0:
                others = _others(jobs, group, left)
                if others:
                    yield dict.fromkeys(group, 1.0) | others, (jobs.gpus - left) / jobs.gpus


def _others(jobs: Resizable, group: Collection[int], left: int) -> dict[int, float]:
    """Return the weights of the jobs outside a group that need more GPUs than the group leaves."""
    return {j: 1 - left / jobs.least[j] for j in range(len(jobs)) if j not in group and jobs.least[j] > left}
