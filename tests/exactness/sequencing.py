"""Sequencing: random jobs on up to three machines, and the best orders by trying all."""

from fractions import Fraction
from itertools import permutations, product
from random import Random

from gsopt.problems.sequencing import Machine, Sequences, Sequencing, UnitJob
from tests.exactness.numbers import exactly, numbers

_TYPES = ("v100", "p100", "k80")


def draw(random: Random) -> Sequencing:
    """Draw up to five jobs on up to three machines of as many types, with numbers that are hard on floats."""
    family, number = numbers(random)
    kinds = [random.choice(_TYPES) for _ in range(random.randint(1, 3))]
    jobs = []
    for index in range(random.randint(0, 5 if len(kinds) < 3 else 4)):
        known = [kind for kind in _TYPES if random.random() < 0.8]
        if not set(known) & set(kinds):
            known.append(random.choice(kinds))
        jobs.append(UnitJob(name=f"j{index}", seconds={kind: min(number(), 1e9) for kind in known}))
    return Sequencing(
        name=family,
        machines=[
            Machine(name=f"m{index}", gpu_type=kind, available=random.choice((0.0, min(number(), 1e9))))
            for index, kind in enumerate(kinds)
        ],
        jobs=jobs,
    )


def optimum(problem: Sequencing) -> Fraction:
    """Try every machine for every job, and every order on each."""
    machines, jobs = range(len(problem.machines)), range(len(problem.jobs))
    best: list[Fraction] = []
    for chosen in product(machines, repeat=len(jobs)):
        totals = [
            _least(problem, machine, [job for job in jobs if chosen[job] == machine]) for machine in machines
        ]
        known = [total for total in totals if total is not None]
        if len(known) == len(totals):
            best.append(sum(known, Fraction(0)))
    return min(best)


def _least(problem: Sequencing, machine: int, jobs: list[int]) -> Fraction | None:
    """Return the least total of some jobs on one machine; None where one does not run there."""
    names = [problem.jobs[job].name for job in jobs]
    totals = [_total(problem, machine, order) for order in permutations(names)]
    known = [total for total in totals if total is not None]
    return min(known) if known else None


def _total(problem: Sequencing, machine: int, names: tuple[str, ...]) -> Fraction | None:
    jobs = {job.name: job for job in problem.jobs}
    kind = problem.machines[machine].gpu_type
    now, total = exactly(problem.machines[machine].available), Fraction(0)
    for name in names:
        if kind not in jobs[name].seconds:
            return None
        now += exactly(jobs[name].seconds[kind])
        total += now
    return total


def value(problem: Sequencing, solution: Sequences) -> Fraction | None:
    """Return the total of orders by the definition; None when they break a rule."""
    places = {machine.name: index for index, machine in enumerate(problem.machines)}
    if not solution.order.keys() <= places.keys():
        return None
    run = sorted(name for names in solution.order.values() for name in names)
    if run != sorted(job.name for job in problem.jobs):
        return None
    totals = [_total(problem, places[machine], tuple(names)) for machine, names in solution.order.items()]
    known = [total for total in totals if total is not None]
    return sum(known, Fraction(0)) if len(known) == len(totals) else None
