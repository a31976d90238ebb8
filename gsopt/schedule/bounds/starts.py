"""Starts: the shortest time that passes before each job can make progress."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from gsopt.core.numbers.grid import Exact, decimal, float_below
from gsopt.core.numbers.tolerances import TERM, ULPS
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario


def on_first_progress(
    scenario: Scenario, *, round_length: float | None = None, advances: Mapping[str, float] | None = None
) -> tuple[Scenario, dict[str, Exact]]:
    """Return a scenario whose jobs are released when they can first make progress, and each job's delay.

    The delays, in seconds, are keyed by job name.

    A job makes no progress before its release date plus the overhead of its first start. If decisions are
    made in rounds, it does not start before the first round at or after its release. The new dates are rounded
    down, and the delays are computed from the rounded dates. A lower bound on the sum of job completion times
    for the result, plus the sum of the delays, is such a bound for the given scenario.

    Parameters
    ----------
    scenario
        The given scenario.
    round_length
        Seconds between decisions, counted from the origin of the scenario's clock; None if jobs may start at
        any time.
    advances
        The part of each adaptive job's first overhead, in seconds, that its epoch times already include
        (`EpochTimes.advance`), keyed by job name.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> from gsopt.scenario.scenario import Overhead
    >>> jobs = [Job(name=n, release_date=r, duration=60, gpus=1) for n, r in [("a", 0), ("b", 61.5)]]
    >>> given = Scenario.of(Workload(jobs=jobs), 4, overheads=Overhead(start=4))
    >>> later, delays = on_first_progress(given, round_length=60)
    >>> [job.release_date for job in later.workload.jobs], delays["b"]
    ([4.0, 124.0], Fraction(125, 2))
    """
    length = None if round_length is None else decimal(round_length)
    origin, early = scenario.clock.origin, advances or {}

    def later(job: Job) -> Job:
        date = decimal(job.release_date)
        if length is not None:
            rounds = Fraction(date - origin) / length
            date = (
                origin + ceil(rounds * (1 - Fraction(TERM) * ULPS)) * length
            )  # in doubles a round may be earlier
        date += decimal(scenario.overhead(job).start) - decimal(early.get(job.name, 0.0))
        return job.model_copy(update={"release_date": max(float_below(date), job.release_date)})

    given = scenario.workload.jobs
    jobs = [later(job) for job in given]
    pairs = zip(given, jobs, strict=True)
    delays = {job.name: decimal(new.release_date) - decimal(job.release_date) for job, new in pairs}
    if not any(delays.values()):
        return scenario, delays
    by_date = tuple(sorted(jobs, key=lambda job: job.release_date))
    workload = scenario.workload.model_copy(update={"jobs": by_date})
    return scenario.model_copy(update={"workload": workload}), delays
