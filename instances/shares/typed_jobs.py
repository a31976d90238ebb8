"""Typed jobs: jobs that run faster on newer GPUs, to different degrees."""

from math import isfinite
from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.shares import Criterion, Shares, TypedJob
from instances.arguments import ascending, at_least

#: Percentage of jobs by number of GPUs.
_GPUS = {1: 70, 2: 10, 4: 15, 8: 5}

#: Largest speed-up.
_MOST = 1000

#: Names of the GPU types, from fastest to slowest.
_TYPES = ("v100", "p100", "k80", "m60")


def typed_jobs(
    *,
    jobs: int = 20,
    gpus: int = 8,
    types: int = 3,
    speedup: float = 10.0,
    criterion: Criterion = "max_min",
    largest: int = 8,
    models: int | None = None,
    shortest: int = 600,
    longest: int = 100_000,
    seed: int = 0,
) -> Shares:
    """Generate jobs, and a cluster with the same number of GPUs of each type.

    On the slowest type, a step takes 0.5 to 2 seconds. On the fastest type, a job is 1 to `speedup` times as
    fast, and types in between are spaced geometrically. Durations on the slowest type are log-uniform. On
    average, a third of the jobs have weight 2, and the others have weight 1. On average, half of the jobs have
    just arrived. The age of any other job is 1 to 2 times the time that its progress would have taken with an
    equal share of the cluster.

    Parameters
    ----------
    jobs
        Number of jobs.
    gpus
        Number of GPUs of each type, at least `largest`.
    types
        Number of types, at most 4.
    speedup
        Largest ratio of a job's speeds on the fastest and the slowest type.
    criterion
        The objective, as in `gsopt.problems.shares.Shares`.
    largest
        Largest number of GPUs of a job: 1, 2, 4 or 8.
    models
        Number of models, each with its own speeds; every job trains a random one of them. If None, every job
        has a model of its own.
    shortest, longest
        Shortest and longest duration of a job on the slowest type, in seconds.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> typed_jobs(jobs=5, seed=1).headline()
    {'jobs': 5, 'gpus': 24, 'types': 3, 'criterion': 'max_min'}
    """
    at_least(1, jobs=jobs)
    require(largest in _GPUS, "largest", largest, "must be 1, 2, 4 or 8")
    require(gpus >= largest, "gpus", gpus, f"must be at least {largest}")
    require(1 <= types <= len(_TYPES), "types", types, f"must be between 1 and {len(_TYPES)}")
    require(isfinite(speedup) and 1 <= speedup <= _MOST, "speedup", speedup, f"must be between 1 and {_MOST}")
    at_least(1, models=1 if models is None else models)
    ascending(shortest, longest)
    random = Random(seed)
    sizes = {size: weight for size, weight in _GPUS.items() if size <= largest}

    def speeds() -> list[float]:
        slowest, gain = round(random.uniform(0.5, 2), 2), speedup ** random.random()
        return [round(slowest * gain ** (place / max(types - 1, 1)), 3) for place in range(types)]

    known = [speeds() for _ in range(models or 0)]

    def job(number: int) -> TypedJob:
        rates = random.choice(known) if known else speeds()
        seconds = shortest * (longest / shortest) ** random.random()
        isolated = random.choice((0, round(random.uniform(0, seconds))))
        return TypedJob(
            name=f"j{number}",
            gpus=random.choices(list(sizes), list(sizes.values()))[0],
            throughputs=dict(zip(_TYPES, reversed(rates), strict=False)),
            steps=float(round(rates[0] * seconds)),
            weight=float(random.choice((1, 1, 2))),
            age=float(round(isolated * random.uniform(1, 2))),
            isolated=float(isolated),
        )

    return Shares(
        name="typed-jobs",
        about=About(source=f"typed_jobs, {types} types, up to {speedup:g} times faster", seed=seed),
        gpus=dict.fromkeys(_TYPES[:types], gpus),
        jobs=[job(number) for number in range(1, jobs + 1)],
        criterion=criterion,
    )
