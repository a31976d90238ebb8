"""Marginal: efficiency over remaining area, or over attained service if durations are unknown."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any, Literal

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.simulation import Decider, State
from heuristics.policies.marginal.adapting import AdaptingOptions, AdaptingWhereTuned
from heuristics.policies.marginal.outlook import KnownCourse, KnownEpochs, UnknownWork
from heuristics.policies.marginal.segments import SegmentGrants

#: Seconds that a job whose course is known has to save by growing. Chosen on the workloads of
#: `docs/systems.md`; on 14 others of Pollux and Sia the mean JCT is 2 % shorter than with 180 s.
_KNOWN_CHARGE = 400

#: Least and most multiplier of a key.
_LEAST_FACTOR, _MOST_FACTOR = 1e-9, 1e9


def marginal(
    state: State,
    *,
    exponent: float | Fraction | None = None,
    hysteresis: float | Fraction | None = None,
    charge: float | Fraction | None = None,
    knows: Literal["course", "epochs"] = "course",
    ageing: float | None = 3600,
    multipliers: Mapping[str, float] | None = None,
) -> Decider:
    """Grant every further GPU to the job with the largest marginal efficiency for its remaining area.

    At every event the segments of the hulls of all jobs' menus are sorted by::

        (remaining area) / (marginal efficiency) ** exponent

    From the smallest on, a segment gets its GPUs if they are free and the segment below has got its own. The
    area of a job is the fewest GPU-seconds in which its work can be done. The marginal efficiency of a segment
    is its additional speed per additional GPU, relative to the speed per GPU at which the job attains its area.
    So it is 1 for the first segment and less for each further one. Rigid jobs have one segment, and without
    hysteresis the policy is `srsf` for them.

    Source: none; it follows from the relaxation behind the bound by prices. There, GPU time has a price, work
    of job j has a dual value mu_j, and a segment runs exactly while mu_j times its speed per GPU is at least
    the price. To follow the relaxation, sort all segments by mu_j times speed per GPU, and run those that fit.
    However, mu_j is not known before the end. It is the price that the job pays for a second of work when it
    completes: nearly the price of GPU time then, multiplied by the area of that work. Areas range over many
    orders of magnitude, while prices change little: a job with less area left completes sooner, at a slightly
    higher price. If the price at completion falls as the remaining area to the power of -1/exponent, the rank
    of a segment is its marginal efficiency over that root, which is the key above. An exponent of 1 would treat
    area as price, and give the last GPUs to short jobs that hardly use them. With a large exponent, all jobs
    start before any job grows.

    Key: as above. Ties: lower number. Preemptive at every event; resizes; knows durations. A falling key is
    recomputed only where it matters: O(running jobs that may grow) per event, and O(different segments) per
    change.

    Hysteresis and charge keep running jobs where preemptions and resizes take time. If these take up to a
    minute, a hysteresis of 4 and a charge of 120 save half of the preemptions, a third of the resizes and 7 %
    of the mean JCT. Without overheads they cost up to 5 %. These figures and the exponent were chosen on one
    half of the workloads of `docs/best-policy.md`, which has the results on the other half. Exponents from 3 to
    6 differ by less than a per cent.

    **Jobs that tune their batch** (`gsopt.scenario.scenario.Physics.applications`) are faster or slower in each
    epoch, so their menus say little. As soon as such a job arrives on GPUs of one kind, all jobs are decided
    together at every event and every minute. Adaptive jobs get one, two, four, ... GPUs of a node, or whole
    nodes. The area of a job is the sum over its remaining epochs, each on its most efficient number of GPUs.
    The segments are computed from the work of the next hour, so that a job gets many GPUs in the epochs that
    use them well. Keys are divided by the square root of 1 + age / `ageing`. Nodes are chosen so that few jobs
    move.

    `docs/systems.md` compares it on public workloads of Pollux and Sia, where the mean job completion time is
    10 to 30 % below that of the best published policy.

    Parameters
    ----------
    exponent
        The power of the marginal efficiency, above 0 and at most 16. None means 4, or 3 once jobs tune
        themselves.
    hysteresis
        The divisor of the keys of segments that already have their GPUs, from 1 to 1e9. None means 1, or 4 once
        jobs tune themselves.
    charge
        Seconds that a running job has to save by growing, at least 0; None for 0. Once jobs tune themselves
        they have to save it within the next hour; None then stands for 400 where their course is known. For
        others it stands for 180, as they learn by growing.
    knows
        What is known about jobs that tune themselves: their whole ``course``, with the speed on any GPUs in any
        epoch, or only the number of ``epochs``. Their speed is then that of the model fitted to the steps of
        the job of the same application that has had most GPUs.
    ageing
        Age in seconds at which the key of a job that tunes itself is divided by the root of 2, which shortens
        the tail; None to disregard age.
    multipliers
        Factors of the keys of jobs that tune themselves, by name of the job; 1 for all others. Each is from
        1e-9 to 1e9, and a job with a smaller one goes first.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.2)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 6), ("b", 7)]]
    >>> simulate(Workload(jobs=jobs), marginal, cluster=2).completion_times
    (6.0, 6.833333333333333)
    """
    rule = "must be a finite number of seconds, at least 0"
    require(charge is None or 0 <= number_of(charge) < inf, "charge", charge, rule)
    require_one_of("knows", knows, ("course", "epochs"))
    zero, least = type(state.now)(0), type(state.now)(charge or 0)

    def pays(job: int, before: Any, after: Any) -> bool:
        left = state.remaining(job)
        return bool(left / before - left / after > least)

    segments = SegmentGrants(
        state,
        key=lambda job, area: max(state.remaining(job), zero) * area,
        exponent=4 if exponent is None else exponent,
        hysteresis=1 if hysteresis is None else hysteresis,
        pays=pays if charge else None,
    )
    if charge is None and knows == "course":
        charge = _KNOWN_CHARGE
    adapting = _adapting(exponent, hysteresis, charge, ageing)._replace(multipliers=_checked(multipliers or {}))
    outlook = KnownCourse if knows == "course" else KnownEpochs
    return AdaptingWhereTuned(state, segments, outlook, adapting)


def marginal_attained(
    state: State,
    *,
    exponent: float | Fraction | None = None,
    hysteresis: float | Fraction | None = None,
    grace: float | Fraction = 600,
    ageing: float | None = 3600,
) -> Decider:
    """Grant every further GPU to the job with the largest marginal efficiency for its attained service.

    This is `marginal` for unknown durations. As under least attained service, a job that has held many
    GPU-seconds is expected to need many more, so the attained service replaces the remaining area. It predicts
    the remaining area only roughly, so it counts with a smaller power: the default exponent is twice that of
    `marginal`.

    Key: (grace + GPU-seconds held so far) / (marginal efficiency) ** exponent, divided by the hysteresis if the
    segment has its GPUs. Without hysteresis, jobs of equal service would take turns at every event. Ties: lower
    number. Preemptive at every event; resizes; does not know durations. O(different holdings) per change, and
    for elastic jobs O(running segments).

    Source: none; this is `las` with the allocation of `marginal`. The defaults were chosen in the same way (see
    `docs/best-policy.md`).

    Jobs that tune themselves are treated as in `marginal`, with the speeds of their own fitted models. A job is
    expected to need as many GPU-seconds as it has had.

    Parameters
    ----------
    exponent, hysteresis, ageing
        As in `marginal`. None means an exponent of 8, or 3 once jobs tune themselves, and a hysteresis of 16.
        With a hysteresis of 1, jobs of equal service take turns in every round. If overheads take as long as a
        round, they would never make progress, and the simulator ends such a run with `IllegalDecision`.
    grace
        The GPU-seconds, above 0, that count as held by every job before it began. Jobs that have held less than
        this have similar keys.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.2)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 6), ("b", 12)]]
    >>> simulate(Workload(jobs=jobs), marginal_attained, cluster=2).completion_times
    (6.0, 11.0)
    """
    require(0 < number_of(grace) < inf, "grace", grace, "must be a positive, finite number of GPU-seconds")
    begin = type(state.now)(grace)
    segments = SegmentGrants(
        state,
        key=lambda job, _: state.service(job) + begin,
        exponent=8 if exponent is None else exponent,
        hysteresis=16 if hysteresis is None else hysteresis,
        rises=True,
    )
    outlook = partial(UnknownWork, grace=float(grace))
    return AdaptingWhereTuned(
        state, segments, outlook, _adapting(exponent, 16 if hysteresis is None else hysteresis, None, ageing)
    )


def _adapting(
    exponent: float | Fraction | None,
    hysteresis: float | Fraction | None,
    charge: float | Fraction | None,
    ageing: float | None,
) -> AdaptingOptions:
    """Return the options for jobs that tune themselves, where None keeps a default."""
    require(
        ageing is None or 0 < number_of(ageing) < inf,
        "ageing",
        ageing,
        "must be a positive, finite number of seconds",
    )
    given = {"exponent": exponent, "hysteresis": hysteresis, "charge": charge}
    numbers: dict[str, Any] = {name: float(value) for name, value in given.items() if value is not None}
    return AdaptingOptions(**numbers, ageing=ageing)


def _checked(multipliers: Mapping[str, float]) -> Mapping[str, float]:
    for name, factor in multipliers.items():
        rule = "must be a number from 1e-9 to 1e9"
        require(_LEAST_FACTOR <= number_of(factor) <= _MOST_FACTOR, f"multipliers[{name!r}]", factor, rule)
    return multipliers
