"""Value tables: what extra workers are worth, in floats."""

from bisect import bisect_right
from collections.abc import Sequence

from gsopt.problems.allocation import ElasticJob


def value_table(job: ElasticJob, gpus: int) -> tuple[Sequence[int], Sequence[float]]:
    """List the allowed numbers of extra workers that fit into some GPUs, and what each saves.

    Examples
    --------
    >>> job = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=2, time_at_min=60)
    >>> value_table(job, 100), value_table(job, 5)
    ((range(1, 5), [20.0, 30.0, 36.0, 40.0]), (range(1, 3), [20.0, 30.0]))
    >>> value_table(ElasticJob(name="C", min_workers=2, counts=[2, 6, 14], values=[30, 45, 40]), 9)
    ((2, 6), (30.0, 45.0))
    """
    extras = job.extras
    extras = extras[: bisect_right(extras, gpus // job.gpus_per_worker)]
    if job.values is not None:
        return extras, job.values[: len(extras)]
    time, least = float(job.time or 0), job.min_workers
    return extras, [time * extra / (extra + least) for extra in extras]
