"""Outlook: what jobs gain from rounds, their promised completion times, and the resulting plan."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import Literal, NamedTuple

import numpy as np

from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.job import LEAST
from gsopt.simulation import State
from gsopt.simulation.parts.inventory import Inventory
from heuristics.policies.shockwave.packing import conserving
from heuristics.policies.shockwave.program import Effort, RoundProgram
from heuristics.policies.shockwave.search import best_plan
from heuristics.policies.shockwave.window import Plan, Window, WindowClaim

#: The time from which finish times are measured: the release of the run's first job, or each job's release.
Since = Literal["start", "release"]

#: Breakpoints of the utility, as fractions of a job's work, and their logarithms; 0 counts as 1e-6.
_PARTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_LOGS = (log(1e-6), *map(log, _PARTS[1:]))

#: Weight of the mean of all estimates in a job's promised finish time; the last estimate has the rest.
_MOMENTUM = 0.9

#: Power of the finish-time ratio for a late job that needs less than a round to complete.
_LAST_POWER = 100.0


@dataclass(frozen=True)
class Terms:
    """The parameters of a plan, as in the options of `shockwave`."""

    rounds: int
    interval: float
    makespan: float
    ratio: float
    power: float
    most_weight: float
    since: Since
    effort: Effort


class _Need(NamedTuple):
    """A job's GPUs, the completed fraction of its work, and its remaining and total seconds."""

    gpus: int
    done: float
    left: float
    total: float


class _Verdict(NamedTuple):
    """What fairness requires for a job."""

    spare: float  # seconds that it may have left after the window; negative where that end is too late already
    weight: float  # what it weighs where not all jobs get that


class _Promise:
    """A job's promised completion time, from a mean of estimates weighted by how long each was valid."""

    def __init__(self, now: float, estimate: float) -> None:
        self._since = self._last = now
        self._estimate, self._area = estimate, 0.0

    def renew(self, now: float, estimate: float) -> None:
        """Add an estimate, in seconds since the beginning of the run."""
        self._area += self._estimate * (now - self._last)
        self._last, self._estimate = now, estimate

    def due(self, now: float) -> float:
        """Return the promised completion time, in seconds since the beginning of the run."""
        span = now - self._since
        area = self._area + self._estimate * (now - self._last)
        mean = area / span if span > 0 else self._estimate
        return _MOMENTUM * mean + (1 - _MOMENTUM) * self._estimate


class WindowPlanner:
    """A planner of the next rounds, as described in `shockwave`."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._promises: dict[int, _Promise] = {}
        self._start: float | None = None  # when the first job came

    def enter(self, state: State, job: int) -> None:
        """Record a new job."""
        if self._start is None:
            self._start = state.jobs[job].release_date

    def leave(self, job: int) -> None:
        """Forget a completed job."""
        self._promises.pop(job, None)

    def plan(self, state: State, inventory: Inventory, jobs: Sequence[int]) -> list[list[int]]:
        """Return, for each round of the window, the jobs that run in it."""
        needs = [_need(state, inventory, job) for job in jobs]
        share = min(1.0, state.capacity / max(len(jobs), 1))
        self._renew(state, jobs, needs, share)
        window = Window(
            gpus=state.capacity,
            rounds=self._terms.rounds,
            length=self._terms.interval,
            claims=[self._claim(need, len(jobs)) for need in needs],
            price=self._terms.makespan,
        )
        verdicts = [self._verdict(state, job, need, share) for job, need in zip(jobs, needs, strict=True)]
        plan = self._planned(window, verdicts)
        return [[jobs[place] for place in np.flatnonzero(column).tolist()] for column in plan.T]

    def _renew(self, state: State, jobs: Sequence[int], needs: Sequence[_Need], share: float) -> None:
        """Update the promises: estimate when jobs would complete with an equal share since their release."""
        now = float(state.now)
        for job, need in zip(jobs, needs, strict=True):
            estimate = state.jobs[job].release_date + need.total / share
            self._promises.setdefault(job, _Promise(now, estimate)).renew(now, estimate)

    def _claim(self, need: _Need, count: int) -> WindowClaim:
        """Return a job's claim to rounds, with its gain from each additional round."""
        ran = np.minimum(self._terms.interval * np.arange(self._terms.rounds + 1), need.left)
        worth = np.interp(need.done + ran / need.left * (1 - need.done), _PARTS, _LOGS)
        gains = np.diff(worth) / (count * self._terms.rounds)
        return WindowClaim(gpus=need.gpus, gains=tuple(gains.tolist()), left=need.left)

    def _verdict(self, state: State, job: int, need: _Need, share: float) -> _Verdict:
        """Return the seconds that a job may have left after the window, and its weight if it is late."""
        now = float(state.now)
        base = state.jobs[job].release_date if self._terms.since == "release" else self._start or 0.0
        due = max(self._promises[job].due(now) - base, LEAST)
        end = now - base + self._terms.interval * self._terms.rounds
        fair = due * self._terms.ratio + clock_error(now, due)  # who is just in time is in time
        complete = now - base + need.left / share
        weight = 1.0 if complete <= fair else self._weight(complete / due, need.left)
        return _Verdict((fair - end) * share, weight)

    def _weight(self, ratio: float, left: float) -> float:
        """Return the weight of a late job, given its finish-time ratio and remaining seconds."""
        power = _LAST_POWER if left < self._terms.interval else self._terms.power
        return exp(min(power * log(ratio), log(self._terms.most_weight)))

    def _planned(self, window: Window, verdicts: Sequence[_Verdict]) -> Plan:
        """Return a fair plan for a window or, if there is none, the best plan with weights for late jobs."""
        effort = self._terms.effort
        chosen = _fair(window, [verdict.spare for verdict in verdicts])
        plan = None if chosen is None else best_plan(chosen, effort)
        if chosen is None or plan is None:
            chosen = _weighted(window, [verdict.weight for verdict in verdicts])
            plan = best_plan(chosen, effort)
        assert plan is not None  # noqa: S101 - no rounds for anybody is a plan
        return conserving(chosen, RoundProgram(chosen, effort).first(plan))


def _need(state: State, inventory: Inventory, job: int) -> _Need:
    """Return what a job needs at its current speed, on GPUs as close together as possible."""
    (kind,) = inventory.kinds_of(job)
    rate = max(float(inventory.rate(state, job, kind)), LEAST)
    work = state.jobs[job].duration
    remaining = min(max(float(state.remaining(job)), LEAST), work)
    return _Need(state.jobs[job].gpus, 1 - remaining / work, remaining / rate, work / rate)


def _fair(window: Window, spares: Sequence[float]) -> Window | None:
    """Return the window with the smallest fair number of rounds for each job.

    Return None if the window ends too late for some job.
    """
    if any(spare < 0 for spare in spares):
        return None
    claims = [
        claim._replace(least=ceil(max(claim.left - spare, 0.0) / window.length))
        for claim, spare in zip(window.claims, spares, strict=True)
    ]
    return replace(window, claims=claims)


def _weighted(window: Window, weights: Sequence[float]) -> Window:
    """Return the window with gains multiplied by weights."""
    claims = [
        claim._replace(gains=tuple(gain * weight for gain in claim.gains), weight=weight)
        for claim, weight in zip(window.claims, weights, strict=True)
    ]
    return replace(window, claims=claims)
