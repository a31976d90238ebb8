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

    A job's menu gives its speed on each allowed number of GPUs. The concave hull of these points consists of
    straight pieces. A piece is divided into segments at each allowed number of GPUs on which the job is faster
    than on all smaller numbers. Each segment adds some GPUs and some speed. At every event, the segments of all
    jobs are sorted by::

        (remaining area) / (marginal efficiency) ** exponent

    Segments are served in ascending order of key: a segment gets its GPUs if the segments before it leave
    enough and the segment below it has its own. The area of a job is the smallest number of GPU-seconds in
    which its work can be done. The marginal efficiency of a segment is its additional speed per additional GPU,
    relative to the speed per GPU at which the job attains its area. It is therefore 1 for the first segment,
    and never rises from one segment to the next. Rigid jobs have one segment; for them, the policy without
    hysteresis is `srsf`.

    Source: none; the key follows from the linear relaxation behind `gsopt.schedule.bounds.prices.price_bound`
    if one assumes that the price of GPU time when a job completes will be proportional to the job's present
    remaining area to the power of -1/exponent. With an exponent of 1, the last GPUs go to short jobs that
    hardly use them. With a large exponent, all jobs start before any job grows.

    Key: as above. Ties: lower job number. Preemptive at every event; resizes; knows durations. O(running jobs
    that may grow) per event, and O(distinct segments) per change.

    A hysteresis above 1 and a charge above 0 favour jobs that keep the GPUs that they have, which helps if
    preemptions and resizes take time. For such runs, `docs/best-policy.md` uses a hysteresis of 4 and a charge
    of 120.

    **Jobs that tune themselves** choose their batch size (`gsopt.scenario.scenario.Physics.applications`) and
    have a different speed in each epoch, so their menus say little. As soon as such a job arrives in a cluster
    with GPUs of one kind, GPUs are divided among all jobs anew at every event and every minute. Jobs that tune
    themselves get entire nodes, or a number of GPUs that divides that of a node (for example, 1, 2 or 4 of 8
    GPUs). The area of a job is the sum over its remaining epochs, each on its most efficient number of GPUs.
    The segments are computed for the work of the next hour, so that a job gets many GPUs in the epochs that use
    them efficiently. Keys are divided by the square root of 1 + age / `ageing`. Nodes are chosen so that few
    jobs move.

    **Several types of GPU.** Jobs of models that are measured on several types get GPUs of one type at a time.
    In areas and efficiencies, a GPU has the weight of its type: the geometric mean of the speeds per GPU on
    this type, relative to the first type, over the jobs so far that run on all types. If the best GPUs for a
    job are taken, it gets the next best ones. The charge also applies to a restart on another type.

    `docs/systems.md` compares the policy with published ones on the workloads of Pollux and Sia.

    Parameters
    ----------
    exponent
        The power of the marginal efficiency, above 0 and at most 16; if None, 4, or 3 once jobs tune
        themselves.
    hysteresis
        The divisor of the keys of segments that already have their GPUs, from 1 to 1e9; if None, 1, or 4 once
        jobs tune themselves.
    charge
        The number of seconds that a running job must save by growing, at least 0; if None, 0. Once jobs tune
        themselves, a job must save this time within the next hour, and None stands for 180 if models are
        measured on particular GPU types, and otherwise for 400. With ``knows="epochs"`` and GPUs of one kind,
        at most 180 s are charged for numbers of GPUs on which no similar job has been measured yet, because
        jobs learn by growing.
    knows
        What is known about jobs that tune themselves: their entire ``course``, including the speed on any set
        of GPUs in any epoch, or only the number of ``epochs``, and thus the share of the work that is done. In
        the latter case, speeds are learned from all jobs of the same application that have run so far. They are
        predicted by the fitted model of the job that has had the most GPUs, with the gradients that jobs
        measured in each hundredth of the work, and corrected by the speeds that jobs have reached. On several
        types of GPU, a job knows only its own fitted models.
    ageing
        Once jobs tune themselves: the age in seconds at which the key of any job is divided by the square root
        of 2, so that old jobs do not wait too long; None to ignore age.
    multipliers
        Once jobs tune themselves: factors by which keys are multiplied, keyed by job name, between 1e-9 and
        1e9; 1 for all other jobs. A smaller factor moves a job forward.

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

    This is `marginal` for unknown durations. As in least attained service, a job that has held many GPU-seconds
    is expected to need many more, so the attained service replaces the remaining area. Because it predicts the
    area only roughly, it has less weight: for jobs that do not tune themselves, the default exponent is twice
    that of `marginal`.

    Key: (grace + GPU-seconds held so far) / (marginal efficiency) ** exponent, divided by the hysteresis if the
    job already holds these GPUs. Without hysteresis, jobs of equal service would take turns at every event.
    Ties: lower job number. Preemptive at every event; resizes; does not know durations. O(distinct demands) per
    change, or O(running segments) with elastic jobs.

    Source: none; this is `las` with the allocation of `marginal`. The defaults were chosen like those of
    `marginal` (see `docs/best-policy.md`).

    Jobs that tune themselves are treated as in `marginal`, with the speeds of their own fitted models and a
    charge of 180 s. A job is expected to need as many GPU-seconds as it has already held, plus `grace`.

    Parameters
    ----------
    exponent, hysteresis, ageing
        As in `marginal`. If None, the exponent is 8, or 3 once jobs tune themselves, and the hysteresis is 16.
        With a hysteresis of 1, and overheads that take at least as long as a round of the run, jobs that take
        turns may never make progress. `gsopt.simulate` ends such a run with `IllegalDecision`.
    grace
        Number of GPU-seconds, above 0, that is added to the number that each job has held. Until jobs have held
        about this many GPU-seconds, differences in their service matter little.

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
