"""Waiting: a few random jobs, and the best schedule by putting them on every set of GPUs in every order."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, lcm
from random import Random

from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TIER_PENALTIES, TierPenalty
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
        cluster=_cluster(racks),
        jobs=jobs,
        penalties=penalties,
        minimize=random.choice(("mean_jct", "makespan")),
        slot=random.choice((None, None, scale)),
    )


def draw_hard(random: Random) -> Waiting:
    """Draw up to five jobs whose times are hard on floats, on the clock of today or far from each other."""
    racks, number = random.choice(_CLUSTERS), random.choice((2, 3, 4, 4, 5, 5))
    size, family = (
        10 ** random.uniform(-9, 9),
        random.choice(("any", "any", "digits", "ties", "decimals", "whole")),
    )
    slow = _made_up(random) | _slow(random)

    def time() -> float:
        return {
            "any": lambda: max(10 ** random.uniform(-9, 9), 1e-9),
            "digits": lambda: max(size * random.random(), 1e-9),
            "ties": lambda: max(size * (1 + random.randint(-1, 1) * 1e-12), 1e-9),
            "decimals": lambda: round(random.uniform(0.01, 20), 2),
            "whole": lambda: float(random.randint(1, 9)),
        }[family]()

    clock = random.choice(
        (0.0, 0.0, 1.7e9, 1.7e9 + round(random.random(), 2), round(random.uniform(0, 1e6), 3))
    )
    dates = [clock + random.choice((0.0, 0.0, time(), round(random.uniform(0, 30), 2))) for _ in range(number)]
    far = random.choice((0.0, 0.0, 1e8, 1e9))
    dates[0] += far
    if far and random.random() < 0.5:
        dates = [clock, *(date + 3 * far for date in dates[1:])]
    jobs = [
        Job(
            name=f"j{index}",
            release_date=date,
            duration=time(),
            gpus=random.randint(1, min(4, sum(map(sum, racks)))),
            model=random.choice([*slow, "unknown"]),
        )
        for index, date in enumerate(dates)
    ]
    return Waiting(
        name=f"{number} jobs, {family}{', far' * bool(far)}, from {clock!r}",
        cluster=_cluster(racks),
        jobs=jobs,
        penalties=slow,
        minimize=random.choice(("mean_jct", "makespan")),
        slot=random.choice((None, None, None, max(size, 1e-6), 1.0, 0.1)),
    )


def _slow(random: Random) -> dict[str, TierPenalty]:
    """Draw penalties of as many digits as doubles have."""
    machine, rack, network = sorted(random.random() ** 3 for _ in range(3))
    return {"slow": TierPenalty(machine=machine, rack=rack, network=network)}


def _cluster(racks: Sequence[Sequence[int]]) -> Cluster:
    return Cluster(
        racks=[
            Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=g) for m, g in enumerate(rack)])
            for r, rack in enumerate(racks)
        ]
    )


def _made_up(random: Random) -> dict[str, TierPenalty]:
    machine, rack, network = sorted(random.choice((0.0, 0.25, 0.5, 1.0, 9.0)) for _ in range(3))
    return {"made up": TierPenalty(machine=machine, rack=rack, network=network)}


def optimum(problem: Waiting) -> Fraction:
    """Find the least value of all orders and GPUs, each job as early as its GPUs allow.

    GPUs of a machine that are free at the same time make no difference.
    """
    sets = {size: list(combinations(range(problem.cluster.gpus), size)) for size in range(1, 5)}
    exact = {(job.name, gpus): _seconds(problem, job, gpus) for job in problem.jobs for gpus in sets[job.gpus]}
    origin = min(exactly(job.release_date) for job in problem.jobs)
    dates = {job.name: exactly(job.release_date) - origin for job in problem.jobs}
    parts = lcm(*(time.denominator for time in (*exact.values(), *dates.values())))
    seconds = {key: int(time * parts) for key, time in exact.items()}
    release = {name: int(date * parts) for name, date in dates.items()}
    least = {
        job.name: min(each for (name, _), each in seconds.items() if name == job.name) for job in problem.jobs
    }
    machine = [
        rack * 10 + m
        for rack, each in enumerate(problem.cluster.racks)
        for m, own in enumerate(each.machines)
        for _ in range(own.gpus)
    ]
    best = [sum(release.values()) + sum(seconds.values()) * len(release) + 1]

    def put(left: Sequence[Job], free: tuple[int, ...], paid: int) -> None:
        if problem.minimize == "makespan":
            reachable = max([paid, *(release[job.name] + least[job.name] for job in left)])
        else:
            reachable = paid + sum(least[job.name] for job in left)
        if reachable >= best[0]:
            return
        if not left:
            best[0] = paid
        for job in left:
            tried = set()
            for gpus in sets[job.gpus]:
                kind = tuple(sorted((machine[gpu], free[gpu]) for gpu in gpus))
                if kind not in tried:
                    tried.add(kind)
                    end = max(release[job.name], *(free[gpu] for gpu in gpus)) + seconds[job.name, gpus]
                    later = tuple(end if gpu in gpus else each for gpu, each in enumerate(free))
                    worth = max(paid, end) if problem.minimize == "makespan" else paid + end - release[job.name]
                    put([other for other in left if other is not job], later, worth)

    put(problem.jobs, (0,) * problem.cluster.gpus, 0)
    return Fraction(best[0], parts if problem.minimize == "makespan" else parts * len(release))


def value(problem: Waiting, solution: WaitingSolution) -> Fraction | None:
    """Return the value; None when a job does not run once, or too early, or with another on a GPU."""
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


def _seconds(problem: Waiting, job: Job, gpus: Sequence[int]) -> Fraction:
    """Return the run time on GPUs, found in the racks one by one."""
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
