"""Genome: the operators of ONES' search on one genome, a list with the job of each GPU.

These are the plain versions for DEAP; `rows` applies the same operators to many genomes at once. They modify
the given genome in place.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop
from math import inf
from random import Random

from heuristics.batching.evolution.settings import PackOrder, Preempts, ScaleDown

#: Marks an idle GPU in a genome.
IDLE = -1

Genome = list[int]

#: The cost of each job on 0, 1, ... GPUs.
Costs = Sequence[Sequence[float]]


def counts_of(genome: Sequence[int], jobs: int) -> list[int]:
    """Return the number of GPUs of each job."""
    counts = [0] * jobs
    for job in genome:
        if job != IDLE:
            counts[job] += 1
    return counts


def score(genome: Sequence[int], costs: Costs, target: int = 0) -> float:
    """Return the total cost of all jobs (Algorithm 1, line 5).

    The cost is infinite if fewer GPUs than `target` are used.
    """
    counts = counts_of(genome, len(costs))
    if sum(counts) < target:
        return inf
    return sum([row[count] for row, count in zip(costs, counts, strict=True)])


def keep(genome: Genome, most: Sequence[int]) -> None:
    """Limit the GPUs of each job to `most` by taking its last GPUs."""
    seen = [0] * len(most)
    for place, job in enumerate(genome):
        if job != IDLE:
            seen[job] += 1
            if seen[job] > most[job]:
                genome[place] = IDLE


def trim(genome: Genome, lower: Sequence[Sequence[int]]) -> None:
    """Take GPUs from each job until it can run on those that it keeps; `lower` is that of `CostTable`."""
    counts = counts_of(genome, len(lower))
    most = [row[count] for row, count in zip(lower, counts, strict=True)]
    if most != counts:
        keep(genome, most)


def kept_gpus(gpus: int, batch: int, limit: int, local: int, how: ScaleDown) -> int:
    """Return how many GPUs a job keeps when its batch limit falls (section 3.2.2, Refresh, 2).

    `local` is the largest batch size per GPU; `how` is explained in `Settings.scale_down`.
    """
    if batch <= limit:
        return gpus
    if how == "widest":
        return min(gpus, -(-limit // local))
    kept = limit * gpus // batch
    return max(kept, 1) if how == "at least one" else kept


def admit(genome: Genome, least: Sequence[int], victims: Sequence[int]) -> None:
    """Grant each job the GPUs that it must have but lacks (section 3.2.2, Refresh, 3).

    Idle GPUs are used first, then the GPUs of the `victims` in the given order, each victim's last GPU first.
    Victims keep the GPUs that they must have.
    """
    counts = counts_of(genome, len(least))
    wanted = [job for job, number in enumerate(least) for _ in range(number - counts[job])]
    if not wanted:
        return
    rank = {job: place for place, job in enumerate(victims)} | {IDLE: -1}
    free = []
    seen = [0] * len(least)
    for place, job in enumerate(genome):
        if job == IDLE or seen[job] >= least[job]:
            free.append((rank[job], place if job == IDLE else -place))
        if job != IDLE:
            seen[job] += 1
    free.sort()
    for (_, place), job in zip(free, wanted, strict=False):
        genome[abs(place)] = job


def fill(
    genome: Genome,
    lower: Sequence[Sequence[int]],
    costs: Costs,
    redraw: Callable[[], Costs] | None = None,
) -> None:
    """Grant idle GPUs to the jobs whose costs rise the least, up to their caps.

    Source: ONES, section 3.2.2, Refresh; Figure 7.

    The job whose cost rises the least (or falls the most) between its current GPUs and its cap is selected. It
    gets GPUs up to its cap, or as many of the remaining GPUs as it can use. Then the next job is selected, by
    newly drawn costs if `redraw` is given.
    """
    idle = [place for place, job in enumerate(genome) if job == IDLE]
    if not idle:
        return
    counts = counts_of(genome, len(lower))
    cap = [row[-1] for row in lower]
    candidates = _by_gain(range(len(cap)), counts, cap, costs)
    given = 0
    while candidates and given < len(idle):
        _, job = heappop(candidates)
        reached = lower[job][min(cap[job], counts[job] + len(idle) - given)]
        taken = idle[given : given + reached - counts[job]]
        for place in taken:
            genome[place] = job
        given += len(taken)
        if redraw is not None and given < len(idle):
            candidates = _by_gain([other for _, other in candidates], counts, cap, redraw())


def _by_gain(
    jobs: Sequence[int], counts: Sequence[int], cap: Sequence[int], costs: Costs
) -> list[tuple[float, int]]:
    gains = [(costs[job][cap[job]] - costs[job][counts[job]], job) for job in jobs if counts[job] < cap[job]]
    heapify(gains)
    return gains


def reorder(genome: Genome, pack: PackOrder = "first") -> None:
    """Put the workers of each job next to each other, in the order in which the jobs first (or last) appear.

    Source: ONES, section 3.2.2, Reorder; Figure 10.

    The figure packs 312221 into 322211, which is the order of last appearances.
    """
    order = dict.fromkeys(genome)
    if pack == "last":
        order = dict.fromkeys(reversed(list(dict.fromkeys(reversed(genome)))))
    order.pop(IDLE, None)  # idle GPUs come last
    packed = [job for job in (*order, IDLE) for _ in range(genome.count(job))]
    genome[:] = packed


def crossover(first: Genome, second: Genome, random: Random) -> None:
    """Exchange the jobs of two genomes on each GPU with probability 1/2.

    Source: ONES, section 3.2.2, Uniform crossover; Figure 8.
    """
    for place in range(len(first)):
        if random.random() < _HALF:
            first[place], second[place] = second[place], first[place]


def preempt(genome: Genome, rate: float, random: Random, what: Preempts = "jobs") -> None:
    """Preempt each job, or each worker, with a given probability.

    Source: ONES, section 3.2.2, Uniform mutation; Figure 9.
    """
    if what == "workers":
        genome[:] = [IDLE if random.random() < rate else job for job in genome]
        return
    stays = {job: random.random() >= rate for job in dict.fromkeys(genome)}
    genome[:] = [job if stays[job] else IDLE for job in genome]


_HALF = 0.5
