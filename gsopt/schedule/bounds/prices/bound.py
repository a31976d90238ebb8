"""Price bound: a lower bound on the completion times of every schedule, proven by prices of GPU time."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from math import fsum, inf, nextafter
from operator import mul
from time import monotonic
from typing import Any

import numpy as np

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.numbers.compiled import is_installed, is_worth_loading
from gsopt.core.numbers.grid import decimal, float_below
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.far_apart import far_apart
from gsopt.schedule.bounds.prices.ascent import FIRST_CELLS, Ascent, Enough, Prices, Surcharge, first_cells
from gsopt.schedule.bounds.prices.demand import Array, Demand, types_of
from gsopt.schedule.bounds.prices.gangs import GangAscent, large_gangs
from gsopt.schedule.bounds.prices.supply import GpuSupply
from gsopt.schedule.bounds.prices.trainings import Trainings
from gsopt.schedule.bounds.relaxation import Relaxation
from gsopt.schedule.bounds.work import first_release

#: Default largest number of cells, and the multiple of the first grid's cells that is used if it is larger.
_FINEST, _TIMES_FIRST = 320, 3

#: Minimum number of hull segments for which compiled kernels pay off, in general and for rigid jobs. Kernels
#: take most of a second to load, and for rigid jobs numpy is nearly as fast. The choice does not depend on
#: the number of evaluations, so that a longer run begins with the steps of a shorter one.
_MANY, _MANY_RIGID = 100, 1_000

#: Smallest and largest allowed weights. They differ by as much as nanoseconds and decades, so that sums of
#: weights keep their precision.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-9, 1e9


@dataclass(frozen=True)
class PriceBound:
    """A lower bound on the weighted sum of job completion times, and the prices that prove it.

    Attributes
    ----------
    total_jct
        Bound on the weighted sum of job completion times (completion minus release date), in seconds.
    weight
        Sum of the weights.
    jobs
        Number of jobs.
    origin
        The earliest time, in seconds, at which a job can make progress.
    times
        The edges of the time cells, in seconds after the origin.
    prices
        Prices of a GPU-second, one per cell. For GPUs of a type with slowdown c, the price is divided by c. If
        jobs may share GPUs, prices are for one place of a GPU (`gsopt.schedule.bounds.places`).
    type_prices
        Additional prices for GPU types that some jobs require or between which adaptive jobs choose, one per
        cell, keyed by type.
    slopes
        For each job, how much more its cheapest plan would cost with one more second of work at speed 1.
    evaluations
        Number of price vectors that were tried.
    round_length
        Seconds between the decisions of the schedules for which the bound holds; None if it holds for all.
    is_weighted
        Whether any weight differs from 1.
    share_limit
        Number of places of a GPU: the number of jobs that may share it.
    surcharges
        Surcharges on the prices for individual jobs, by time period; see `gangs` of `price_bound`.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=5, duration=4, gpus=1) for n in "abcd"]
    >>> found = price_bound(Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(2)), evaluations=50)
    >>> found.jobs, len(found.prices) == len(found.times) - 1, all(price >= 0 for price in found.prices)
    (4, True, True)
    """

    total_jct: float
    weight: float
    jobs: int
    origin: float
    times: tuple[float, ...]
    prices: tuple[float, ...]
    type_prices: Mapping[str, tuple[float, ...]]
    slopes: tuple[float, ...]
    evaluations: int
    round_length: float | None = None
    is_weighted: bool = False
    share_limit: int = 1
    surcharges: tuple[Surcharge, ...] = ()

    @property
    def mean_jct(self) -> float:
        """Lower bound on the weighted mean job completion time, in seconds."""
        mean = self.total_jct / self.weight
        return (
            mean
            if Fraction(mean) * Fraction(self.weight) <= Fraction(self.total_jct)
            else nextafter(mean, -inf)
        )

    def total_completion(self, workload: Workload, weights: Sequence[float] | None = None) -> float:
        """Return a lower bound on the weighted sum of completion times, on the workload's clock.

        `weights` are those for which the bound was computed; None for 1 each.
        """
        dates = [decimal(job.release_date) for job in workload.jobs]
        weighted = dates if weights is None else map(mul, map(decimal, weights), dates)
        return float_below(sum(weighted, Fraction(self.total_jct)))


def price_bound(
    scenario: Scenario,
    *,
    weights: Sequence[float] | None = None,
    cells: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    start: PriceBound | None = None,
    compiled: bool | None = None,
    round_length: float | None = None,
    gangs: int = 0,
    on_progress: Callable[[PriceBound], Any] | None = None,
) -> PriceBound:
    """Return a lower bound on every schedule's weighted sum of job completion times, from prices of GPU time.

    Time is divided into cells, each with a non-negative price of a GPU-second. A job's plan costs the job's
    weighted completion time plus the price of the GPU-seconds that the plan uses. The bound is the total cost
    of all jobs' cheapest plans minus the price of all available GPU-seconds. It holds for any prices, and
    rounding errors are subtracted. Prices are improved step by step, on increasingly fine cells. Groups of jobs
    that arrive far apart (`gsopt.schedule.bounds.far_apart`) are bounded separately.

    The bound assumes divisible GPUs, the best network tiers, and no overhead but that of a job's first start.
    If a policy chooses machines to give up, the best ones are assumed to remain.

    Source: the Lagrangian dual of the capacity constraints; see M. L. Fisher, "The Lagrangian relaxation method
    for solving integer programming problems", 1981.

    Parameters
    ----------
    scenario
        The workload, its cluster and its rules.
    weights
        Weights from 1e-9 to 1e9, in the order of the jobs; None for 1 each.
    cells
        Maximum number of time cells per group, at least 40. None for 320, or for a larger number if there are
        more than about 11,000 jobs.
    evaluations
        Maximum number of price vectors to try per group; None for a number that suits the cells. Without
        `seconds` and `gangs`, a higher maximum never weakens the bound.
    seconds
        Seconds after which no further prices are tried; None for no limit. The first prices are always tried.
    start
        A bound whose prices are tried first, for the same cluster or a similar one.
    compiled
        Whether to use compiled kernels; None to use them where they pay off. For adaptive jobs, only compiled
        kernels take the order of epochs into account. For other jobs, they hardly affect the bound.
    round_length
        Seconds between decisions, counted as in `gsopt.simulation.simulate`, if the bound should hold only for
        schedules in such rounds; None for all schedules.
    gangs
        Maximum number of large gangs (rigid jobs that need at least a quarter of the cluster) for which
        surcharges are tried, with up to 2,000 further evaluations each. A gang and the rigid jobs that could
        run beside it then pay more for GPU time. For each second, the largest total surcharge of jobs that fit
        on the cluster together is subtracted from the bound. Must be 0 if there are adaptive jobs, shared GPUs
        or GPU types with slowdowns.
    on_progress
        Function that is called with better bounds as they are found.

    Raises
    ------
    InvalidInput
        There are no jobs, the number of weights is wrong, or an option is out of range.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=5, duration=4, gpus=1) for n in "abcd"]
    >>> found = price_bound(Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(2)), evaluations=50)
    >>> 5.9 < found.mean_jct <= 6
    True
    """
    begin = monotonic()
    _refuse(scenario, weights, cells, evaluations, seconds)
    require(gangs >= 0, "gangs", gangs, "must be at least 0")
    relaxation = Relaxation.of(scenario, round_length)
    is_plain = scenario.share_limit == 1 and not scenario.speed.gpu_types and not relaxation.times
    rule = "must be 0 if there are adaptive jobs, shared GPUs or GPU types of different speeds"
    require(is_plain or not gangs, "gangs", gangs, rule)
    own = None if weights is None else [weights[number] for number in relaxation.numbers]
    whole = partial(_from_release, relaxation=relaxation, weights=own, round_length=round_length)
    tell = on_progress and (lambda last: on_progress(whole(last)))
    found = relaxed_bound(
        relaxation,
        weights=own,
        cells=cells,
        evaluations=evaluations,
        seconds=seconds,
        start=start,
        compiled=compiled,
        on_progress=tell,
    )
    if gangs:
        end = inf if seconds is None else begin + seconds
        found = _around_gangs(relaxation, own, found, gangs, end, compiled, tell)
    return whole(found)


def _around_gangs(
    relaxation: Relaxation,
    weights: Sequence[float] | None,
    found: PriceBound,
    gangs: int,
    end: float,
    compiled: bool | None,
    on_progress: Callable[[PriceBound], Any] | None,
) -> PriceBound:
    """Improve a bound with surcharges around the largest gangs, until the time `end`."""
    scenario = relaxation.scenario
    types = types_of(scenario)
    demand = Demand.of(scenario, weights, types)
    supply = GpuSupply.of(scenario, demand.unit, types)
    edges = np.array([float(Fraction(time) / demand.unit) for time in found.times])
    value = float(Fraction(found.total_jct) / demand.unit)
    best = Prices(edges, _prices_of(found, types), value, np.array(found.slopes), found.evaluations)
    is_rigid = np.array([not (job.menu or job.modes) for job in scenario.workload.jobs])
    if compiled is None:  # thousands of evaluations, with a row of prices for each job with surcharges
        compiled = is_installed() and is_worth_loading(None if end == inf else end - monotonic())

    def check() -> None:
        if monotonic() >= end:
            raise Enough

    def improved() -> PriceBound:
        return replace(_bound_of(scenario, types, demand, best), surcharges=best.surcharges)

    with suppress(Enough):
        for gang in large_gangs(demand, supply, is_rigid, gangs):
            ascent = GangAscent(gang, demand, supply, best, is_rigid, compiled=compiled, check=check)
            before = best.value
            try:
                ascent.climb()
            finally:
                best = ascent.best
                if on_progress is not None and best.value > before:
                    on_progress(improved())
    return improved() if best.value > value else replace(found, evaluations=best.evaluations)


def _from_release(
    found: PriceBound, relaxation: Relaxation, weights: Sequence[float] | None, round_length: float | None
) -> PriceBound:
    """Return a bound on times since the release dates of the given workload, with its job indices."""
    total = Fraction(found.total_jct) + relaxation.delayed(weights)
    pairs = sorted(zip(relaxation.numbers, found.slopes, strict=True))
    slopes = tuple(slope for _, slope in pairs)
    surcharges = (
        each._replace(prices={relaxation.numbers[job]: price for job, price in each.prices.items()})
        for each in found.surcharges
    )
    return replace(
        found,
        total_jct=float_below(total),
        slopes=slopes,
        surcharges=tuple(surcharges),
        round_length=round_length,
        is_weighted=any(weight != 1 for weight in weights or ()),
    )


def relaxed_bound(
    relaxation: Relaxation,
    *,
    weights: Sequence[float] | None = None,
    cells: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    start: PriceBound | None = None,
    compiled: bool | None = None,
    on_progress: Callable[[PriceBound], Any] | None = None,
) -> PriceBound:
    """Return the bound of `price_bound` for a relaxation.

    Job completion times are counted from the release dates in the relaxation, not from the original ones.
    """
    begin = monotonic()
    scenario = relaxation.scenario
    jobs, found = scenario.workload.jobs, list[PriceBound]()
    types = types_of(scenario, relaxation.times.values())
    parts = far_apart(scenario.workload)
    ends = list(accumulate(map(len, parts)))
    begins = [_since(part[0].release_date, scenario) for part in parts]

    def tell(last: PriceBound) -> None:
        if on_progress is not None:
            on_progress(_joined(scenario, [*found, last]))

    for part, end, between in zip(parts, ends, pairwise([*begins, inf]), strict=True):
        first = end - len(part)
        left = None if seconds is None else max(seconds - (monotonic() - begin), 0.0)
        own = relaxation if len(parts) == 1 else relaxation.part(part)
        found.append(
            _climbed(
                own,
                types,
                Demand.of(own.scenario, None if weights is None else weights[first:end], types),
                cells=cells,
                evaluations=evaluations,
                seconds=None if left is None else left * len(part) / (len(jobs) - first),
                start=start if start is None or len(parts) == 1 else _within(start, *between),
                compiled=compiled,
                look=tell if end == len(jobs) else None,
            )
        )
    return _joined(scenario, found)


def _since(date: float, scenario: Scenario) -> float:
    """Return the seconds from the first release date to the given date, rounded down."""
    return float_below(decimal(date) - decimal(first_release(scenario.workload)))


def _within(start: PriceBound, begin: float, end: float) -> PriceBound | None:
    """Return a bound with the prices between two times, followed by a free cell; None if all cells are free."""
    first = bisect_right(start.times, begin) - 1
    last = min(bisect_left(start.times, end), len(start.prices))
    rows = [start.prices, *start.type_prices.values()]
    if start.times[last] >= end and not any(row[last - 1] for row in rows):
        last -= 1
    if last <= first:
        return None
    edges = [begin, *start.times[first + 1 : last + 1]]
    return replace(
        start,
        times=tuple(min(time, end) - begin for time in edges),
        prices=start.prices[first:last],
        type_prices={name: prices[first:last] for name, prices in start.type_prices.items()},
    )


def _joined(scenario: Scenario, parts: Sequence[PriceBound]) -> PriceBound:
    """Combine the bounds of parts that are so far apart that GPUs are free between them."""
    if len(parts) == 1:
        return parts[0]
    types = list(parts[0].type_prices)
    begins = [_since(part.origin, scenario) for part in parts]
    cells: dict[float, Sequence[float]] = {}  # from each edge on, the price of every row
    for part, begin, end in zip(parts, begins, [*begins[1:], inf], strict=True):
        columns = [*_prices_of(part, types).T.tolist(), [0.0] * (1 + len(types))]
        edges = (begin + time for time in part.times)
        cells |= {edge: column for edge, column in zip(edges, columns, strict=True) if edge < end}
    cluster, *others = zip(*list(cells.values())[:-1], strict=True)
    return PriceBound(
        total_jct=float_below(sum(Fraction(part.total_jct) for part in parts)),
        weight=fsum(part.weight for part in parts),
        jobs=sum(part.jobs for part in parts),
        origin=parts[0].origin,
        times=tuple(cells),
        prices=cluster,
        type_prices=dict(zip(types, others, strict=True)),
        slopes=tuple(slope for part in parts for slope in part.slopes),
        evaluations=sum(part.evaluations for part in parts),
        share_limit=scenario.share_limit,
    )


def _climbed(
    relaxation: Relaxation,
    types: Sequence[str],
    demand: Demand,
    *,
    cells: int | None,
    evaluations: int | None,
    seconds: float | None,
    start: PriceBound | None,
    compiled: bool | None,
    look: Callable[[PriceBound], None] | None,
) -> PriceBound:
    """Return a bound for jobs that are not far apart, with times counted from their first release date."""
    scenario = relaxation.scenario
    begin, supply = monotonic(), GpuSupply.of(scenario, demand.unit, types)
    best = -inf

    def check(found: Prices) -> None:
        nonlocal best
        if found.value > best:
            best = found.value
            if look is not None:
                look(_bound_of(scenario, types, demand, found))
        if evaluations is not None and found.evaluations >= evaluations:
            raise Enough
        if seconds is not None and monotonic() - begin >= seconds:
            raise Enough

    if compiled is None:
        steps = len(demand.gpus)
        compiled = steps >= (_MANY_RIGID if demand.is_rigid else _MANY) and is_worth_loading(seconds)
    if cells is None:
        cells = max(_FINEST, _TIMES_FIRST * first_cells(len(demand)))
    trainings = None
    if compiled and relaxation.times and is_installed():
        trainings = Trainings(demand, scenario, relaxation.times, types)
    ascent = Ascent(
        demand, supply, cells=cells, compiled=compiled, trainings=trainings or None, on_evaluation=check
    )
    if start is not None:
        edges = [float(Fraction(time) / demand.unit) for time in start.times]
        ascent.take(np.array(edges), _prices_of(start, types))
    with suppress(Enough):
        ascent.climb()
    return _bound_of(scenario, types, demand, ascent.best)


def _bound_of(scenario: Scenario, types: Sequence[str], demand: Demand, found: Prices) -> PriceBound:
    """Create the bound that belongs to the given prices."""
    cluster, *surcharges = (tuple(row.tolist()) for row in found.prices)
    return PriceBound(
        total_jct=float_below(Fraction(found.value) * demand.unit),
        weight=fsum(demand.weight.tolist()),
        jobs=len(demand),
        origin=first_release(scenario.workload),
        times=tuple(float(Fraction(edge) * demand.unit) for edge in found.edges.tolist()),
        prices=cluster,
        type_prices=dict(zip(types, surcharges, strict=True)),
        slopes=tuple(found.slopes.tolist()),
        evaluations=found.evaluations,
        share_limit=scenario.share_limit,
    )


def _prices_of(start: PriceBound, types: Sequence[str]) -> Array:
    """Return the prices of a bound by row. GPU types without prices in the bound have no surcharge."""
    nothing = (0.0,) * len(start.prices)
    return np.array([start.prices, *(start.type_prices.get(name, nothing) for name in types)])


def _refuse(
    scenario: Scenario,
    weights: Sequence[float] | None,
    cells: int | None,
    evaluations: int | None,
    seconds: float | None,
) -> None:
    """Raise `InvalidInput` if no bound can be computed from the given input."""
    jobs = len(scenario.workload.jobs)
    if not jobs:
        raise InvalidInput("workload.jobs", "", "must hold a job")
    if weights is not None and len(weights) != jobs:
        raise InvalidInput("weights", f"{len(weights)} weights", f"must be one for each of the {jobs} jobs")
    for index, weight in enumerate(weights or ()):
        if not _LEAST_WEIGHT <= weight <= _MOST_WEIGHT:
            raise InvalidInput(
                f"weights[{index}]", shorten(weight), f"must be between {_LEAST_WEIGHT:g} and {_MOST_WEIGHT:g}"
            )
    if cells is not None and cells < FIRST_CELLS:
        raise InvalidInput("cells", shorten(cells), f"must be at least {FIRST_CELLS}")
    if evaluations is not None and evaluations < 1:
        raise InvalidInput("evaluations", shorten(evaluations), "must be at least 1")
    if seconds is not None and not seconds >= 0:
        raise InvalidInput("seconds", shorten(seconds), "must be a number of seconds, at least 0")
