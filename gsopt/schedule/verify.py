"""Verify: the exact check of a certificate that proves a lower bound on the mean job completion time.

This module shares no code with the search for bounds, and it computes only with integers. The proof:

Divide time, counted from the first release date, into cells. A GPU-second in cell b has a price l_b >= 0; in
the last cell, which has no end, it is free. No schedule uses more GPU-seconds than are available. Let S be
their total price. So if job j is released at r_j and completes at C_j in some schedule, then

    sum_j (C_j - r_j)  >=  sum_j (C_j - r_j + price of the GPU-seconds of job j) - S  >=  sum_j v_j - S,

where v_j is the minimum cost of job j if it has all GPUs to itself. If the job completes in cell e, which
begins at g, then C_j is at least max(g, r_j) plus the seconds for which it runs in cell e. So a second on k
GPUs costs k l_b in a cell b before e, and k l_e + 1 in cell e. Buying the cheapest seconds that do the job's
work is a fractional knapsack problem. In each cell, its items are the segments of the concave hull of the
job's menus, for at most the length of the cell. In cell e, all segments up to the corner with the lowest cost
per unit of work, including the 1, form one item.

Network tiers, overheads, phases, slower GPUs and rounds only delay jobs, so the bound remains valid.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from math import inf, lcm
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, TimeUp, require, shorten
from gsopt.core.files import read_data
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.certificate import Certificate, Proof

Array = np.ndarray[Any, Any]

#: Integers below this limit, and sums of two of them, fit into 64 bits. Larger ones need Python's integers.
FITS = 2**62

#: Number of completion cells that are evaluated at once: at first, and at most.
_FEWEST, _MOST = 8, 64


def verify(
    certificate: Certificate | str | Path,
    given: Workload | Scenario,
    *,
    cluster: Cluster | int | str | None = None,
    time_limit: float | str | None = None,
    **physics: Any,
) -> Proof:
    """Check a certificate in exact arithmetic, and return what it proves.

    Parameters
    ----------
    certificate
        A certificate returned by `gsopt.certify`, or the path of its file.
    given, cluster, physics
        The workload or scenario, the cluster and the physics, as for `gsopt.simulate`.
    time_limit
        Time limit in seconds, or as text such as ``10min``; None for no limit.

    Raises
    ------
    InvalidInput
        The certificate is damaged, was made for different data, or claims a bound that its prices do not prove.
        Or the scenario has a feature that the proof does not cover.
    TimeUp
        The time limit was reached.

    Examples
    --------
    >>> import gsopt
    >>> jobs = gsopt.Workload(jobs=[gsopt.Job(name=n, release_date=0, duration=4, gpus=1) for n in "abc"])
    >>> proof = gsopt.verify(gsopt.certify(jobs, cluster=1), jobs, cluster=1)
    >>> proof.jobs, 7.9 < proof.mean_jct <= 8
    (3, True)
    """
    budget = Budget(time_limit=time_limit)
    known = certificate if isinstance(certificate, Certificate) else read_data(Certificate, certificate)
    data = ProofData.of(Scenario.of(given, cluster, **physics))
    digest = data.digest()
    try:
        require(known.jobs == len(data.jobs), "jobs", known.jobs, f"must be the {len(data.jobs)} of the data")
        require(known.digest == digest, "digest", known.digest, f"must be {digest}, that of the data")
        is_whole = known.ticks % data.ticks == 0
        require(is_whole, "ticks", known.ticks, f"must be a multiple of {shorten(data.ticks)}, for the data")
        total = data.total(known.ticks, known.edges, known.unit, known.prices, budget)
        rule = f"must be {shorten(str(total))}, which the prices prove"
        require(Fraction(known.total_jct) == total, "total_jct", known.total_jct, rule)
    except InvalidInput as error:
        source = "certificate" if certificate is known else str(certificate)
        raise InvalidInput(error.field, error.value, error.rule, source=source) from None
    return Proof(known.jobs, max(gpus for _, gpus in data.gpus), len(data.gpus) - 1, total)


@dataclass(frozen=True)
class ProofData:
    """The data on which the proof depends, in seconds after the first release date.

    Attributes
    ----------
    origin
        The first release date, on the clock of the workload.
    jobs
        Release date, duration and menu of each job: the speeds in all modes, by GPUs that the cluster has.
    gpus
        The times at which the number of available GPUs changes, each with the new number. They begin at 0.
    """

    origin: Exact
    jobs: Sequence[tuple[Exact, Exact, tuple[tuple[int, Exact], ...]]]
    gpus: Sequence[tuple[Exact, int]]

    @classmethod
    def of(cls, scenario: Scenario) -> "ProofData":
        """Extract the data from a scenario, and reject every feature that could make the bound invalid."""
        given, most = scenario.workload.jobs, scenario.cluster.gpus
        types = {machine.gpu_type for machine in scenario.cluster.machines}
        adaptive = [job.name for job in given if scenario.application(job) is not None]
        for holds, field, value, rule in (
            (given, "workload.jobs", len(given), "hold a job"),
            (scenario.share_limit == 1, "share_limit", scenario.share_limit, "be 1"),
            (not scenario.events, "events", len(scenario.events), "be empty"),
            (not adaptive, "applications", adaptive[:1], "make no job adaptive"),
            (len(types) <= 1, "cluster", sorted(types), "have a single GPU type"),
        ):
            require(bool(holds), field, value, f"must {rule} for a certificate")
        origin, jobs = decimal(given[0].release_date), []
        for job in given:
            entries = (entry for menu in job.speeds.values() for entry in menu.items() if entry[0] <= most)
            menu = tuple(sorted({(gpus, decimal(speed)) for gpus, speed in entries}))
            jobs.append((decimal(job.release_date) - origin, decimal(job.duration), menu))
        changes = [(max(decimal(each.time) - origin, 0), each.gpus) for each in scenario.capacity_changes]
        return cls(origin, jobs, list(dict([(0, most), *changes]).items()))

    def digest(self) -> str:
        """Return the SHA-256 of the data as text: a line per number of GPUs, then sorted lines of jobs."""
        jobs = (f"{r} {p} {' '.join(f'{gpus}:{speed}' for gpus, speed in menu)}" for r, p, menu in self.jobs)
        lines = [*(f"{time} {gpus}" for time, gpus in self.gpus), *sorted(jobs)]
        return sha256("\n".join(lines).encode()).hexdigest()

    @property
    def ticks(self) -> int:
        """Smallest number of ticks per second for which every time is an integer number of ticks."""
        times = [time for job in self.jobs for time in job[:2]] + [time for time, _ in self.gpus]
        return lcm(*{time.denominator for time in times})

    def total(
        self, ticks: int, edges: Sequence[int], unit: int, prices: Sequence[int], budget: Budget
    ) -> Fraction:
        """Return the lower bound, in seconds, that the prices prove on the sum of job completion times."""
        jobs = [_in_ticks(ticks, *job) for job in self.jobs]
        longest = max(-(-job.work // int(job.speed[0])) for job in jobs)
        end = max(edges[-1], jobs[-1].release) + longest  # by then, every job could complete in the last cell
        all_edges, all_prices, found = _array([*edges, end]), _array([*prices, 0]), 0
        for job in jobs:
            if budget.passed:
                raise TimeUp("the time limit passed before the certificate was checked")
            found += _least_cost(job, all_edges, unit, all_prices)
        changes = [(int(time * ticks), gpus) for time, gpus in self.gpus]
        for (begin, gpus), (until, _) in pairwise([*changes, (end, 0)]):
            for cell in range(bisect_right(edges, begin) - 1, len(prices)):
                seconds = min(edges[cell + 1], until) - max(edges[cell], begin)
                if seconds <= 0:
                    break
                found -= gpus * prices[cell] * seconds
        return Fraction(found, unit * ticks)


class _Job(NamedTuple):
    """A job in ticks, and the corners of its hull: numbers of GPUs, with their speeds as integers."""

    release: int
    work: int
    gpus: Array
    speed: Array


def _in_ticks(ticks: int, release: Exact, duration: Exact, menu: Sequence[tuple[int, Exact]]) -> _Job:
    """Return a job with the upper concave hull of its menu, from the origin to the highest speed."""
    hull: list[tuple[int, Exact]] = [(0, 0)]
    for gpus, speed in menu:
        if speed > hull[-1][1]:
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-2], (gpus, speed)):
                hull.pop()
            hull.append((gpus, speed))
    scale = lcm(*(speed.denominator for _, speed in hull))
    corners = _array([gpus for gpus, _ in hull[1:]]), _array([int(speed * scale) for _, speed in hull[1:]])
    return _Job(int(release * ticks), int(duration * ticks * scale), *corners)


def _slope(left: tuple[int, Exact], right: tuple[int, Exact]) -> Fraction:
    return Fraction(right[1] - left[1], right[0] - left[0])


def _array(values: Sequence[int]) -> Array:
    return np.array(values, dtype=np.int64 if max(values) < FITS else object)


def _least_cost(job: _Job, edges: Array, unit: int, prices: Array) -> int:
    """Return the minimum cost of a job, rounded down, in units of 1 / `unit` ticks."""
    start = first = int(np.searchsorted(edges, job.release, side="right")) - 1
    best, rows = inf, _FEWEST
    while first < len(prices) and (int(edges[first]) - job.release) * unit < best:  # later ones cost no less
        last = min(first + rows, len(prices))
        best = min([best, *_costs(job, edges[start : last + 1], unit, prices[start:last], first - start)])
        first, rows = last, min(2 * rows, _MOST)
    return int(best)


def _costs(job: _Job, edges: Array, unit: int, prices: Array, first: int) -> list[int]:
    """Return the costs, rounded down, of completing in each possible cell from index `first` on.

    Cells in which the job cannot complete are skipped. The first cell is that of the job's release.
    """
    level = lcm(*map(int, job.speed), *map(int, np.diff(job.speed)))
    dearest = int(job.gpus[-1]) * int(prices.max()) + 2 * unit
    largest = (int(edges[-1]) * int(job.speed[-1]) + job.work + level) * dearest
    kind = np.int64 if largest < FITS else object
    edges, prices, gpus, speed = (each.astype(kind) for each in (edges, prices, job.gpus, job.speed))
    begin = np.maximum(edges[:-1], job.release)
    seconds, cells, segments = edges[1:] - begin, np.arange(len(prices)), np.arange(len(gpus))[:, None]
    ends = cells[first:]
    # Items of earlier cells, and then those of the cell of completion: cost and work of a second.
    cost = np.diff(gpus, prepend=0)[:, None] * prices
    work = np.diff(speed, prepend=0)[:, None] + 0 * cost
    to_corner = gpus[:, None] * prices[ends] + unit
    corner = np.argmin(to_corner * (level // speed)[:, None], axis=0)
    cost = np.hstack([cost, np.where(segments == corner, to_corner, cost[:, ends])]).ravel()
    work = np.hstack([work, np.where(segments == corner, speed[:, None], work[:, ends])]).ravel()
    # Seconds of each item, by completion.
    is_earlier = np.repeat((cells < ends[:, None])[:, None], len(gpus), axis=1)
    is_own = (ends[:, None, None] == ends) & (segments >= corner)
    bought = np.concatenate([is_earlier * seconds, is_own * seconds[ends]], axis=2).reshape(len(ends), -1)
    order = np.argsort(cost * (level // work), kind="stable")
    cost, work, bought = cost[order], work[order], bought[:, order]
    done, paid = np.cumsum(bought * work, axis=1), np.cumsum(bought * cost, axis=1)
    enough = np.flatnonzero(done[:, -1] >= job.work)
    last = np.argmax(done[enough] >= job.work, axis=1)
    unneeded = (done[enough, last] - job.work) * cost[last]
    costs = (begin[ends[enough]] - job.release) * unit + paid[enough, last] - -(-unneeded // work[last])
    return [int(each) for each in costs]
