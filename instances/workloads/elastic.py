"""Elastic: workloads of elastic jobs like those in the scheduling instances."""

from typing import Literal

from gsopt.scenario.job import Workload


def elastic(
    *,
    jobs: int = 100,
    gpus: int = 64,
    load: float = 1.0,
    scaling: Literal["concave", "linear"] = "concave",
    seed: int = 0,
) -> Workload:
    """Generate the jobs of `instances.scheduling.elastic_jobs`, with Poisson arrivals, as a workload.

    Parameters
    ----------
    jobs, gpus, load, scaling, seed
        As in `instances.scheduling.elastic_jobs`.

    Examples
    --------
    >>> workload = elastic(jobs=20, gpus=16, seed=1)
    >>> len(workload.jobs), workload.jobs[0].counts, workload.source
    (20, (1, 2, 4, 8, 16), '20 elastic jobs, concave scaling, at load 1 of 16 GPUs; seed 1')
    """
    from instances.scheduling.elastic_jobs import elastic_jobs  # beside readers that need workloads

    problem = elastic_jobs(jobs=jobs, gpus=gpus, load=load, scaling=scaling, seed=seed)
    source = f"{jobs} elastic jobs, {scaling} scaling, at load {load:g} of {gpus} GPUs; seed {seed}"
    return problem.workload.model_copy(update={"name": f"elastic-{jobs}", "source": source})
