"""Consolidation: random clusters and jobs, and the best placement by trying every spread of every job."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from random import Random
from typing import Literal, NamedTuple

from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack, Switch
from gsopt.scenario.speed import TIER_PENALTIES, TierPenalty
from tests.exactness.numbers import Draw, exactly, numbers

_MAXIMIZE: tuple[Literal["value", "lexicographic", "fragmentation"], ...] = (
    "value",
    "value",
    "lexicographic",
    "fragmentation",
)

#: The levels that clusters here may have, innermost first.
_LEVELS = ("island", "machine", "rack", "pod", "network")

#: GPUs of jobs: those that divide each other, and others.
_DEMANDS = ((1, 2, 4), (1, 2, 4, 8), (2, 6), (1, 2, 3, 4, 5, 6), (2, 3), (3, 5))


def draw(random: Random) -> Consolidation:
    """Draw a few small machines, on racks or in a deeper tree, and up to five jobs for at most 12 free GPUs.

    Half of the instances have the penalties of Dally's Table I, the others some of their own with ties.
    """
    cluster = _racks(random) if random.random() < 0.6 else _pods(random)
    busy = random.sample(range(cluster.gpus), random.randint(max(0, cluster.gpus - 12), cluster.gpus))
    family, number = numbers(random)
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


def _machines(random: Random, name: str, most: int) -> list[Machine]:
    return [
        Machine(name=f"{name}.{m}", gpus=random.choice((1, 2, 3, 4, 4))) for m in range(random.randint(1, most))
    ]


def _racks(random: Random) -> Cluster:
    racks = [
        Rack(name=f"r{r}", machines=_machines(random, f"r{r}", 3)) for r in range(random.choice((1, 2, 2, 3)))
    ]
    return Cluster(racks=racks)


def _pods(random: Random) -> Cluster:
    """Draw pods of racks, some machines right below a pod, and in half of the clusters islands."""
    islands = random.random() < 0.5
    pods: list[Switch] = []
    for p in range(2):
        racks = [
            Rack(name=f"p{p}r{r}", machines=_machines(random, f"p{p}r{r}", 2))
            for r in range(random.randint(0, 2))
        ]
        alone = [
            Machine(
                name=f"p{p}m", gpus=4, islands=[Island(name=f"p{p}i{i}", gpus=2) for i in range(2 * islands)]
            )
        ]
        pods.append(Switch(name=f"p{p}", level="pod", machines=alone, switches=racks))
    return Cluster(network=Switch(name="all", level="network", switches=pods))


def _penalties(random: Random, number: Draw) -> dict[str, TierPenalty]:
    found: dict[str, TierPenalty] = {}
    for model in "ab":
        drawn = (
            (number() for _ in range(3))
            if random.random() < 0.5
            else (random.choice((0, 0.1, 9)) for _ in "abc")
        )
        machine, rack, network = sorted(min(each, 1e6) for each in drawn)
        pod = {"pod": rack} if random.random() < 0.5 else {}
        found[model] = TierPenalty(machine=machine, rack=rack, network=network, **pod)
    return found


def optimum(problem: Consolidation) -> Fraction:
    """Find the best value over every spread of every job, by what is left of every home: machine or island."""
    homes = list(_homes(problem.cluster))
    bonus, whole = _bonus(problem), _whole_bonus(problem)

    @cache
    def worth(job: int, used: tuple[int, ...]) -> Fraction:
        return bonus + _worth(problem, problem.jobs[job], [homes[each] for each in used])

    @cache
    def best(job: int, free: tuple[int, ...]) -> Fraction:
        if job == len(problem.jobs):
            taken = {home.machine for home, left in zip(homes, free, strict=True) if left < home.gpus}
            return whole * (len(problem.cluster.machines) - len(taken))
        found = best(job + 1, free)
        for spread in _spreads(problem.jobs[job].gpus, free):
            used = tuple(home for home, count in enumerate(spread) if count)
            rest = tuple(left - count for left, count in zip(free, spread, strict=True))
            found = max(found, worth(job, used) + best(job + 1, rest))
        return found

    return best(0, tuple(sum(gpu not in problem.busy for gpu in home.numbers) for home in homes))


def value(problem: Consolidation, solution: ConsolidationSolution) -> Fraction | None:
    """Return the value of a placement; None when it breaks a rule."""
    jobs = {job.name: job for job in problem.jobs}
    home_of = {gpu: home for home in _homes(problem.cluster) for gpu in home.numbers}
    taken = Counter([*problem.busy, *(gpu for gpus in solution.placed.values() for gpu in gpus)])
    if max(taken.values(), default=0) > 1 or not taken.keys() <= home_of.keys():
        return None
    used = {home_of[gpu].machine for gpu in taken}
    total = _whole_bonus(problem) * (len(problem.cluster.machines) - len(used))
    for name, gpus in solution.placed.items():
        if name not in jobs or len(gpus) != jobs[name].gpus:
            return None
        total += _bonus(problem) + _worth(problem, jobs[name], [home_of[gpu] for gpu in gpus])
    return total


class _Home(NamedTuple):
    """GPUs that nothing tells apart, and what is around them: names by level, the innermost first."""

    numbers: range
    machine: str
    around: dict[str, str]

    @property
    def gpus(self) -> int:
        return len(self.numbers)


def _homes(cluster: Cluster) -> Iterator[_Home]:
    begin = 0
    roots = [cluster.network] if cluster.network else cluster.racks
    above = {} if cluster.network else {"network": "all"}
    for machine, around in (found for root in roots for found in _below(root, above)):
        for name, gpus in [(each.name, each.gpus) for each in machine.islands] or [("", machine.gpus)]:
            inner = {"island": name} if name else {}
            yield _Home(range(begin, begin + gpus), machine.name, inner | {"machine": machine.name} | around)
            begin += gpus


def _below(switch: Switch, above: dict[str, str]) -> Iterator[tuple[Machine, dict[str, str]]]:
    around = {switch.level: switch.name} | above
    yield from ((machine, around) for machine in switch.machines)
    for inner in switch.switches:
        yield from _below(inner, around)


def _spreads(gpus: int, free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not free:
        if gpus == 0:
            yield ()
        return
    for here in range(min(gpus, free[0]) + 1):
        for rest in _spreads(gpus - here, free[1:]):
            yield (here, *rest)


def _worth(problem: Consolidation, job: Job, homes: Sequence[_Home]) -> Fraction:
    """Return weight times GPUs over one and the penalty; a job on one GPU, or of no known model, has none."""
    common = next(
        level
        for level in _LEVELS
        if all(home.around.get(level, "") == homes[0].around.get(level) for home in homes)
    )
    return exactly(float(job.weight)) * job.gpus / (1 + _penalty(problem, job, common))


def _penalty(problem: Consolidation, job: Job, level: str) -> Fraction:
    if job.gpus == 1 or job.model not in problem.penalties:
        return Fraction(0)
    known = problem.penalties[job.model].model_dump()
    wider = (known[each] for each in _LEVELS[_LEVELS.index(level) :] if each in known)
    return exactly(float(next(wider)))


def _bonus(problem: Consolidation) -> int:
    """Return the whole number next above what all jobs are worth together, each in one place."""
    if problem.maximize != "lexicographic":
        return 0
    home = next(_homes(problem.cluster))
    return int(sum(_worth(problem, job, [home]) for job in problem.jobs)) + 1


def _whole_bonus(problem: Consolidation) -> Fraction:
    """Return a millionth of the least positive worth on any level, shared by all machines."""
    if problem.maximize != "fragmentation":
        return Fraction(0)
    worths = [
        exactly(float(job.weight)) * job.gpus / (1 + _penalty(problem, job, level))
        for job in problem.jobs
        for level in ("machine", "network")
    ]
    least = min((worth for worth in worths if worth), default=Fraction(1))
    return least / 1_000_000 / len(problem.cluster.machines)
