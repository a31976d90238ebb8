"""Batches: the optimum of jobs that are released together and speed up alike, from its definition.

Number the jobs by descending size, x_1 >= x_2 >= ..., and let s(g) be the common speed on g GPUs, concave with
s(0) = 0. The least sum of completion times is a_1 x_1 + ... + a_n x_n, where no a_k depends on the sizes: while
k jobs are left, the sum grows by k a second, and the best division of the GPUs removes k a second from what is
still to be paid. So a_k is the number for which ::

    max { a_1 s(g_1) + ... + a_k s(g_k) : g_1 + ... + g_k <= gpus } = k

Proof. The a_k do not decrease, as s is concave, and so V = a_1 x_1 + ... + a_n x_n, with x in descending order,
is the least of such sums over all orders. Under any schedule V therefore falls by at most k a second while k
jobs are left, and integrating this shows that no schedule costs less than V. The division that attains the
maximum gives no fewer GPUs to a smaller job, which keeps the jobs in order, so that V falls by exactly k.

The proof holds for whole and for divisible GPUs alike. For divisible GPUs and s(g) = g ** p, the solution is
heSRPT [1]_; for other concave functions it is the setting of SmartFill [2]_, whose rule of constant derivative
ratios says how the maximum is attained: a_i s'(g_i) is the same for all jobs that have GPUs.

References
----------
.. [1] B. Berg, R. Vesilo and M. Harchol-Balter, heSRPT: Parallel scheduling to minimize mean slowdown,
   Performance Evaluation, 2020.
.. [2] C. Li, P. Ju, A. Eryilmaz and N. Shroff, Optimal parallel scheduling under concave speedup functions,
   arXiv:2509.01811, 2025.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random
from typing import NamedTuple

from gsopt.core.numbers.grid import decimal
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario

#: How many orders of magnitude lie between the smallest and the largest job; with 0, all are equal.
_SPANS = (0, 1, 3, 6)


class Batch(NamedTuple):
    """Jobs that are released together, with the speed of each on 1, 2, ... GPUs: powers of the number."""

    exponent: float
    speeds: tuple[float, ...]
    sizes: tuple[float, ...]

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return len(self.speeds)

    @property
    def scenario(self) -> Scenario:
        """The batch as a scenario."""
        menu = list(enumerate(self.speeds, start=1))
        jobs = [
            Job(name=f"j{index}", release_date=0, duration=size, gpus=1, menu=menu)
            for index, size in enumerate(self.sizes)
        ]
        return Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(self.gpus))

    @property
    def problem(self) -> Scheduling:
        """The batch as an instance of the decision."""
        rates = dict(enumerate(self.speeds, start=1))
        jobs = [
            ElasticJob(name=f"j{index}", release=0, work=size, rates=rates)
            for index, size in enumerate(self.sizes)
        ]
        return Scheduling(gpus=self.gpus, jobs=jobs)

    def copied(self, copies: int) -> "Batch":
        """Return copies of the jobs on as many times the GPUs, of which a job can use no more than before."""
        spare = (self.speeds[-1],) * (self.gpus * (copies - 1))
        return Batch(self.exponent, self.speeds + spare, self.sizes * copies)


def draw(random: Random, *, jobs: int = 50, gpus: int = 256) -> Batch:
    """Draw from 2 to `jobs` jobs on 1 to `gpus` GPUs, small numbers of GPUs as often as large ones."""
    exponent = random.uniform(0.1, 0.9)
    number = int((gpus + 1) ** random.random())
    span = random.choice(_SPANS)
    return Batch(
        exponent,
        tuple(count**exponent for count in range(1, number + 1)),
        tuple(10 ** random.uniform(0, span) for _ in range(random.randint(2, jobs))),
    )


def mean(costs: Sequence[Fraction], sizes: Sequence[float]) -> Fraction:
    """Return the least mean completion time, from a_1, a_2, ... and the sizes in any order."""
    ordered = sorted((Fraction(decimal(size)) for size in sizes), reverse=True)
    return sum(map(Fraction.__mul__, costs, ordered), Fraction(0)) / len(sizes)


def whole(speeds: Sequence[float], jobs: int) -> list[Fraction]:
    """Return a_1, a_2, ... on whole GPUs, from the concave speeds on 1, 2, ... GPUs.

    As the speeds are concave, the best division gives each GPU to the largest gain a_i (s(g + 1) - s(g)).
    """
    exact = [Fraction(decimal(speed)) for speed in speeds]
    gains = [more - less for less, more in pairwise([Fraction(0), *exact])]
    costs: list[Fraction] = []
    best: list[Fraction] = []  # gains of the jobs so far, the largest first
    for left in range(1, jobs + 1):
        won = [*accumulate(best, initial=Fraction(0))]
        won += [won[-1]] * (len(exact) + 1 - len(won))
        cost = min((left - rest) / speed for rest, speed in zip(reversed(won[:-1]), exact, strict=True))
        costs.append(cost)
        best = sorted([*best, *(cost * gain for gain in gains)], reverse=True)[: len(exact)]
    return costs


def divisible(exponent: float, gpus: int, jobs: int) -> list[Fraction]:
    """Return a_1, a_2, ... on divisible GPUs with s(g) = g ** exponent, in closed form."""
    power = 1 / (1 - exponent)
    return [
        Fraction((rank**power - (rank - 1) ** power) ** (1 - exponent) / gpus**exponent)
        for rank in range(1, jobs + 1)
    ]


def shares(exponent: float, jobs: int) -> list[float]:
    """Return the shares of the GPUs that heSRPT gives to the largest job, the second largest, and so on."""
    power = 1 / (1 - exponent)
    return [(rank / jobs) ** power - ((rank - 1) / jobs) ** power for rank in range(1, jobs + 1)]


def schedule(batch: Batch) -> SchedulingSolution:
    """Return the schedule in which whole GPUs go to the largest gains, exactly."""
    speeds = [Fraction(decimal(speed)) for speed in batch.speeds]
    costs = whole(batch.speeds, len(batch.sizes))
    runs = []
    left = {f"j{index}": Fraction(decimal(size)) for index, size in enumerate(batch.sizes)}
    now = Fraction(0)
    while left:
        order = sorted(left, key=lambda name: -left[name])
        division, _ = _division(speeds, costs[: len(order)])
        held = {name: count for name, count in zip(order, division, strict=True) if count}
        seconds = min(left[name] / speeds[count - 1] for name, count in held.items())
        for name, count in held.items():
            runs.append(Run(job=name, start=now, end=now + seconds, gpus=count))
            left[name] -= seconds * speeds[count - 1]
        left = {name: work for name, work in left.items() if work}
        now += seconds
    return SchedulingSolution(runs=tuple(runs))


def gpu_prices(batch: Batch) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return when jobs complete under the best schedule, from 0 on, and what one more GPU is worth between."""
    speeds = [Fraction(decimal(speed)) for speed in batch.speeds]
    costs = whole(batch.speeds, len(batch.sizes))
    ends = Counter(run.end for run in _last_runs(schedule(batch)))
    times, prices, left = [0.0], [], len(batch.sizes)
    for end, jobs in sorted(ends.items()):
        _, price = _division(speeds, costs[:left])
        times.append(float(end))
        prices.append(float(price))
        left -= jobs
    return tuple(times), tuple(prices)


def _last_runs(solution: SchedulingSolution) -> Iterable[Run]:
    """Return the run in which each job completes."""
    return {run.job: run for run in sorted(solution.runs, key=lambda run: run.end)}.values()


def _division(speeds: Sequence[Fraction], costs: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Return how many GPUs each job gets, and between what the last GPU gains and what another one would gain.

    GPUs go one by one to the largest gain. Any of equal gains will do, as only jobs of equal cost can then
    change places.
    """
    held = [0] * len(costs)
    gains = [cost * speeds[0] for cost in costs]
    last = Fraction(0)
    for _ in speeds:
        rank = max(range(len(costs)), key=gains.__getitem__)
        last = gains[rank]
        held[rank] += 1
        more = speeds[held[rank]] if held[rank] < len(speeds) else speeds[-1]
        gains[rank] = costs[rank] * (more - speeds[held[rank] - 1])
    return held, (last + max(gains)) / 2


def drawn(seeds: Sequence[int], **most: int) -> Iterator[Batch]:
    """Yield a batch for each seed."""
    return (draw(Random(f"batch {seed}"), **most) for seed in seeds)
