"""Offline: near-optimal preemptive schedules of rigid jobs that are all known in advance."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, exp, fsum, inf, log
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.errors import InvalidInput, require
from gsopt.core.numbers.tolerances import WORK_DONE
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.bounds.prices import PriceBound
from gsopt.schedule.bounds.prices.demand import Demand
from gsopt.schedule.bounds.prices.evaluation import evaluate
from gsopt.schedule.bounds.work import first_release

Array = np.ndarray[Any, Any]

#: Number of jobs on each side of the last one that fits, among which the knapsack chooses.
_WINDOW = 16

#: Number of events after which a simulation looks at the time limit.
_EVENTS = 200

#: Number of tries after which the schedule expected from the settings kept so far is simulated. Nearly always,
#: it is as good as expected.
_EXPECTED = 10

#: Horizon without prices, as a multiple of the longest job, so that the worth is the inverse of what remains.
_FAR = 1e9

#: Fractions of tries with another power and horizon, and with changes of only a few jobs.
_OTHERWISE, _FEW = 0.25, 0.5

#: What a try draws from: standard deviations of the logarithms of changes; fractions of jobs that change, or,
#: if only a few do, their largest number among so many jobs (`_AMONG`), so that about as many change in each of
#: the periods of a long trace as in a short one; and the ranges of powers and of logarithms of horizons.
_SPREADS, _CHANGED, _MOST, _AMONG = (0.05, 0.15, 0.5, 1.5), (1.0, 0.3, 0.1, 0.03, 0.01, 0.003), 3, 2_500
_POWERS, _HORIZONS = (0.4, 1.3), (log(3e4), log(1e7))


@dataclass(frozen=True, eq=False)
class OfflineSchedule:
    """A schedule that was planned with knowledge of all jobs.

    Attributes
    ----------
    mean_jct
        Mean job completion time in seconds, as computed by the simulation that made the schedule.
    tries
        Number of further schedules that were tried.
    make
        Function that returns the schedule.
    """

    mean_jct: float
    tries: int
    make: Callable[[], Schedule]

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule, in which jobs are preempted."""
        return self.make()


def offline_schedule(
    scenario: Scenario,
    bound: PriceBound | None,
    *,
    power: float = 1.0,
    horizon: float = 1e5,
    tries: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    on_better: Callable[[OfflineSchedule], Any] | None = None,
) -> OfflineSchedule:
    """Return a schedule with a short mean job completion time, made with the prices that prove a bound.

    At every arrival and completion, the jobs with the largest total worth that fit run; an exact knapsack
    chooses among the jobs near the margin. The worth of a job has two parts. The first is how much more its
    cheapest plan would cost if it had one more second of work, given the prices of GPU time from now on; it is
    updated at the end of each cell of prices. The second, ``max(horizon / remaining - 1, 0)``, moves jobs
    ahead that are soon complete, because prices are constant in each cell and do not tell such jobs apart.
    Without a bound, the worth of a job is the inverse of its remaining time.

    The schedule can then be improved by further tries. A try multiplies the worth of randomly chosen jobs by
    random factors, sometimes with another power and horizon, and simulates the whole scenario. The result and
    the best schedule so far usually differ in a few separate periods. In each of these periods, the settings
    that are better there are kept. After every tenth try, the settings kept so far are simulated together.

    Source: none; the prices are those of `gsopt.schedule.bounds.prices.price_bound`.

    Parameters
    ----------
    scenario
        Rigid jobs on a plain cluster of constant capacity, without overheads.
    bound
        The bound of the scenario; None to do without prices.
    power
        Jobs are sorted by their worth divided by this power of their numbers of GPUs. In the knapsack, the
        value of a job is this quotient times its number of GPUs.
    horizon
        The horizon in the second part of the worth, in seconds, at least 0; ignored without a bound.
    tries
        Number of further schedules to try.
    seed
        Seed of the random changes.
    time_limit
        Seconds after which no further schedule is tried; the first is always computed.
    on_better
        Called with each better schedule.

    Raises
    ------
    InvalidInput
        The scenario is of another kind, or an option is out of range.

    Examples
    --------
    >>> from gsopt import judge
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.schedule.bounds.prices import price_bound
    >>> work = [("a", 3, 9), ("b", 2, 4), ("c", 2, 4)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=k) for n, k, d in work]
    >>> scenario = Scenario.of(Workload(jobs=jobs), 4)
    >>> found = offline_schedule(scenario, price_bound(scenario, evaluations=50))
    >>> found.mean_jct == judge(found.schedule, scenario).mean_jct == 7.0
    True
    """
    _refuse(scenario, bound, power, horizon, tries)
    end = inf if time_limit is None else monotonic() + time_limit
    packing = _Packing(scenario, bound)
    kept = sure = packing.settings(power, horizon)
    best = packing.run(kept, inf)
    assert best is not None  # noqa: S101 - it had no limit
    ends, number = best.ends, 0
    while number < tries and monotonic() < end:
        tried = packing.drawn(kept, ends, np.random.default_rng((seed, number)))
        other = packing.run(tried, end)
        if other is None:
            break
        number += 1
        better = packing.better_there(ends, other.ends)
        kept = _Settings(*(np.where(better, new, old) for new, old in zip(tried, kept, strict=True)))
        ends = np.where(better, other.ends, ends)
        if number % _EXPECTED == 0 or number == tries:
            joint = packing.run(kept, end)
            if joint is None:
                break
            if joint.total < best.total:
                best, sure = joint, kept
                if on_better is not None:
                    on_better(packing.offered(best, number))
            kept, ends = sure, best.ends
    return packing.offered(best, number)


def _refuse(scenario: Scenario, bound: PriceBound | None, power: float, horizon: float, tries: int) -> None:
    jobs = scenario.workload.jobs
    plain = Scenario(workload=scenario.workload, cluster=Cluster.plain(scenario.cluster.gpus))
    if scenario.model_copy(update={"clock_start": None}) != plain:
        raise InvalidInput("scenario", "", "must be a plain cluster, without overheads, sharing or changes")
    for index, job in enumerate(jobs):
        if job.menu or job.modes or job.phases:
            raise InvalidInput(f"workload.jobs[{index}]", job.name, "must be rigid: no menu, modes or phases")
    known = len(jobs) if bound is None else bound.jobs
    require(known == len(jobs), "bound.jobs", known, f"must be the {len(jobs)} jobs of the scenario")
    require(power >= 0, "power", power, "must be at least 0")
    require(0 <= horizon < inf, "horizon", horizon, "must be a number of seconds, at least 0")
    require(tries >= 0, "tries", tries, "must be at least 0")


class _Settings(NamedTuple):
    """What a job's worth is divided by, and the horizon in it, in order of release."""

    shares: Array
    horizons: Array


@dataclass(frozen=True, eq=False)
class _Run:
    """The runs of jobs (rows with job, start and end) in units of time, in order of release, and their ends."""

    runs: Array
    ends: Array
    total: float


class _Packing:
    """Simulations of one scenario, with its jobs in order of release and its times in units of the demand."""

    def __init__(self, scenario: Scenario, bound: PriceBound | None) -> None:
        self._scenario = scenario
        demand = Demand.of(scenario)
        self._order = np.argsort(demand.release, kind="stable")
        self._demand = demand.only(self._order)
        self._unit = demand.unit
        times = () if bound is None else bound.times
        self._edges = np.array([float(Fraction(time) / demand.unit) for time in times])
        self._prices = np.zeros((1, 0)) if bound is None else np.array([bound.prices])
        self._slopes = np.zeros(len(demand)) if bound is None else np.array(bound.slopes)[self._order]
        self.gpus = np.array([job.gpus for job in scenario.workload.jobs], dtype=np.int64)[self._order]

    def settings(self, power: float, horizon: float) -> _Settings:
        """Return the same power, and the same horizon in seconds, for all jobs."""
        units = float(Fraction(horizon) / self._unit)
        if not len(self._edges):
            units = _FAR * self._demand.work.max()
        return _Settings(self.gpus**power, np.full(len(self.gpus), units))

    def drawn(self, kept: _Settings, ends: Array, draw: np.random.Generator) -> _Settings:
        """Return random changes of settings, of many jobs or of a few that wait before they end."""
        shares, horizons = kept
        if draw.random() < _OTHERWISE:
            shares, horizons = self.settings(draw.uniform(*_POWERS), exp(draw.uniform(*_HORIZONS)))
        count = len(shares)
        if draw.random() < _FEW:
            waits = ends - self._demand.release - self._demand.work
            likely = np.sqrt(np.maximum(waits, 0.0))
            likely = likely if likely.any() else np.ones(count)
            number = int(draw.integers(1, _MOST + 1)) * ceil(count / _AMONG)
            few = draw.choice(count, size=number, p=likely / likely.sum())
            changes = np.zeros(count)
            changes[few] = draw.normal(0, _SPREADS[-1], len(few))
        else:
            changes = draw.normal(0, draw.choice(_SPREADS), count) * (
                draw.random(count) < draw.choice(_CHANGED)
            )
        return _Settings(shares * np.exp(changes), horizons)

    def run(self, settings: _Settings, end: float) -> _Run | None:
        """Simulate the scenario, or return None if the time `end` has come before that is done."""
        from gsopt.studies.offline_kernel import advance

        release, count = self._demand.release, len(self._demand)
        slopes, left = self._slopes.copy(), self._demand.work.copy()
        active, chosen = np.empty(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        since, runs, at = np.full(count, -1.0), np.empty((4 * count + 4, 3)), 0
        fixed = release, self.gpus, settings.shares, self._scenario.cluster.gpus, _WINDOW, settings.horizons
        done = WORK_DONE * left
        state, known = (0.0, 0, 0, 0), 0
        while state[1] or state[2] < count:
            if monotonic() >= end:
                return None
            now, there = state[:2]
            cell = int(np.searchsorted(self._edges, now, side="right"))
            until = self._edges[cell] if cell < len(self._edges) else inf
            if there and known < cell < len(self._edges):
                slopes[active[:there]] = self._slopes_now(now, active[:there], left)
            known = cell
            variable = done, slopes, left, active, since, chosen
            state, at = advance(*fixed, *variable, state, until, state[3] + _EVENTS, runs, at)
            if at + 2 * state[1] + 2 > len(runs):
                runs = np.concatenate([runs, np.empty_like(runs)])
        found = runs[:at]
        ends = np.zeros(count)
        np.maximum.at(ends, found[:, 0].astype(np.int64), found[:, 2])
        return _Run(found, ends, fsum((ends - release).tolist()))

    def _slopes_now(self, now: float, jobs: Array, left: Array) -> Array:
        """Return how much more the cheapest plans of jobs would cost with one more second of work."""
        count = len(jobs)
        rest = replace(
            self._demand,
            release=np.full(count, now),
            work=left[jobs],
            weight=np.ones(count),
            slip=np.zeros(count),
            kind=np.zeros(count, dtype=np.int64),
            first=np.arange(count + 1),
            gpus=self._demand.gpus[jobs],
            speed=np.ones(count),
        )
        return evaluate(rest, self._edges, self._prices, compiled=True).slopes

    def better_there(self, kept: Array, tried: Array) -> Array:
        """Return, for each job in order of release, whether it is part of a period in which `tried` is better.

        Both arrays are completion times. A period lasts as long as there are jobs that complete at different
        times in the two schedules. At its end, all jobs that are not complete will complete at the same times.
        """
        release, latest, found = self._demand.release, np.maximum(kept, tried), np.zeros(len(kept), dtype=bool)
        differ = np.flatnonzero(kept != tried)
        if len(differ):
            last = np.maximum.accumulate(latest[differ])
            begins = np.flatnonzero(np.append(True, release[differ][1:] >= last[:-1]))
            gains = np.add.reduceat((kept - tried)[differ], begins)
            for begin, end, gain in zip(begins, [*begins[1:], len(differ)], gains, strict=True):
                if gain > 0:
                    found |= (release < last[end - 1]) & (latest > release[differ[begin]])
        return found

    def offered(self, run: _Run, tries: int) -> OfflineSchedule:
        """Return a run as the result of a search."""
        mean = float(Fraction(run.total) * self._unit / len(self._demand))
        return OfflineSchedule(mean, tries, partial(self._schedule, run))

    def _schedule(self, run: _Run) -> Schedule:
        """Return a run as a schedule on the clock of the workload."""
        jobs, unit = self._scenario.workload.jobs, float(self._unit)
        origin = first_release(self._scenario.workload)
        numbers = self._order[run.runs[:, 0].astype(np.int64)].tolist()
        times = (run.runs[:, 1:] * unit + origin).tolist()
        return Schedule(
            tuple(
                Segment(jobs[number].name, start, end, jobs[number].gpus)
                for number, (start, end) in zip(numbers, times, strict=True)
                if end - start > WORK_DONE * jobs[number].duration  # shorter ones are left by rounding
            )
        )
