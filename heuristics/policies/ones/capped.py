"""Capped: simple rules that divide GPUs, up to caps, among jobs with elastic batch sizes."""

from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from math import inf
from typing import Literal

import numpy as np

from gsopt.core.errors import require_one_of
from gsopt.simulation import Decider, State
from heuristics.policies.ones.dividing import Dividing, Division, Floats

Rule = Literal["shortest", "arrival", "share"]


def capped(state: State, *, rule: Rule = "shortest") -> Decider:
    """Divide the GPUs by a simple rule that grants no job more than its largest batch size needs.

    A job's cap is the smallest number of GPUs on which its largest batch size runs or, without batch sizes, on
    which it is fastest. On the GPUs that it gets, a job runs in its fastest mode. The rules are baselines for
    `exact_batching`, and for `ones` with known remaining work. Comparisons include the policy only if it is
    named by its path: ``heuristics.policies.ones:capped``.

    Source: classical rules, with the caps of ONES. Key: see `rule`. Ties: lower job number. Preemptive at every
    event, but ``arrival`` never stops a job; resizes; ``shortest`` knows durations. O(jobs * cap) per event.

    Parameters
    ----------
    rule
        ``shortest`` (SRPT with caps) goes through the jobs in ascending order of remaining time at the cap.
        Each job gets its cap or, if fewer GPUs are left, the largest allowed number that fits. With ``arrival``
        (FIFO with gangs), each job gets its cap, in order of arrival, and keeps it until it completes. No job
        overtakes a waiting one. ``share`` (equal share) first grants jobs their smallest numbers of GPUs in
        order of arrival, skipping jobs that do not fit. Then, the job with the fewest GPUs repeatedly grows to
        its next allowed number, up to its cap.

    Raises
    ------
    InvalidInput
        The rule is unknown, or the cluster has GPUs of several kinds.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 1.5)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 3), ("b", 6)]]
    >>> for rule in ("shortest", "arrival", "share"):
    ...     print(simulate(Workload(jobs=jobs), capped, cluster=2, rule=rule).completion_times)
    (2.0, 6.0)
    (2.0, 6.0)
    (3.0, 5.0)
    """
    require_one_of("rule", rule, _RULES)
    return Dividing(state, _RULES[rule])


def _speeds(division: Division) -> Floats:
    return division.capped(ways.cap for ways in division.ways)


def _shortest(division: Division) -> list[int]:
    speeds = _speeds(division)
    at_cap = [float(row[_most(row, division.gpus)]) for row in speeds]
    times = [left / speed if speed else inf for left, speed in zip(division.left, at_cap, strict=True)]
    chosen, free = [0] * len(speeds), division.gpus
    for place in sorted(range(len(times)), key=times.__getitem__):
        chosen[place] = _most(speeds[place], free)
        free -= chosen[place]
    return chosen


def _arrival(division: Division) -> list[int]:
    speeds = _speeds(division)
    chosen = [int(count) for count in division.held]
    free = division.gpus - sum(chosen)
    for place, row in enumerate(speeds):
        if not chosen[place]:
            cap = _most(row, division.gpus)
            if cap > free:
                break
            chosen[place] = cap
            free -= cap
    return chosen


def _share(division: Division) -> list[int]:
    menus = [np.flatnonzero(row).tolist() for row in _speeds(division)]
    chosen, free = [0] * len(menus), division.gpus
    growing: list[tuple[int, int, int]] = []  # GPUs, place, and step of the menu
    for place, menu in enumerate(menus):
        if menu and menu[0] <= free:
            chosen[place] = menu[0]
            free -= menu[0]
            growing.append((menu[0], place, 0))
    heapify(growing)
    while growing and free:
        count, place, step = heappop(growing)
        menu = menus[place]
        if step + 1 < len(menu) and menu[step + 1] - count <= free:
            free -= menu[step + 1] - count
            chosen[place] = menu[step + 1]
            heappush(growing, (menu[step + 1], place, step + 1))
    return chosen


def _most(speeds: Floats, free: int) -> int:
    """Return the most GPUs, at most `free`, on which a job may run."""
    counts = np.flatnonzero(speeds[: free + 1])
    return int(counts[-1]) if counts.size else 0


_RULES: Mapping[str, Callable[[Division], list[int]]] = {
    "shortest": _shortest,
    "arrival": _arrival,
    "share": _share,
}
