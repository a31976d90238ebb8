"""Value tables: what extra workers are worth, in floats."""

from gsopt.problems.allocation import ElasticJob


def value_table(job: ElasticJob, gpus: int) -> list[float]:
    """List the reduction of the running time with 0, 1, ... extra workers, as far as they fit into some GPUs.

    Examples
    --------
    >>> job = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=2, time_at_min=60)
    >>> value_table(job, 100), value_table(job, 5)
    ([0.0, 20.0, 30.0, 36.0, 40.0], [0.0, 20.0, 30.0])
    """
    most = min(job.max_extra, gpus // job.gpus_per_worker)
    if job.values is not None:
        return [0.0, *job.values[:most]]
    time, least = float(job.time or 0), job.min_workers
    return [time * extra / (extra + least) for extra in range(most + 1)]
