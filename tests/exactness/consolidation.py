"""Consolidation: random clusters and jobs, and the best placement by trying every spread of every job."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from random import Random
from typing import Literal

from gsopt.cluster import Cluster, Machine, Rack
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.speed import TIER_PENALTIES, TierPenalty
from tests.exactness.numbers import FAMILIES, Draw, exactly

_MAXIMIZE: tuple[Literal["value", "lexicographic", "fragmentation"], ...] = (
    "value",
    "value",
    "lexicographic",
    "fragmentation",
)

#: GPUs of jobs: those that divide each other, and others.
_DEMANDS = ((1, 2, 4), (1, 2, 4, 8), (2, 6), (1, 2, 3, 4, 5, 6), (2, 3), (3, 5))


def draw(random: Random) -> Consolidation:
    """Draw up to three racks of up to three small machines, and up to five jobs.

    Half of the instances have the penalties of Dally's Table I, the others some of their own with ties.
    """
    racks = [
        Rack(
            name=f"r{r}",
            machines=[
                Machine(name=f"m{r}.{m}", gpus=random.choice((1, 2, 3, 4, 4)))
                for m in range(random.randint(1, 3))
            ],
        )
        for r in range(random.choice((1, 2, 2, 3)))
    ]
    cluster = Cluster(racks=racks)
    busy = random.sample(range(cluster.gpus), max(random.randint(0, cluster.gpus), cluster.gpus - 12))
    family = random.choice(list(FAMILIES))
    number = FAMILIES[family](random)
    penalties = dict(TIER_PENALTIES) if random.random() < 0.5 else _penalties(random, number)
    demands = random.choice(_DEMANDS)
    unweighted = random.random() < 0.5
    return Consolidation(
        name=family,
        cluster=cluster,
        busy=sorted(busy),
        jobs=[
            Job(
                name=f"j{index}",
                gpus=random.choice(demands),
                weight=1.0 if unweighted else number(),
                model=random.choice((*penalties, "silent")),
            )
            for index in range(random.randint(0, 5))
        ],
        penalties=penalties,
        maximize=random.choice(_MAXIMIZE),
    )


def _penalties(random: Random, number: Draw) -> dict[str, TierPenalty]:
    found: dict[str, TierPenalty] = {}
    for model in "ab":
        drawn = (
            (number() for _ in range(3))
            if random.random() < 0.5
            else (random.choice((0, 0.1, 9)) for _ in "abc")
        )
        machine, rack, network = sorted(min(each, 1e6) for each in drawn)
        found[model] = TierPenalty(machine=machine, rack=rack, network=network)
    return found


def optimum(problem: Consolidation) -> Fraction:
    """Find the best value over every spread of every job over machines, by what machines have left."""
    rack_of = [rack for rack, each in enumerate(problem.cluster.racks) for _ in each.machines]
    sizes = [machine.gpus for machine in problem.cluster.machines]
    bonus = _bonus(problem)
    whole = _whole_bonus(problem)

    @cache
    def best(job: int, free: tuple[int, ...]) -> Fraction:
        if job == len(problem.jobs):
            return whole * sum(left == size for left, size in zip(free, sizes, strict=True))
        found = best(job + 1, free)
        for spread in set(_spreads(problem.jobs[job].gpus, free)):
            machines = [m for m, count in enumerate(spread) if count]
            rest = tuple(left - count for left, count in zip(free, spread, strict=True))
            worth = _worth(problem, problem.jobs[job], machines, rack_of)
            found = max(found, bonus + worth + best(job + 1, rest))
        return found

    return best(0, _free(problem))


def value(problem: Consolidation, solution: ConsolidationSolution) -> Fraction | None:
    """Give the value of a placement; None when it breaks a rule."""
    jobs = {job.name: job for job in problem.jobs}
    machine_of = [m for m, machine in enumerate(problem.cluster.machines) for _ in range(machine.gpus)]
    rack_of = [rack for rack, each in enumerate(problem.cluster.racks) for _ in each.machines]
    taken = Counter([*problem.busy, *(gpu for gpus in solution.placed.values() for gpu in gpus)])
    if max(taken.values(), default=0) > 1 or any(gpu >= len(machine_of) for gpu in taken):
        return None
    total = _whole_bonus(problem) * (len(problem.cluster.machines) - len({machine_of[gpu] for gpu in taken}))
    for name, gpus in solution.placed.items():
        if name not in jobs or len(gpus) != jobs[name].gpus:
            return None
        machines = [machine_of[gpu] for gpu in gpus]
        total += _bonus(problem) + _worth(problem, jobs[name], machines, rack_of)
    return total


def _free(problem: Consolidation) -> tuple[int, ...]:
    ends, free = 0, []
    for machine in problem.cluster.machines:
        free.append(sum(gpu not in problem.busy for gpu in range(ends, ends + machine.gpus)))
        ends += machine.gpus
    return tuple(free)


def _spreads(gpus: int, free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not free:
        if gpus == 0:
            yield ()
        return
    for here in range(min(gpus, free[0]) + 1):
        for rest in _spreads(gpus - here, free[1:]):
            yield (here, *rest)


def _worth(problem: Consolidation, job: Job, machines: list[int], rack_of: list[int]) -> Fraction:
    """Give weight times GPUs over one and the penalty; a job on one GPU, or of no known model, has none."""
    penalty = Fraction(0)
    if job.gpus > 1 and job.model in problem.penalties:
        of_model = problem.penalties[job.model]
        penalty = exactly(float(of_model.network))
        if len({rack_of[m] for m in machines}) == 1:
            penalty = exactly(float(of_model.rack))
        if len(set(machines)) == 1:
            penalty = exactly(float(of_model.machine))
    return exactly(float(job.weight)) * job.gpus / (1 + penalty)


def _bonus(problem: Consolidation) -> int:
    """Give the whole number next above what all jobs are worth together on one machine."""
    if problem.maximize != "lexicographic":
        return 0
    return int(sum(_worth(problem, job, [0], [0]) for job in problem.jobs)) + 1


def _whole_bonus(problem: Consolidation) -> Fraction:
    """Give a millionth of the least positive worth, shared by all machines."""
    if problem.maximize != "fragmentation":
        return Fraction(0)
    anywhere = ([0], [0, 1], [0, 2])  # one machine, one rack, two racks
    worths = [_worth(problem, job, machines, [0, 0, 1]) for job in problem.jobs for machines in anywhere]
    least = min((worth for worth in worths if worth), default=Fraction(1))
    return least / 1_000_000 / len(problem.cluster.machines)
