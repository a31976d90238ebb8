"""Allocation: random elastic jobs, and the most valuable choice of extra workers by trying all of them."""

from fractions import Fraction
from itertools import product
from random import Random

from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from tests.exactness.numbers import Draw, exactly, numbers

_LARGEST_CAPACITY = 10_000_000  # that the data may state


def draw(random: Random) -> Allocation:
    """Draw up to five jobs of up to five extra workers, some queued; a few cannot start their queue."""
    family, number = numbers(random)
    sizes = random.choice(((1,), (1, 2, 4, 8), (2, 3, 5), (333_333, 500_000, 999_999, 1_000_000)))
    tables = random.choice((0.0, 0.5, 1.0))
    jobs = [
        _job(random, f"j{index}", random.choice(sizes), number, random.random() < tables)
        for index in range(random.randint(0, 5))
    ]
    started = sum(job.min_workers * job.gpus_per_worker for job in jobs if job.queued)
    most = sum(max(_worth(job)) * job.gpus_per_worker for job in jobs)
    fits = random.random() < 0.9 or not started
    capacity = started + random.randint(0, most + 1) if fits else random.randrange(started)
    return Allocation(name=family, capacity=min(capacity, _LARGEST_CAPACITY), jobs=jobs)


def _job(random: Random, name: str, gpus: int, number: Draw, has_table: bool) -> ElasticJob:
    least = random.randint(1, 4)
    extra = random.choice((0, 1, 2, 3, 5))
    queued = random.random() < 0.2
    counts: list[int] | None = None
    if random.random() < 0.3:
        counts = sorted(random.sample(range(1, 10), extra))
    table: list[float] | None = None
    if has_table:
        table = [number() for _ in range(extra)]
        if random.random() < 0.5:
            table.sort()
        if random.random() < 0.2:
            table = [-entry for entry in table]
    total = random.random() < 0.3
    time = number() if table is None or queued else None
    return ElasticJob(
        name=name,
        min_workers=least,
        max_workers=least + extra if counts is None else None,
        counts=counts,
        gpus_per_worker=gpus,
        time_at_min=None if total else time,
        remaining_work=time if total else None,
        values=table,
        queued=queued,
    )


def optimum(problem: Allocation) -> Fraction | None:
    """Try every choice of extra workers; None when the queued jobs cannot all start."""
    remaining = _remaining(problem)
    if remaining < 0:
        return None
    menus = [
        [(extra * job.gpus_per_worker, worth) for extra, worth in _worth(job).items()] for job in problem.jobs
    ]
    fitting = (choice for choice in product(*menus) if sum(gpus for gpus, _ in choice) <= remaining)
    return max(sum((worth for _, worth in choice), Fraction(0)) for choice in fitting)


def value(problem: Allocation, solution: AllocationSolution) -> Fraction | None:
    """Return by how much running times fall; None when a rule is broken."""
    jobs = {job.name: job for job in problem.jobs}
    if any(name not in jobs or extra not in _worth(jobs[name]) for name, extra in solution.extra.items()):
        return None
    used = sum(extra * jobs[name].gpus_per_worker for name, extra in solution.extra.items())
    if used > _remaining(problem):
        return None
    return sum((_worth(jobs[name])[extra] for name, extra in solution.extra.items()), Fraction(0))


def _remaining(problem: Allocation) -> int:
    queued = sum(job.min_workers * job.gpus_per_worker for job in problem.jobs if job.queued)
    return problem.capacity - queued


def _worth(job: ElasticJob) -> dict[int, Fraction]:
    """Return by how much the running time falls with each number of extra workers that is allowed."""
    extras = list(job.counts or ())
    if job.max_workers is not None:
        extras = list(range(1, job.max_workers - job.min_workers + 1))
    if job.values is not None:
        return {0: Fraction(0), **dict(zip(extras, map(exactly, job.values), strict=True))}
    if job.remaining_work is not None:
        work = exactly(job.remaining_work)
    else:
        work = exactly(job.time_at_min or 0.0) * job.min_workers
    return {extra: work / job.min_workers - work / (job.min_workers + extra) for extra in (0, *extras)}
