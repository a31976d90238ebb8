"""Figures: the examples in the figures of the Ares paper."""

from typing import Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.scheduling import ElasticJob, Scheduling

Reading = Literal["rounded", "truncated"]

#: GPUs of the cluster for Figure 1; any number leads to the same completion times.
_GPUS_1 = 4

#: With this much work, job 2 of Figure 4 would complete together with job 3 under fair sharing.
_LEAST_WORK = 18

#: Cluster-hours of the three jobs of Figure 1.
_SIZES: dict[str, tuple[float, float, float]] = {"rounded": (1.5, 3.0, 3.3), "truncated": (2.0, 2.0, 4.0)}


def figure_1(*, reading: Reading = "rounded") -> Scheduling:
    """Create the three jobs of Figure 1, released at the same time and with linear speed.

    One hour in the figure is one second here. The figure shows only the mean job completion times: 6.6 h under
    fair sharing, and 4.6 h if the shortest job comes first. These do not determine the sizes. If the means are
    exact, sizes of (x, 6 - 2x, 1.8 + x) cluster-hours fit for every x from 1.4 to 2. If the means are truncated
    values of 20/3 and 14/3, sizes of (x, 6 - 2x, 2 + x) fit for every x from 4/3 to 2.

    Source: Ares, Figure 1.

    Parameters
    ----------
    reading
        ``rounded``: sizes 1.5, 3 and 3.3, with means 6.6 and 4.6. ``truncated``: sizes 2, 2 and 4, with means
        20/3 and 14/3.

    Examples
    --------
    >>> [job.work / 4 for job in figure_1().jobs]
    [1.5, 3.0, 3.3]
    """
    require_one_of("reading", reading, get_args(Reading))
    rates = {count: float(count) for count in (1, 2, 4)}
    return Scheduling(
        name=f"ares-figure-1-{reading}",
        about=About(source=f"Ares, Figure 1, sizes {', '.join(f'{size:g}' for size in _SIZES[reading])}"),
        gpus=_GPUS_1,
        jobs=tuple(
            ElasticJob(name=f"job {number}", release=0, work=round(size * _GPUS_1, 1), rates=rates)
            for number, size in enumerate(_SIZES[reading], start=1)
        ),
    )


def figure_4(*, work: float = 24) -> Scheduling:
    """Create the three jobs of Figure 4 on six GPUs; their speed is linear on up to 4, 6 and 4 GPUs.

    The figure shows start and completion times but no sizes. The sizes of jobs 1 and 3 follow from these times.
    Job 2 may have any size above 18 GPU-seconds; if it were smaller, elastic fair queuing would run it before
    job 3. The paper says that job 2 completes no later than under fair sharing, so it must run on the two GPUs
    that job 3 leaves free. Section 4 allows only powers of two, but the figure has six GPUs, so jobs may run on
    1, 2, 4 or 6 of them.

    Source: Ares, Figure 4.

    Parameters
    ----------
    work
        GPU-seconds of job 2. Elastic fair queuing completes it at time (24 + work) / 6.

    Raises
    ------
    InvalidInput
        The work is at most 18.

    Examples
    --------
    >>> [(job.release, job.work, max(job.rates)) for job in figure_4().jobs]
    [(0.0, 12.0, 4), (0.0, 24.0, 6), (2.0, 12.0, 4)]
    """
    require(work > _LEAST_WORK, "work", work, f"must be more than {_LEAST_WORK}")
    return Scheduling(
        name="ares-figure-4",
        about=About(source=f"Ares, Figure 4, {work:g} GPU-seconds of job 2"),
        gpus=6,
        jobs=(
            ElasticJob(name="job 1", release=0, work=12, rates={1: 1.0, 2: 2.0, 4: 4.0}),
            ElasticJob(name="job 2", release=0, work=work, rates={1: 1.0, 2: 2.0, 4: 4.0, 6: 6.0}),
            ElasticJob(name="job 3", release=2, work=12, rates={1: 1.0, 2: 2.0, 4: 4.0}),
        ),
    )
