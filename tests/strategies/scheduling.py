"""Tiny problems of scheduling over time, small enough to enumerate the orders of their events."""

from collections.abc import Sequence
from random import Random

from gsopt.problems.scheduling import ElasticJob, Scheduling


def tiny(
    seed: int, *, jobs: Sequence[int] = (2, 3, 4), gpus: Sequence[int] = (2, 3, 4, 6, 8), fair: bool = False
) -> Scheduling:
    """Draw a few jobs with linear or concave speed-up, released together or one after the other.

    Counts are powers of two, or any where the GPUs are not a power of two.

    Parameters
    ----------
    seed
        Seed of all draws.
    jobs
        Numbers of jobs to draw from.
    gpus
        Numbers of GPUs to draw from.
    fair
        Whether to draw a fairness constraint, which may have no solution.
    """
    random = Random(seed)
    number, capacity = random.choice(jobs), random.choice(gpus)
    power = capacity & (capacity - 1) == 0
    counts = [count for count in range(1, capacity + 1) if not power or count & (count - 1) == 0]
    spread = random.choice((0, 0, 1, 3))
    drawn = []
    for index in range(number):
        menu = sorted(random.sample(counts, random.randint(1, len(counts))))
        exponent = random.choice((1.0, 0.9, 0.6))
        drawn.append(
            ElasticJob(
                name=f"j{index}",
                release=float(random.randint(0, 4) * spread),
                work=round(random.paretovariate(1.3), 2),
                rates={count: count**exponent for count in menu},
            )
        )
    fairness = random.choice((0.2, 0.5, 1.0, 2.0)) if fair else None
    return Scheduling(name=f"tiny-{seed}", gpus=capacity, jobs=drawn, fairness=fairness)
