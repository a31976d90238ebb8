"""Offline: preemptive schedules with a short mean JCT, for rigid jobs that are all known in advance."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import exp, fsum, inf, log
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

#: Number of jobs between two states that are kept, from which simulations continue.
_APART = 1_000

#: Horizon without prices, as a multiple of the longest job, so that the worth is the inverse of what remains.
_FAR = 1e9

#: With prices, and without them: the fraction of tries that use another power and horizon in a period, the
#: fraction that change only a few jobs, and a number that these are fewer than. The other tries change all jobs
#: of a period at random.
_PRICED, _UNPRICED = (0.5, 0.2, 20), (0.1, 0.8, 4)

#: What a try draws from: lengths of periods, as fractions of all jobs, which are released in them; ranges of
#: powers and of logarithms of horizons; and standard deviations of the logarithms of changes, if only a few
#: jobs change and if all jobs of a period do.
_LENGTHS, _POWERS, _HORIZONS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0), (0.7, 1.2), (log(4e4), log(3e6))
_LARGE, _SMALL = 1.5, (0.02, 0.05, 0.15)

#: Number of tries with few jobs after which the losses of jobs at the prices are computed again.
_REFRESHED = 20


@dataclass(frozen=True, eq=False)
class OfflineSchedule:
    """A schedule that was planned with knowledge of all jobs.

    Attributes
    ----------
    mean_jct
        Mean job completion time in seconds, as computed by the simulation that made the schedule.
    tries
        Number of tries to improve the first schedule.
    make
        Function that returns the schedule.
    """

    mean_jct: float
    tries: int
    make: Callable[[], Schedule]

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule, in which jobs may be preempted."""
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

    At every arrival and completion, jobs are sorted by worth per GPU (see `power`), and run in this order up to
    the first one that does not fit. If this leaves GPUs idle, an exact knapsack chooses again among the jobs
    near that one, and then any jobs that still fit run as well.

    The worth of a job is the sum of two parts. The first, which is updated when prices change, is how much more
    its cheapest plan from now on would cost if it had one more second of work. A plan costs the job's
    completion time plus the price of the GPU time that the plan uses. The second part,
    ``max(horizon / remaining - 1, 0)``, moves jobs ahead that are soon complete. Without a bound, the worth of
    a job is in effect the inverse of its remaining time.

    The schedule can then be improved by further tries. A try multiplies the worth of randomly chosen jobs by
    random factors, or uses another power and horizon for the jobs of some period, and simulates the scenario
    again. If the new schedule is better than the best one so far in some periods, its settings replace those of
    the best one there, and the combination is kept if it leads to a better schedule.

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
    best = packing.run(packing.settings(power, horizon), inf)
    assert best is not None  # noqa: S101 - it had no limit
    number = 0
    while number < tries and monotonic() < end:
        tried, first = packing.drawn(best, np.random.default_rng((seed, number)), end)
        other = packing.run(tried, end, best, first)
        if other is None:
            break
        number += 1
        better = packing.better_there(best.ends, other.ends)
        if not better.any():
            continue
        mixed = _Settings(*(np.where(better, new, old) for new, old in zip(tried, best.settings, strict=True)))
        joint = other if mixed.equals(tried) else packing.run(mixed, end, best, first)
        if joint is not None and joint.total < best.total:
            best = joint
            if on_better is not None:
                on_better(packing.offered(best, number))
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

    def equals(self, other: "_Settings") -> bool:
        """Return whether other settings are the same for all jobs."""
        return all(map(np.array_equal, self, other))


class _Mark(NamedTuple):
    """The state of a simulation: its cell of prices, and active jobs with their remaining times and slopes."""

    state: tuple[float, int, int, int]
    cell: int
    jobs: Array
    left: Array
    slopes: Array


@dataclass(frozen=True, eq=False)
class _Run:
    """Runs of jobs (rows with job, start and end) in units of time, the jobs' ends, and states on the way."""

    settings: _Settings
    runs: Array
    ends: Array
    total: float
    marks: list[_Mark]

    def goes_on(self, settings: _Settings, marks: list[_Mark]) -> bool:
        """Return whether this run goes on like one with other settings and marks from the last mark on."""
        mark, own = marks[-1], self.marks[len(marks) - 1]
        if mark.state[:3] != own.state[:3] or not all(map(np.array_equal, mark[2:], own[2:])):
            return False
        changed = np.any([new != old for new, old in zip(settings, self.settings, strict=True)], axis=0)
        return not (changed[mark.state[2] :].any() or changed[mark.jobs].any())


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
        self._times = np.unique(self._demand.release[::_APART])
        self._losses, self._tries = np.zeros(len(demand)), 0

    def settings(self, power: float, horizon: float) -> _Settings:
        """Return the same power, and the same horizon in seconds, for all jobs."""
        units = float(Fraction(horizon) / self._unit)
        if not len(self._edges):
            units = _FAR * self._demand.work.max()
        return _Settings(self.gpus**power, np.full(len(self.gpus), units))

    def drawn(self, best: _Run, draw: np.random.Generator, end: float) -> tuple[_Settings, int]:
        """Return random changes of settings, and the last mark before the first job that changes.

        Either the jobs released in a period change, or a few that wait or lose much in the best run.
        """
        (shares, horizons), release, count = best.settings, self._demand.release, len(self.gpus)
        in_period, of_few, most = _PRICED if len(self._edges) else _UNPRICED
        kind, changes = draw.random(), np.zeros(count)
        length = int(draw.choice(_LENGTHS) * count) + 1
        begin = int(draw.integers(-length // 2, count))
        inside = (np.arange(count) >= begin) & (np.arange(count) < begin + length)
        if kind < in_period:
            other = self.settings(draw.uniform(*_POWERS), exp(draw.uniform(*_HORIZONS)))
            shares, horizons = (np.where(inside, *pair) for pair in zip(other, best.settings, strict=True))
        elif kind < in_period + of_few:
            likely = self._likely(best, end)
            few = draw.choice(count, size=int(exp(draw.uniform(0, log(most)))), p=likely / likely.sum())
            changes[few] = draw.normal(0, _LARGE, len(few))
            changes = -np.abs(changes) if len(self._edges) else changes
        else:
            changes = draw.normal(0, draw.choice(_SMALL), count) * inside
        tried = _Settings(shares * np.exp(changes), horizons)
        changed = np.any([new != old for new, old in zip(tried, best.settings, strict=True)], axis=0)
        earliest = release[changed].min(initial=release[-1])
        return tried, int(np.searchsorted(self._times, earliest, side="right")) - 1

    def _likely(self, best: _Run, end: float) -> Array:
        """Return weights of the jobs that may change: with prices, what they lose; otherwise, how they wait.

        A job loses what it costs in the best run, or in a recent one, beyond its cheapest plan.
        """
        if not len(self._edges):
            found = np.sqrt(np.maximum(best.ends - self._demand.release - self._demand.work, 0.0))
        else:
            if self._tries % _REFRESHED == 0:
                self._losses = self._lost(best, end)
            self._tries += 1
            found = self._losses
        return found if found.any() else np.ones(len(found))

    def _lost(self, best: _Run, end: float) -> Array:
        """Return what each job costs in a run beyond its cheapest plan at the prices; 0 if time is up."""
        run = self.run(best.settings, end)
        if run is None:
            return np.zeros(len(self.gpus))
        jobs = run.runs[:, 0].astype(np.int64)
        paid = np.append(0.0, np.cumsum(self._prices[0] * np.diff(self._edges)))
        begin, finish = (np.interp(times, self._edges, paid) for times in run.runs[:, 1:].T)
        rent = np.bincount(jobs, weights=(finish - begin) * self.gpus[jobs], minlength=len(self.gpus))
        least = evaluate(self._demand, self._edges, self._prices, compiled=True).values
        return np.maximum(run.ends - self._demand.release + rent - least, 0.0)

    def run(self, settings: _Settings, end: float, base: _Run | None = None, first: int = 0) -> _Run | None:
        """Simulate the scenario, or return None if the time `end` has come before that is done.

        With another run as `base`, the simulation begins at its mark number `first`, before which the settings
        must be the same. It stops at a mark where both are in the same state, and where all jobs with other
        settings are complete. The runs are then incomplete.
        """
        from gsopt.studies.offline_kernel import advance

        release, count = self._demand.release, len(self._demand)
        slopes, left = self._slopes.copy(), self._demand.work.copy()
        active, chosen = np.empty(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        since, runs, at = np.full(count, -1.0), np.empty((4 * count + 4, 3)), 0
        fixed = release, self.gpus, settings.shares, self._scenario.cluster.gpus, _WINDOW, settings.horizons
        done = WORK_DONE * left
        state, known, marks = (0.0, 0, 0, 0), 0, list[_Mark]()
        if base is not None:
            state, known, jobs, left[jobs], slopes[jobs] = base.marks[first]
            active[: len(jobs)], marks = jobs, base.marks[:first]
        same: _Mark | None = None
        while state[1] or state[2] < count:
            if monotonic() >= end:
                return None
            now, there = state[:2]
            while len(marks) < len(self._times) and now >= self._times[len(marks)]:
                jobs = np.sort(active[:there])
                marks.append(_Mark(state, known, jobs, left[jobs], slopes[jobs]))
            if marks and base is not None and base.goes_on(settings, marks):
                same = marks[-1]
                break
            cell = int(np.searchsorted(self._edges, now, side="right"))
            until = self._edges[cell] if cell < len(self._edges) else inf
            until = min(until, self._times[len(marks)]) if len(marks) < len(self._times) else until
            if there and known < cell < len(self._edges):
                slopes[active[:there]] = self._slopes_now(now, active[:there], left)
            known = cell
            variable = done, slopes, left, active, since, chosen
            state, at = advance(*fixed, *variable, state, until, state[3] + _EVENTS, runs, at)
            if at + 2 * state[1] + 2 > len(runs):
                runs = np.concatenate([runs, np.empty_like(runs)])
        found = runs[:at]
        ends = np.zeros(count) if base is None else base.ends.copy()
        ends[found[:, 0].astype(np.int64)] = found[:, 2]  # the last row of each job counts
        if base is not None and same is not None:
            ends[same.jobs] = base.ends[same.jobs]
            marks += base.marks[len(marks) :]
        return _Run(settings, found, ends, fsum((ends - release).tolist()), marks)

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
        return OfflineSchedule(mean, tries, partial(self._schedule, run.settings))

    def _schedule(self, settings: _Settings) -> Schedule:
        """Return the schedule, on the clock of the workload, that is simulated with some settings."""
        run = self.run(settings, inf)
        assert run is not None  # noqa: S101 - it had no limit
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
