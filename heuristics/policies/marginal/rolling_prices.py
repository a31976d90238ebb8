"""Rolling prices: the relaxation behind the bound, solved again at every event for the jobs present."""

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

#: Least seconds of work that a job counts as having left; jobs cannot be shorter.
_LEAST_WORK = 1e-9

#: Digits of the work that is left: rounding of the clock must not choose between prices that are as good.
_DIGITS = 12

#: Worth of a second of work of a job about which the prices say nothing, so that nothing is divided by 0.
_LEAST_WORTH = 1e-12


def rolling_prices(state: State, *, evaluations: int = 60, cells: int = 40) -> Decider:
    """Grant every further GPU to the job whose dual value for it is largest.

    At every event the prices of GPU time are computed for the jobs that are present, as if no further job came.
    The segments of the hulls of their menus are sorted by the worth of a second of work (the dual value of the
    job's work) times additional speed per additional GPU. From the largest on, a segment gets its GPUs if they
    are free and the segment below has got its own.

    The policy is a reference. It shows how much a policy that knows everything but the future can still gain on
    `marginal`: nothing on average, although it takes at least fifty times as long. Comparisons include it only
    if it is named: ``heuristics.policies.rolling_prices:rolling_prices``.

    Source: none; the relaxation is that of `gsopt.schedule.bounds.prices.price_bound`. Key: as above. Ties:
    lower number. Preemptive at every event; resizes; knows durations. O(evaluations * jobs * cells) per event.

    Parameters
    ----------
    evaluations
        The largest number of price vectors to try at an event.
    cells
        The largest number of time cells.

    Raises
    ------
    InvalidInput
        An option is out of its range.

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
        """Return the cost of one more second of work, for each job."""
        cluster = Cluster.plain(state.capacity) if state.cluster.is_plain else state.cluster
        jobs = tuple(_what_is_left(state, job) for job in there)
        scenario = Scenario(workload=Workload(jobs=jobs), cluster=cluster)
        found = price_bound(scenario, evaluations=self._evaluations, cells=self._cells, compiled=is_installed())
        return found.slopes


def _fits(state: State, job: int) -> bool:
    """Check whether a job can run on the available GPUs."""
    return min(min(menu) for menu in state.jobs[job].speeds.values()) <= state.capacity


def _what_is_left(state: State, job: int) -> Job:
    """Return a job with the work that is left, which runs as its menus say, also where it tunes its batch."""
    own = state.jobs[job]
    modes = tuple(mode.model_copy(update={"tunes": False}) for mode in own.modes)
    left = max(float(f"{float(state.remaining(job)):.{_DIGITS}g}"), _LEAST_WORK)
    return own.model_copy(update={"release_date": 0.0, "duration": left, "phases": (), "modes": modes})
