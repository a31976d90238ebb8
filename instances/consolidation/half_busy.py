"""Half busy: a cluster of racks with half of its GPUs in use, and jobs waiting for the other half."""

from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.core.problem import About
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.speed import TIER_PENALTIES
from instances.arguments import at_least, fractions

Demands = Literal["powers_of_two", "any"]
Weights = Literal["one", "levels", "drawn"]
Maximize = Literal["value", "lexicographic", "fragmentation"]

#: Percentage of jobs by number of GPUs, for each choice of demands.
_DEMANDS: dict[str, dict[int, int]] = {
    "powers_of_two": {1: 25, 2: 20, 4: 20, 8: 20, 16: 10, 32: 5},
    "any": {1: 20, 2: 15, 3: 15, 4: 10, 5: 10, 6: 10, 8: 10, 12: 5, 20: 5},
}

#: Weights of the three classes of jobs.
_LEVELS = (1.0, 2.0, 4.0)


def half_busy(
    *,
    racks: int = 2,
    machines: int = 8,
    gpus: int = 8,
    jobs: int = 50,
    busy: float = 0.5,
    demands: Demands = "powers_of_two",
    weights: Weights = "one",
    maximize: Maximize = "value",
    seed: int = 0,
) -> Consolidation:
    """Generate waiting jobs that train models of Dally's Table I, and machines with some GPUs in use.

    The number of GPUs in use is drawn separately for each machine. Its distribution is uniform around the mean,
    and as wide as possible: by default, from none to all. If there are many jobs, they compete for the free
    GPUs.

    Parameters
    ----------
    racks, machines, gpus
        Number of racks, of machines per rack, and of GPUs per machine.
    jobs
        Number of waiting jobs.
    busy
        Mean share of GPUs in use.
    demands
        GPU demands of jobs. ``powers_of_two``: 1, 2, 4, ..., 32. ``any``: 1, 2, 3, 4, 5, 6, 8, 12 or 20.
    weights
        Weights of jobs. ``one``: 1 for all jobs. ``levels``: 1, 2 or 4. ``drawn``: a number between 0.5 and 2
        with three decimals.
    maximize
        The objective, as in `gsopt.problems.consolidation.Consolidation`.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = half_busy(racks=4, jobs=100, seed=1)
    >>> problem.headline(), sum(job.gpus for job in problem.jobs)
    ({'jobs': 100, 'GPUs': 256, 'free': 116}, 673)
    """
    at_least(1, racks=racks, machines=machines, gpus=gpus)
    at_least(0, jobs=jobs)
    fractions(busy=busy)
    require_one_of("demands", demands, get_args(Demands))
    require_one_of("weights", weights, get_args(Weights))
    require_one_of("maximize", maximize, get_args(Maximize))
    random = Random(seed)
    cluster = Cluster.uniform(racks=racks, machines=machines, gpus=gpus)
    taken = [
        gpu
        for numbers in cluster.gpus_of.values()
        for gpu in random.sample(numbers, _taken(random, gpus, busy))
    ]
    sizes, shares = zip(*_DEMANDS[demands].items(), strict=True)
    return Consolidation(
        name="half-busy",
        about=About(source=f"half_busy, demands {demands}, weights {weights}", seed=seed),
        cluster=cluster,
        busy=sorted(taken),
        jobs=[
            Job(
                name=f"j{number}",
                gpus=random.choices(sizes, shares)[0],
                weight=_weight(random, weights),
                model=random.choice(list(TIER_PENALTIES)),
            )
            for number in range(1, jobs + 1)
        ],
        maximize=maximize,
    )


def _taken(random: Random, gpus: int, busy: float) -> int:
    """Draw the number of GPUs in use on a machine, uniformly from a range around the mean share."""
    spread = min(busy, 1 - busy)
    return round(gpus * random.uniform(busy - spread, busy + spread))


def _weight(random: Random, weights: Weights) -> float:
    if weights == "one":
        return 1.0
    return random.choice(_LEVELS) if weights == "levels" else round(random.uniform(0.5, 2), 3)
