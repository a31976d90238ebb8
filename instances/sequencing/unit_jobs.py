"""Unit jobs: single-GPU jobs that wait for GPUs of several types; some of the GPUs may be busy."""

from math import isfinite
from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.sequencing import Machine, Sequencing, UnitJob
from instances.arguments import ascending, at_least, fractions

#: Names of the GPU types, from fastest to slowest.
_TYPES = ("v100", "p100", "k80", "m60")

#: Largest speed-up.
_MOST = 1000


def unit_jobs(
    *,
    jobs: int = 20,
    gpus: int = 4,
    types: int = 3,
    speedup: float = 10.0,
    busy: float = 0.0,
    shortest: int = 60,
    longest: int = 10_000,
    seed: int = 0,
) -> Sequencing:
    """Generate waiting jobs, and a cluster with the same number of GPUs of each type.

    Durations on the fastest type are log-uniform. On the slowest type, a job takes 1 to `speedup` times as
    long. A busy GPU becomes free after at most `longest` seconds.

    Parameters
    ----------
    jobs
        Number of jobs.
    gpus
        Number of GPUs of each type.
    types
        Number of types, at most 4.
    speedup
        Largest ratio of a job's durations on the slowest and the fastest type.
    busy
        Probability that a GPU is busy now.
    shortest, longest
        Shortest and longest duration of a job on the fastest type, in seconds.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> unit_jobs(jobs=5, seed=1).headline()
    {'jobs': 5, 'machines': 12, 'types': 3}
    """
    at_least(0, jobs=jobs)
    at_least(1, gpus=gpus)
    fractions(busy=busy)
    require(1 <= types <= len(_TYPES), "types", types, f"must be between 1 and {len(_TYPES)}")
    require(isfinite(speedup) and 1 <= speedup <= _MOST, "speedup", speedup, f"must be between 1 and {_MOST}")
    ascending(shortest, longest)
    random = Random(seed)

    def machine(name: str, kind: str) -> Machine:
        left = random.randint(1, longest) if random.random() < busy else 0
        return Machine(name=name, gpu_type=kind, available=float(left))

    def job(number: int) -> UnitJob:
        fastest, loss = shortest * (longest / shortest) ** random.random(), speedup ** random.random()
        taken = [float(round(fastest * loss ** (place / max(types - 1, 1)))) for place in range(types)]
        return UnitJob(name=f"j{number}", seconds=dict(zip(_TYPES, taken, strict=False)))

    return Sequencing(
        name="unit-jobs",
        about=About(source=f"unit_jobs, {types} types, up to {speedup:g} times slower", seed=seed),
        machines=[machine(f"{kind}-{number}", kind) for kind in _TYPES[:types] for number in range(gpus)],
        jobs=[job(number) for number in range(1, jobs + 1)],
    )
