"""Allocation: random elastic jobs, and the most valuable choice of extra workers by trying all of them."""

from fractions import Fraction
from itertools import product
from random import Random

from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from tests.exactness.numbers import FAMILIES, Draw, exactly


def draw(random: Random) -> Allocation:
    """Draw up to five jobs of up to five extra workers, some queued; one in ten cannot start its queue."""
    family = random.choice(list(FAMILIES))
    number = FAMILIES[family](random)
    sizes = random.choice(((1,), (1, 2, 4, 8), (2, 3, 5), (333_333, 500_000, 999_999, 1_000_000)))
    tables = random.choice((0.0, 0.5, 1.0))
    jobs = [
        _job(random, f"j{index}", random.choice(sizes), number, random.random() < tables)
        for index in range(random.randint(0, 5))
    ]
    started = sum(job.base_gpus for job in jobs if job.queued)
    most = sum(job.max_extra * job.gpus_per_worker for job in jobs)
    fits = random.random() < 0.9 or not started
    capacity = started + random.randint(0, most + 1) if fits else random.randrange(started)
    return Allocation(name=family, capacity=capacity, jobs=jobs)


def _job(random: Random, name: str, gpus: int, number: Draw, has_table: bool) -> ElasticJob:
    least = random.randint(1, 4)
    extra = random.choice((0, 1, 2, 3, 5))
    queued = random.random() < 0.2
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
        max_workers=least + extra,
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
    best = Fraction(0)
    worth = [[_worth(job, extra) for extra in range(_most(job) + 1)] for job in problem.jobs]
    for choice in product(*(range(len(table)) for table in worth)):
        used = sum(extra * job.gpus_per_worker for extra, job in zip(choice, problem.jobs, strict=True))
        if used <= remaining:
            best = max(best, sum((t[e] for t, e in zip(worth, choice, strict=True)), Fraction(0)))
    return best


def value(problem: Allocation, solution: AllocationSolution) -> Fraction | None:
    """Give by how much running times fall; None when a rule is broken."""
    jobs = {job.name: job for job in problem.jobs}
    if any(name not in jobs or not 0 <= extra <= _most(jobs[name]) for name, extra in solution.extra.items()):
        return None
    used = sum(extra * jobs[name].gpus_per_worker for name, extra in solution.extra.items())
    if used > _remaining(problem):
        return None
    return sum((_worth(jobs[name], extra) for name, extra in solution.extra.items()), Fraction(0))


def _most(job: ElasticJob) -> int:
    return job.max_workers - job.min_workers


def _remaining(problem: Allocation) -> int:
    queued = sum(job.min_workers * job.gpus_per_worker for job in problem.jobs if job.queued)
    return problem.capacity - queued


def _worth(job: ElasticJob, extra: int) -> Fraction:
    if extra == 0:
        return Fraction(0)
    if job.values is not None:
        return exactly(job.values[extra - 1])
    if job.remaining_work is not None:
        work = exactly(job.remaining_work)
    else:
        work = exactly(job.time_at_min or 0.0) * job.min_workers
    return work / job.min_workers - work / (job.min_workers + extra)
