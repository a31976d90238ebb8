"""Rolling prices: a policy that solves the relaxation behind the price bound anew at every event."""

from collections.abc import Iterable
from typing import Any

from gsopt.core.errors import require
from gsopt.core.numbers.compiled import is_installed
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import Action, Decider, State
from heuristics.policies.marginal.segments import SegmentGrants

#: Every job counts as having at least this many seconds of work left; jobs cannot be shorter.
_LEAST_WORK = 1e-9

#: Significant digits of remaining work, so that clock rounding does not choose between equally good prices.
_DIGITS = 12

#: Smallest value of a second of a job's work, which avoids division by 0 where the prices give none.
_LEAST_WORTH = 1e-12


def rolling_prices(state: State, *, evaluations: int = 60, cells: int = 40) -> Decider:
    """Grant each GPU where the work that it adds has the largest dual value.

    At every event, prices of GPU time are computed for the present jobs, as if no more jobs were to come. The
    value of a job's segment (see `marginal`) is its additional speed per additional GPU, times the dual value
    of a second of the job's work, i.e. what another second of it would cost at these prices. In descending
    order of value, a segment gets its GPUs if enough are left and the job's previous segment has its own.

    The policy is a reference for `marginal`, which is much faster. On 13 elastic workloads, their mean job
    completion times are about equal (`docs/best-policy.md`). Comparisons include the policy only if it is named
    by its path, ``heuristics.policies.marginal:rolling_prices``.

    Source: none; the relaxation is that of `gsopt.schedule.bounds.prices.price_bound`. Key: as above. Ties:
    lower job number. Preemptive at every event; resizes; knows durations. O(evaluations * jobs * cells) per
    event.

    Parameters
    ----------
    evaluations
        Largest number of price vectors to try per event, at least 1.
    cells
        Largest number of intervals into which time is divided to compute prices, at least 40.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import simulate
    >>> menu = [(1, 1.0), (2, 1.2)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 6), ("b", 7)]]
    >>> simulate(Workload(jobs=jobs), rolling_prices, cluster=2).completion_times
    (6.0, 6.833333333333333)
    """
    for name, value, least in (("evaluations", evaluations, 1), ("cells", cells, 40)):
        require(isinstance(value, int) and value >= least, name, value, f"must be an integer, at least {least}")
    return _RollingPrices(state, evaluations, cells)


class _RollingPrices:
    preemptive = True

    def __init__(self, state: State, evaluations: int, cells: int) -> None:
        self._evaluations, self._cells = evaluations, cells
        self._worth: dict[int, Any] = {}  # of a second of work of the jobs that are there
        self._segments = SegmentGrants(state, key=lambda job, area: area / self._worth[job])

    def decide(self, state: State) -> Iterable[Action]:
        self._worth |= dict.fromkeys(state.arrived, _LEAST_WORTH)
        there = [job for job in self._worth if job not in state.completed and _fits(state, job)]
        if there:
            number = type(state.now)
            for job, slope in zip(there, self._slopes(state, there), strict=True):
                self._worth[job] = number(max(slope, _LEAST_WORTH))
        self._segments.renew()
        actions = self._segments.decide(state)
        for job in state.completed:
            del self._worth[job]
        return actions

    def _slopes(self, state: State, there: Iterable[int]) -> tuple[float, ...]:
        """Return the dual value of each job's work: the cost of one more second of it."""
        cluster = Cluster.plain(state.capacity) if state.cluster.is_plain else state.cluster
        jobs = tuple(_what_is_left(state, job) for job in there)
        scenario = Scenario(workload=Workload(jobs=jobs), cluster=cluster)
        found = price_bound(scenario, evaluations=self._evaluations, cells=self._cells, compiled=is_installed())
        return found.slopes


def _fits(state: State, job: int) -> bool:
    """Check whether a job can run on the available GPUs."""
    return min(min(menu) for menu in state.jobs[job].speeds.values()) <= state.capacity


def _what_is_left(state: State, job: int) -> Job:
    """Return a job with only its remaining work, which runs at menu speeds even if it tunes its batch size."""
    own = state.jobs[job]
    modes = tuple(mode.model_copy(update={"tunes": False}) for mode in own.modes)
    left = max(float(f"{float(state.remaining(job)):.{_DIGITS}g}"), _LEAST_WORK)
    return own.model_copy(update={"release_date": 0.0, "duration": left, "phases": (), "modes": modes})
