"""Random allocation problems of every kind and magnitude, and an oracle of their optima in exact fractions."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any

import gsopt
from gsopt.core.budget import Budget
from gsopt.problems.allocation import Allocation, ElasticJob

#: Ways to draw a value: every magnitude, alone and mixed, with ties, zeros and losses.
_VALUES: dict[str, Callable[[Random], float]] = {
    "integers": lambda random: float(random.randint(-5, 60)),
    "decimals": lambda random: round(random.uniform(-3, 30), random.randint(0, 4)),
    "ties": lambda random: float(random.randint(0, 3)),
    "tiny": lambda random: random.randint(-3, 99) * 1e-9,
    "tiny decimals": lambda random: round(random.uniform(0, 3), 3) * 1e-9,
    "mixed": lambda random: random.choice((1e9, 1e-9, 0.1, 3e-9, 1e9 + 0.5, 0.0)) * random.randint(-1, 3),
    "any floats": lambda random: random.random() * 10.0 ** random.randint(-9, 9),
    "huge": lambda random: random.random() * 1e12,
}

#: GPUs per worker.
_SIZES = ((1,), (3,), (1, 2, 4), (2, 4), (1, 2, 3, 4, 5), (6, 10, 15))


def committed(name: str) -> Allocation:
    """Load a committed instance of this decision."""
    problem = gsopt.load(f"allocation/{name}")
    assert isinstance(problem, Allocation)
    return problem


def tiny(seed: int) -> Allocation:
    """Draw up to five jobs, ranges and menus, with values of one of the magnitudes; some cannot all start."""
    random = Random(seed)
    kind = random.choice(list(_VALUES))
    sizes = random.choice(_SIZES)
    jobs = tuple(
        _tiny_job(random, f"j{index}", kind, random.choice(sizes)) for index in range(random.randint(0, 5))
    )
    return Allocation(
        name=f"{kind}, seed {seed}", capacity=random.randint(0, random.choice((5, 25, 80))), jobs=jobs
    )


def _tiny_job(random: Random, name: str, kind: str, gpus: int) -> ElasticJob:
    least, more = random.randint(1, 4), random.randint(0, 4)
    menu = sorted(random.sample(range(1, 12), more))
    fields: dict[str, Any] = {"counts": menu} if random.random() < 0.4 else {"max_workers": least + more}
    worth, draw = random.choice(("values", "concave", "time_at_min", "remaining_work")), _VALUES[kind]
    if worth in ("values", "concave"):
        drawn = [draw(random) for _ in range(more)]
        gains = accumulate(sorted(map(abs, drawn), reverse=True)) if worth == "concave" else drawn
        fields |= {"values": [min(gain, 1e12) for gain in gains], "time_at_min": 1}
    else:
        fields[worth] = abs(draw(random))
    queued = random.random() < 0.15
    return ElasticJob(name=name, min_workers=least, gpus_per_worker=gpus, queued=queued, **fields)


def medium(seed: int) -> Allocation:
    """Draw up to sixty jobs whose values follow their GPUs in one of the ways that leave a large core."""
    random = Random(seed)
    kind = random.choice(("none", "weak", "weak decimals", "strong", "equal", "three ratios", "proportional"))
    sizes = random.choice(((1,), (1, 2, 4, 8), (3, 5, 7), (2, 6), (1, 3)))
    largest, most = random.choice((10, 50, 200)), random.randint(1, 20)
    jobs = tuple(
        _medium_job(random, f"j{index}", kind, random.choice(sizes), random.randint(1, most), largest)
        for index in range(random.randint(5, 60))
    )
    share = random.choice((0.02, 0.1, 0.3, 0.5, 0.9))
    wanted = sum(job.max_extra * job.gpus_per_worker for job in jobs)
    return Allocation(name=f"{kind}, seed {seed}", capacity=min(int(share * wanted), 20_000), jobs=jobs)


def _medium_job(random: Random, name: str, kind: str, gpus: int, items: int, largest: int) -> ElasticJob:
    counts = sorted(random.sample(range(1, max(largest, items) + 1), items))
    fields: dict[str, Any] = {"name": name, "min_workers": 1, "gpus_per_worker": gpus}
    if kind == "proportional":
        return ElasticJob(
            counts=counts, time_at_min=random.randint(1, 5_000) / random.choice((1, 10)), **fields
        )
    if kind == "strong":
        values = [float(gpus * total + 10 * number) for number, total in enumerate(accumulate(counts), start=1)]
        return ElasticJob(counts=list(accumulate(counts)), values=values, **fields)
    draws: dict[str, Callable[[int], float]] = {
        "none": lambda _: float(random.randint(1, largest * gpus)),
        "weak": lambda weight: float(max(1, weight + random.randint(-5, 5))),
        "weak decimals": lambda weight: round(max(1, weight + random.uniform(-5, 5)), 3),
        "equal": float,
        "three ratios": lambda weight: float(random.choice((1, 2, 3)) * weight),
    }
    return ElasticJob(counts=counts, values=[draws[kind](gpus * count) for count in counts], **fields)


def weakly_correlated(
    jobs: int, workers: int, *, seed: int, sizes: tuple[int, ...] = (1, 2, 4, 8)
) -> Allocation:
    """Return jobs of 1 to so many extra workers, each number worth its GPUs, or up to ten more or less."""
    random = Random(seed)
    drawn = []
    for index in range(jobs):
        gpus, more = random.choice(sizes), random.randint(1, workers)
        values = [float(max(1, gpus * count + random.randint(-10, 10))) for count in range(1, more + 1)]
        drawn.append(
            ElasticJob(
                name=f"j{index}", min_workers=1, max_workers=1 + more, gpus_per_worker=gpus, values=values
            )
        )
    capacity = sum(job.max_extra * job.gpus_per_worker for job in drawn) // 2
    return Allocation(name=f"weakly correlated, {jobs} x {workers}", capacity=capacity, jobs=drawn)


def optimum(problem: Allocation) -> Fraction | None:
    """Find the optimum in fractions, by the best total for every number of GPUs in use; None if there is none.

    Reads the data by itself: floats by the digits they are written in, proportional speed as the difference of
    two running times.
    """
    left = problem.capacity - sum(job.min_workers * job.gpus_per_worker for job in problem.jobs if job.queued)
    if left < 0:
        return None
    best = {0: Fraction(0)}
    for job in problem.jobs:
        after: dict[int, Fraction] = {}
        for extra, value in _table(job):
            for used, total in best.items():
                gpus, sum_ = used + extra * job.gpus_per_worker, total + value
                if gpus <= left and (gpus not in after or sum_ > after[gpus]):
                    after[gpus] = sum_
        best = after
    return max(best.values())


def _table(job: ElasticJob) -> list[tuple[int, Fraction]]:
    if job.counts is None:
        extras = list(range(1, (job.max_workers or 0) - job.min_workers + 1))
    else:
        extras = list(job.counts)
    if job.values is not None:
        return [(0, Fraction(0)), *((w, Fraction(repr(v))) for w, v in zip(extras, job.values, strict=True))]
    if job.remaining_work is not None:
        work = Fraction(repr(job.remaining_work))
    else:
        work = Fraction(repr(job.time_at_min)) * job.min_workers
    return [(w, work / job.min_workers - work / (job.min_workers + w)) for w in (0, *extras)]


@dataclass(frozen=True, kw_only=True)
class Impatient(Budget):
    """A budget that passes when it has been looked at so many times."""

    looks: list[int]

    @property
    def passed(self) -> bool:
        """Count down, and tell whether nothing is left."""
        self.looks[0] -= 1
        return self.looks[0] < 0
