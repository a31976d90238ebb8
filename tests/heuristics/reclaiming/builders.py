"""Problems of reclaiming, written down in short."""

from typing import Literal

from gsopt.problems.reclaiming import Job, Reclaiming, Server


def problem_of(*jobs: Job, demand: int, second_objective: Literal["none", "collateral"] = "none") -> Reclaiming:
    """Return a problem with the servers of 8 GPUs on which the jobs run."""
    names = sorted({name for job in jobs for name in (*job.workers, *job.flexible)})
    return Reclaiming(
        demand=demand,
        servers=tuple(Server(name=name, gpus=8) for name in names),
        jobs=jobs,
        second_objective=second_objective,
    )
