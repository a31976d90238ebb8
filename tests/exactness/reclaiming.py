"""Reclaiming: random clusters on loan, and the cheapest choice of servers by trying all of them."""

from fractions import Fraction
from itertools import combinations
from random import Random

from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from tests.exactness.numbers import FAMILIES, Draw, exactly


def draw(random: Random) -> Reclaiming:
    """Draw up to ten servers; in one of four any choice pays a large constant."""
    family = random.choice(list(FAMILIES))
    lexicographic = random.random() < 0.2  # costs must be integers then
    cost = FAMILIES[family](random) if not lexicographic else _whole(random)
    names = [f"s{index}" for index in range(random.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10)))]
    degree = random.choice((1, 2, 2, 3, len(names)))
    number = random.randint(0, 8) if random.random() < 0.75 else len(names) + 2
    jobs = [_job(random, f"j{index}", names, degree, cost()) for index in range(number)]
    constant = random.choice((1.0, 1e5 + (not lexicographic) / 10, 1e6, 1e9))
    has_constant = random.random() < 0.25
    if has_constant:
        jobs += [Job(name=f"constant on {name}", workers={name: 1}, cost=constant) for name in names]
    random.shuffle(jobs)
    used = {name: sum(job.gpus_on(name) for job in jobs) for name in names}
    return Reclaiming(
        name=f"{family}{', a constant' * has_constant}{', lexicographic' * lexicographic}",
        demand=random.randint(0, len(names)),
        servers=[Server(name=name, gpus=used[name] + random.choice((0, 1)) or 1) for name in names],
        jobs=jobs,
        elasticity=random.choice(("tagged", "tagged", "fungible")),
        second_objective="collateral" if lexicographic else "none",
    )


def _whole(random: Random) -> Draw:
    most = random.choice((1, 9, 10**6, 10**12))
    return lambda: float(random.randint(0, most))


def _job(random: Random, name: str, servers: list[str], degree: int, cost: float) -> Job:
    def stand(least: int) -> dict[str, int]:
        chosen = random.sample(servers, random.randint(least, min(degree, len(servers))))
        return {server: random.randint(1, 4) for server in chosen}

    flexible = stand(0) if random.random() < 0.4 else {}
    outside = random.choice((0, 0, 1, 5))
    return Job(name=name, workers=stand(1), flexible=flexible, cost=cost, training_servers=outside)


def optimum(problem: Reclaiming) -> Fraction:
    """Try every choice of `demand` servers; one always exists."""
    names = [server.name for server in problem.servers]
    return min(_value(problem, frozenset(pick)) for pick in combinations(names, problem.demand))


def value(problem: Reclaiming, solution: ReclaimingSolution) -> Fraction | None:
    """Return what a choice costs; None when it breaks a rule."""
    returned = frozenset(solution.servers)
    known = {server.name for server in problem.servers}
    if not len(solution.servers) == len(returned) == problem.demand or not returned <= known:
        return None
    return _value(problem, returned)


def _value(problem: Reclaiming, returned: frozenset[str]) -> Fraction:
    lost = [job for job in problem.jobs if _preempted(job, returned, problem.elasticity == "fungible")]
    cost = sum((exactly(job.cost) for job in lost), Fraction(0))
    if problem.second_objective == "none":
        return cost
    in_use = sum(_gpus(job) for job in problem.jobs)
    collateral = sum(_gpus(job) - sum(map(job.gpus_on, returned)) for job in lost)
    return cost * (1 + in_use) + collateral


def _preempted(job: Job, returned: frozenset[str], fungible: bool) -> bool:
    if fungible:
        return _gpus(job) - sum(map(job.gpus_on, returned)) < sum(job.workers.values())
    return any(server in returned for server in job.workers)


def _gpus(job: Job) -> int:
    return sum(job.workers.values()) + sum(job.flexible.values())
