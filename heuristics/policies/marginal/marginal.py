"""Marginal: policies that grant GPUs by marginal efficiency and by remaining area or attained service."""

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
from heuristics.policies.marginal.typed import KnownTypedCourse, KnownTypedEpochs, TypedGrants, UnknownTypedWork

#: Seconds that a job whose epochs are known must save by growing. Chosen on the workloads of `docs/systems.md`
#: with known courses; on 14 other workloads of Pollux and Sia, the mean JCT is 2 % shorter than with 180 s.
_KNOWN_CHARGE = 400

#: The smallest and largest multipliers of a key.
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
    """Grant each GPU to the job with the largest marginal efficiency relative to its remaining area.

    The first segment of a job is its smallest number of GPUs. Each further segment adds the GPUs up to the next
    allowed number on which the job is faster. The marginal efficiency of a segment is the slope there of the
    concave hull of the job's speeds, relative to the first slope. The remaining area of a job is the smallest
    number of GPU-seconds in which the rest of its work can be done.

    At every event, the segments of all jobs are sorted by::

        (remaining area) / (marginal efficiency) ** exponent

    In ascending order of key, a segment gets its GPUs if enough are left and the job's previous segment has its
    own. Rigid jobs have one segment. For them, the policy without hysteresis is `srsf`.

    Source: none; the key follows from the linear relaxation behind `gsopt.schedule.bounds.prices.price_bound`,
    if the price of GPU time when a job completes is proportional to the job's present remaining area to the
    power of -1/exponent. Key: as above. Ties: lower job number. Preemptive at every event; resizes; knows
    durations. O(running jobs that may grow) per event, and O(distinct segments) per change.

    **Jobs that tune themselves** choose their batch size (`gsopt.scenario.scenario.Physics.applications`). Once
    such a job has arrived in a cluster with GPUs of one kind, all GPUs are divided anew at every event and
    every minute. If their menus allow it, such jobs get entire nodes, or a number of GPUs that divides that of
    a node. Their area is the sum over the remaining epochs, each on its most efficient number of GPUs. Segments
    are computed for the work of the next hour.

    **Several types of GPU.** Jobs of models that are measured on several types get GPUs of one type at a time.
    In areas and efficiencies, a GPU has the weight of its type: the geometric mean speed of such jobs per GPU,
    relative to the first type.

    Parameters
    ----------
    exponent
        The power of the marginal efficiency, above 0 and at most 16; if None, 4, or 3 once jobs tune
        themselves.
    hysteresis
        The number by which the keys of segments that have their GPUs are divided, from 1 to 1e9; if None, 1, or
        4 once jobs tune themselves. For runs with overheads, `docs/best-policy.md` uses 4, and a charge of 120.
    charge
        A running job grows only if it thereby saves more than this many seconds, at least 0; if None, 0. Once
        jobs tune themselves, the time must be saved within the next hour, and the charge also applies to a
        change of GPU type, unless the new GPUs have less weight. None then stands for 400, or for 180 if models
        are measured on particular GPU types. With ``knows="epochs"`` and GPUs of one kind, the charge is at
        most 180 s for numbers of GPUs that no similar job has tried.
    knows
        What is known about jobs that tune themselves: the entire ``course``, i.e. the speed in any epoch on any
        GPUs, or only the number of ``epochs``. In the latter case, speeds are predicted from measurements of
        jobs of the same application or, with several types of GPU, of the job itself.
    ageing
        Once jobs tune themselves, keys are divided by the square root of 1 + age / `ageing`, where both are in
        seconds. None to ignore the age.
    multipliers
        Factors by which keys are multiplied once jobs tune themselves, keyed by job name, between 1e-9 and 1e9;
        1 for all other jobs.

    Raises
    ------
    InvalidInput
        An option is out of range.

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
    outlook, on_types = (
        (KnownCourse, KnownTypedCourse) if knows == "course" else (KnownEpochs, KnownTypedEpochs)
    )
    typed = _adapting(exponent, hysteresis, charge, ageing)._replace(multipliers=_checked(multipliers or {}))
    alike = typed._replace(charge=_KNOWN_CHARGE) if charge is None else typed
    return AdaptingWhereTuned(state, segments, outlook, alike, lambda now: TypedGrants(on_types(now), typed))


def marginal_attained(
    state: State,
    *,
    exponent: float | Fraction | None = None,
    hysteresis: float | Fraction | None = None,
    grace: float | Fraction = 600,
    ageing: float | None = 3600,
) -> Decider:
    """Grant each GPU to the job with the largest marginal efficiency relative to its attained service.

    This is `marginal` for unknown durations: a job that has held many GPU-seconds is expected to need many
    more. The attained service therefore replaces the remaining area. Jobs that tune themselves are treated as
    in `marginal`, with a charge of 180 s. Their speeds are predicted from their own measurements. Each is
    expected to need as many GPU-seconds as it has held, plus `grace`.

    Source: none; this is `las` with the allocation of `marginal` (see `docs/best-policy.md` for the defaults).
    Key: (grace + GPU-seconds held so far) / (marginal efficiency) ** exponent, divided by the hysteresis if the
    job already holds these GPUs. Ties: lower job number. Preemptive at every event; resizes; does not know
    durations. O(distinct demands) per change, or O(running segments) with elastic jobs.

    Parameters
    ----------
    exponent, hysteresis, ageing
        As in `marginal`. If None, the exponent is 8, or 3 once jobs tune themselves, and the hysteresis is 16.
        With a hysteresis of 1, jobs that take turns may make no progress if overheads are long.
        `gsopt.simulate` then raises `IllegalDecision`.
    grace
        GPU-seconds, above 0, that are added to those that each job has held.

    Raises
    ------
    InvalidInput
        An option is out of range.

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
    outlook, typed = partial(UnknownWork, grace=float(grace)), partial(UnknownTypedWork, grace=float(grace))
    options = _adapting(exponent, 16 if hysteresis is None else hysteresis, None, ageing)
    return AdaptingWhereTuned(state, segments, outlook, options, lambda now: TypedGrants(typed(now), options))


def _adapting(
    exponent: float | Fraction | None,
    hysteresis: float | Fraction | None,
    charge: float | Fraction | None,
    ageing: float | None,
) -> AdaptingOptions:
    """Return the options for jobs that tune themselves, with defaults for None, except for `ageing`."""
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
