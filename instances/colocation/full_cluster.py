"""Full cluster: a cluster with all GPUs in use, which waiting jobs may share."""

from math import isfinite
from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.performance.colocation import halvings
from gsopt.problems.colocation import Colocation, Mode, Pending, Running
from gsopt.scenario.speed import IterationTime
from instances.arguments import ascending, at_least

#: Memory of a GPU, in bytes.
_MEMORY = 80 * 2**30

#: Percentage of jobs by number of GPUs.
_GPUS = {1: 40, 2: 20, 4: 15, 8: 15, 16: 10}

#: Samples per GPU in a whole batch.
_BATCH = 32


def full_cluster(
    *,
    running: int = 20,
    pending: int = 20,
    models: int = 6,
    worst: float = 3.0,
    modes: int = 3,
    shortest: int = 60,
    longest: int = 36_000,
    seed: int = 0,
) -> Colocation:
    """Generate running and waiting jobs whose models slow each other down to different degrees.

    Durations are log-uniform. The slowdown of each ordered pair of models is not measured but drawn from 1 to
    `worst`. Part of a model's memory is constant, and the rest grows with the sub-batch. The slowdown due to
    sub-batches follows from `gsopt.scenario.speed.IterationTime` (Castor, Equation 3).

    Parameters
    ----------
    running, pending
        Number of running jobs, and number of waiting jobs.
    models
        Number of models.
    worst
        Upper limit of the drawn slowdowns, at least 1.
    modes
        How many times the batch of 32 samples per GPU may be halved, at most 5.
    shortest, longest
        Shortest and longest duration of a job, in seconds.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = full_cluster(running=3, pending=4, seed=1)
    >>> problem.headline(), [mode.name for mode in problem.pending[0].modes]
    ({'running': 3, 'pending': 4}, ['16', '8', '4'])
    """
    at_least(0, running=running, pending=pending)
    at_least(1, models=models)
    require(isfinite(worst) and worst >= 1, "worst", worst, "must be at least 1 and finite")
    require(0 <= modes <= len(halvings(_BATCH)) - 1, "modes", modes, "must be between 0 and 5")
    ascending(shortest, longest)
    random = Random(seed)
    names = [f"m{number}" for number in range(1, models + 1)]
    kinds = {name: _Kind(random, modes) for name in names}
    slowdowns = {a: {b: round(random.uniform(1, worst), 2) for b in names} for a in names}

    def seconds() -> float:
        return float(round(shortest * (longest / shortest) ** random.random()))

    def gpus() -> int:
        return random.choices(list(_GPUS), list(_GPUS.values()))[0]

    def waiting(number: int, model: str) -> Pending:
        kind = kinds[model]
        return Pending(
            name=f"p{number}",
            gpus=gpus(),
            seconds=seconds(),
            model=model,
            memory=kind.memory,
            modes=kind.modes,
        )

    def holding(number: int, model: str) -> Running:
        memory = kinds[model].memory
        return Running(name=f"r{number}", gpus=gpus(), seconds=seconds(), model=model, memory=memory)

    return Colocation(
        name="full-cluster",
        about=About(source=f"full_cluster, {models} models, slowdowns up to {worst}", seed=seed),
        running=[holding(number, random.choice(names)) for number in range(1, running + 1)],
        pending=[waiting(number, random.choice(names)) for number in range(1, pending + 1)],
        interference=slowdowns,
        memory=_MEMORY,
    )


class _Kind:
    """The properties shared by all jobs of a model: memory, and sub-batches of a half, a quarter, and so on."""

    def __init__(self, random: Random, modes: int) -> None:
        learned = random.randint(2, 24) * 2**30
        grows = random.randint(4, 48) * 2**30
        model = IterationTime(
            compute=round(random.uniform(0.005, 0.05), 3),
            per_sample=0.01,
            latency=round(random.uniform(0, 0.2), 3),
            overlap=2.0,
        )
        whole = model.seconds(_BATCH, message=1)
        self.memory = learned + grows
        self.modes = [
            Mode(
                name=str(size),
                slowdown=max(1.0, round(model.seconds(_BATCH, message=1, steps=steps) / whole, 3)),
                memory=learned + grows // steps,
            )
            for size, steps in halvings(_BATCH)[1 : modes + 1]
        ]
