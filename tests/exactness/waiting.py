"""Waiting: a few random jobs, and the best schedule by putting them on every set of GPUs in every order."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import ceil
from random import Random

from gsopt.cluster import Cluster, Machine, Rack
from gsopt.job import Job
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.speed import TIER_PENALTIES, TierPenalty
from tests.exactness.numbers import exactly

#: GPUs of the machines of each rack.
_CLUSTERS = (
    ((2, 2),),
    ((2,), (2,)),
    ((1, 2), (2,)),
    ((2, 1), (1,)),
    ((3,), (1,)),
    ((4,),),
    ((1,), (1,), (1,)),
)


def draw(random: Random) -> Waiting:
    """Draw up to three jobs; some all at once, some on a clock since 1970, some in slots, some of 0 penalty."""
    scale = random.choice((1.0, 1.0, 0.001, 1e4))
    epoch = random.choice((0.0, 0.0, 1.7e9 + round(random.random(), 2))) if scale >= 1 else 0.0
    staggered, number = random.random() < 0.5, random.choice((1, 2, 3, 3))
    racks = random.choice(_CLUSTERS)
    penalties = random.choice((dict(TIER_PENALTIES), _made_up(random)))
    jobs = [
        Job(
            name=f"j{index}",
            release_date=epoch + staggered * scale * random.randint(0, 20),
            duration=scale * random.randint(1, 15),
            gpus=random.randint(1, min(4, sum(map(sum, racks)))),
            model=random.choice([*penalties, "unknown"]),
        )
        for index in range(number)
    ]
    return Waiting(
        name=f"{number} jobs{', staggered' * staggered}{', epoch' * (epoch > 0)}",
        cluster=Cluster(
            racks=[
                Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=g) for m, g in enumerate(rack)])
                for r, rack in enumerate(racks)
            ]
        ),
        jobs=jobs,
        penalties=penalties,
        minimize=random.choice(("mean_jct", "makespan")),
        slot=random.choice((None, None, scale)),
    )


def _made_up(random: Random) -> dict[str, TierPenalty]:
    machine, rack, network = sorted(random.choice((0.0, 0.25, 0.5, 1.0, 9.0)) for _ in range(3))
    return {"made up": TierPenalty(machine=machine, rack=rack, network=network)}


def optimum(problem: Waiting) -> Fraction:
    """Find the least value of all orders and GPUs, each job as early as its GPUs allow."""
    return min(
        _value(problem, ends)
        for order in permutations(problem.jobs)
        for ends in _ends(problem, list(order), {}, {})
    )


def value(problem: Waiting, solution: WaitingSolution) -> Fraction | None:
    """Give the value; None when a job does not run once, or too early, or with another on a GPU."""
    if sorted(run.job for run in solution.runs) != sorted(job.name for job in problem.jobs):
        return None
    jobs = {job.name: job for job in problem.jobs}
    spans = []
    for run in solution.runs:
        job, start = jobs[run.job], exactly(run.start)
        if start < exactly(job.release_date) or len(set(run.gpus)) != job.gpus:
            return None
        spans.append((start, start + _seconds(problem, job, run.gpus), set(run.gpus)))
    for (start, end, gpus), (other_start, other_end, others) in combinations(spans, 2):
        if gpus & others and start < other_end and other_start < end:
            return None
    ends = {run.job: end for run, (_, end, _) in zip(solution.runs, spans, strict=True)}
    return _value(problem, ends)


def _ends(
    problem: Waiting, jobs: list[Job], free: dict[int, Fraction], ends: dict[str, Fraction]
) -> Iterator[dict[str, Fraction]]:
    """Put the jobs behind what is on the GPUs already, in their order."""
    if not jobs:
        yield ends
        return
    first, *others = jobs
    for gpus in combinations(range(problem.cluster.gpus), first.gpus):
        start = max([exactly(first.release_date), *(free[gpu] for gpu in gpus if gpu in free)])
        end = start + _seconds(problem, first, gpus)
        yield from _ends(problem, others, free | dict.fromkeys(gpus, end), ends | {first.name: end})


def _seconds(problem: Waiting, job: Job, gpus: Sequence[int]) -> Fraction:
    """Give the run time on GPUs, found in the racks one by one."""
    places = [
        (rack.name, machine.name)
        for rack in problem.cluster.racks
        for machine in rack.machines
        for _ in range(machine.gpus)
    ]
    held = {places[gpu] for gpu in gpus}
    penalty = Fraction(0)
    if job.gpus > 1 and job.model in problem.penalties:
        own = problem.penalties[job.model]
        racks = {rack for rack, _ in held}
        penalty = exactly(own.machine if len(held) == 1 else own.rack if len(racks) == 1 else own.network)
    seconds = exactly(job.duration) * (1 + penalty)
    if problem.slot is None:
        return seconds
    slot = exactly(problem.slot)
    return ceil(seconds / slot) * slot


def _value(problem: Waiting, ends: dict[str, Fraction]) -> Fraction:
    releases = {job.name: exactly(job.release_date) for job in problem.jobs}
    if problem.minimize == "makespan":
        return max(ends.values()) - min(releases.values())
    return sum((ends[name] - releases[name] for name in releases), Fraction(0)) / len(releases)
