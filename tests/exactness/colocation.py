"""Colocation: random running and pending jobs, and the best pairs by trying every partner of every job."""

from fractions import Fraction
from functools import cache
from random import Random

from gsopt.problems.colocation import Colocation, ColocationSolution, Mode, Pending, Running
from tests.exactness.numbers import exactly, numbers

_MODELS = "abc"


def draw(random: Random) -> Colocation:
    """Draw up to four running and four pending jobs with up to two modes; half of the instances know memory."""
    family, number = numbers(random)
    capped = random.random() < 0.5
    slow = random.choice((1.2, 2.5, 6.0))

    def slowdown() -> float:
        drawn = 1 + number() if random.random() < 0.2 else round(random.uniform(1, slow), random.randint(0, 3))
        return min(max(drawn, 1.0), 1e6)

    def memory() -> int:
        return random.choice((random.randint(0, 8), random.randint(0, 8), random.randint(0, 80 * 2**30)))

    return Colocation(
        name=family,
        running=[
            Running(
                name=f"j{index}",
                gpus=random.choice((1, 2, 4, 8)),
                seconds=number(),
                model=random.choice(_MODELS),
                memory=memory(),
            )
            for index in range(random.randint(0, 4))
        ],
        pending=[
            Pending(
                name=f"j{index}",
                gpus=random.choice((1, 1, 2, 4)),
                seconds=number(),
                model=random.choice((*_MODELS, "")),
                memory=memory(),
                modes=[
                    Mode(name=f"m{mode}", slowdown=slowdown(), memory=memory())
                    for mode in range(random.choice((0, 0, 1, 2)))
                ],
            )
            for index in range(random.randint(0, 4))
        ],
        interference={a: {b: slowdown() for b in _MODELS if random.random() < 0.8} for a in _MODELS},
        default_interference=random.choice((1.0, slowdown())),
        memory=random.choice((8, 80 * 2**30)) if capped else None,
    )


def optimum(problem: Colocation) -> Fraction:
    """Find the most seconds saved over every partner and mode of every job."""

    @cache
    def best(index: int, taken: frozenset[int]) -> Fraction:
        if index == len(problem.pending):
            return Fraction(0)
        found = best(index + 1, taken)
        for place, beside in enumerate(problem.running):
            if place not in taken:
                ways = _ways(problem, beside, problem.pending[index]).values()
                if ways:
                    found = max(found, max(ways) + best(index + 1, taken | {place}))
        return found

    return best(0, frozenset())


def value(problem: Colocation, solution: ColocationSolution) -> Fraction | None:
    """Return the seconds that pairs save; None when they break a rule."""
    running = {job.name: job for job in problem.running}
    pending = {job.name: job for job in problem.pending}
    partners = [share.running for share in solution.shares.values()]
    known = solution.shares.keys() <= pending.keys() and set(partners) <= running.keys()
    if not known or len(set(partners)) < len(partners):
        return None
    total = Fraction(0)
    for name, share in solution.shares.items():
        ways = _ways(problem, running[share.running], pending[name])
        if share.mode not in ways:
            return None
        total += ways[share.mode]
    return total


def _ways(problem: Colocation, beside: Running, job: Pending) -> dict[str, Fraction]:
    """Return what a pair saves in each mode that fits, by letting both run."""
    ours, theirs = _slowdown(problem, beside.model, job.model), _slowdown(problem, job.model, beside.model)
    left, whole = exactly(beside.seconds), exactly(job.seconds)
    found = {}
    for name, slower, memory in [("", 1.0, job.memory), *((m.name, m.slowdown, m.memory) for m in job.modes)]:
        fits = problem.memory is None or memory + beside.memory <= problem.memory
        if fits and job.gpus <= beside.gpus:
            shared = _played(left, whole * exactly(slower), ours, theirs)
            found[name] = left + (left + whole) - shared
    return found


def _slowdown(problem: Colocation, model: str, other: str) -> Fraction:
    listed = problem.interference.get(model, {})
    return exactly(listed.get(other, problem.default_interference))


def _played(left: Fraction, new: Fraction, ours: Fraction, theirs: Fraction) -> Fraction:
    """Add the times at which two jobs complete that begin together."""
    if left * ours <= new * theirs:
        first = left * ours
        return first + first + (new - first / theirs)
    first = new * theirs
    return first + first + (left - first / ours)
