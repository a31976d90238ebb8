"""Marginal efficiency over attained service."""

from fractions import Fraction
from math import inf

from gsopt.core.errors import InvalidInput, number_of, shorten
from gsopt.simulation import Decider, State
from heuristics.policies.marginal.segments import Segments


def marginal_attained(
    state: State,
    *,
    exponent: float | Fraction = 8,
    hysteresis: float | Fraction = 16,
    grace: float | Fraction = 600,
) -> Decider:
    """Grant every further GPU to the job whose marginal efficiency is largest for its attained service.

    As `marginal`, but for durations that are not known: a job that has held many GPU-seconds is expected to
    need many more, as under least attained service, so these stand for the remaining area. Attained service
    says less about what is left than the truth would, so it counts with a smaller power: the exponent is that
    of `marginal`, doubled.

    Key: (grace + GPU-seconds held so far) / (marginal efficiency) ** exponent, divided by the hysteresis where
    the segment has its GPUs, without which jobs of equal service would take turns at every event. Ties: lower
    number. Preemptive at every event; resizes; durations are not known. O(different holdings) per change, and
    for elastic jobs O(running segments).

    Source: none; `las` with the allocation of `marginal`. The defaults are chosen as there, see
    `docs/best-policy.md`.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    exponent
        The power of the marginal efficiency; above 0 and at most 16.
    hysteresis
        By how much the key of a segment is divided that has its GPUs already; from 1 to 1e9. With 1, jobs of
        equal service take turns in every round; where overheads take as long as a round they would never get
        on, and the simulator ends such a run with one line (`IllegalDecision`).
    grace
        GPU-seconds that every job is taken to have held before it began, so that jobs which have held less
        are much alike; above 0.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 1.2)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 6), ("b", 12)]]
    >>> simulate(Workload(jobs=jobs), marginal_attained, cluster=2).completion_times
    (6.0, 11.0)
    """
    if not 0 < number_of(grace) < inf:
        raise InvalidInput("", "grace", shorten(grace), "must be a positive, finite number of GPU-seconds")
    begin = type(state.now)(grace)
    return Segments(
        state,
        key=lambda job, _: state.service(job) + begin,
        exponent=exponent,
        hysteresis=hysteresis,
        rises=True,
    )
