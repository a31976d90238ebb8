"""Assignment: the machines and positions of single-GPU jobs that minimize their mean completion time.

The k-th-to-last job on a machine delays k jobs, including itself, so its duration counts k times. Each job also
waits until the machine is free. Finding the best sequences is therefore an assignment of jobs to positions,
counted from the end. `sequence` computes costs in double precision.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def sequence(seconds: Reals, available: Reals | None = None) -> list[list[int]]:
    """Return the jobs of each machine, assigned and ordered so that the total completion time is minimal.

    Jobs are assigned to positions, which are counted from the end of each machine's sequence.

    Complexity: O(n^2 m K) for n jobs on m machines with K positions each. K is about 2 n / m at first, and is
    doubled, up to n, until the result is proven optimal.

    Source: AlloX (EuroSys 2020), section 4.2, which states the assignment problem; D. Crouse, On implementing
    2D rectangular assignment algorithms (2016), whose algorithm scipy implements.

    Parameters
    ----------
    seconds
        Duration of each job on each machine, shape (jobs, machines), or infinity if the job cannot run there.
        Each job must be able to run on some machine.
    available
        Seconds until each machine is free, shape (machines,). None if all machines are free.

    Examples
    --------
    >>> sequence(np.array([[10.0, 20.0], [30.0, 40.0], [12.0, np.inf]]))
    [[0, 2], [1]]
    """
    from scipy.optimize import linear_sum_assignment

    jobs, machines = seconds.shape
    if not jobs:
        return [[] for _ in range(machines)]
    depth = min(jobs, 2 * -(-jobs // machines) + 1)
    offset = np.zeros(machines) if available is None else available
    while True:
        costs = positions(seconds, offset, depth)
        try:
            _, columns = linear_sum_assignment(costs)
        except ValueError:  # jobs that run on few machines have too few positions there
            if depth == jobs:
                raise
        else:
            if depth == jobs or (columns < (depth - 1) * machines).all():
                return orders(columns.tolist(), machines)
        depth = min(jobs, 2 * depth)


def positions(seconds: NDArray[Any], available: NDArray[Any], depth: int) -> NDArray[Any]:
    """Return the cost of each job in each position, counted from the end of a machine's sequence.

    In the k-th position, the cost is k times the job's duration, plus the time until the machine is free. The
    first columns are the last positions of all machines, followed by the second-to-last positions, and so on.
    `depth` is the number of positions on each machine.

    Examples
    --------
    >>> positions(np.array([[3, 5]]), np.array([0, 1]), 2)
    array([[ 3,  6,  6, 11]])
    """
    return np.hstack([place * seconds + available for place in range(1, depth + 1)])


def orders(columns: list[int], machines: int) -> list[list[int]]:
    """Return the job sequence of each machine, given each job's column in the costs of `positions`.

    Examples
    --------
    >>> orders([0, 4, 2], 2)
    [[1, 2, 0], []]
    """
    found: list[list[int]] = [[] for _ in range(machines)]
    for job in sorted(range(len(columns)), key=columns.__getitem__, reverse=True):
        found[columns[job] % machines].append(job)
    return found


def shorter_first(
    orders: list[list[int]], seconds: Reals, available: Reals, kinds: Sequence[str]
) -> list[list[int]]:
    """Start shorter jobs earlier, without changing the total completion time of optimal sequences.

    On machines of the same type, jobs in positions equally far from the end of their sequences can be exchanged
    without changing the total. If these sequences are optimal, no job is longer than one that is nearer to the
    end. The jobs on these machines are therefore sorted by duration, then by index. They fill the positions in
    order, beginning with those furthest from the end; among positions equally far from the end, the one that
    starts earliest comes first.

    Parameters
    ----------
    orders
        The jobs of each machine.
    seconds, available
        As in `sequence`, but `available` must not be None.
    kinds
        The type of each machine. On all machines of a type, a job must have the same duration.

    Examples
    --------
    >>> shorter_first([[0, 2], [1]], np.array([[1.0] * 2, [3.0] * 2, [2.0] * 2]), np.zeros(2), ["v100"] * 2)
    [[0, 1], [2]]
    """
    settled: list[list[int]] = [[] for _ in orders]
    free = available.copy()
    for kind in dict.fromkeys(kinds):
        alike = [machine for machine, own in enumerate(kinds) if own == kind]
        jobs = sorted(
            (job for machine in alike for job in orders[machine]), key=lambda job: (seconds[job, alike[0]], job)
        )
        ahead = iter(jobs)
        for place in range(max(len(orders[machine]) for machine in alike), 0, -1):
            there = [machine for machine in alike if len(orders[machine]) >= place]
            for machine in sorted(there, key=lambda each: (free[each], each)):
                job = next(ahead)
                settled[machine].append(job)
                free[machine] += seconds[job, machine]
    return settled
