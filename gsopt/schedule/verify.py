"""Verify: the exact check of a certificate that proves a lower bound on the mean job completion time.

This module shares no code with the search for bounds, and computes in integers and fractions. The proof:

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

Network tiers, overheads, phases, slower GPUs and rounds only delay jobs, so the bound remains valid. A delay
until a job's first possible progress in rounds is added. Other files of the checker are about adaptive jobs
(`verify_adaptive.py`), and about surcharges for jobs that do not all fit together (`verify_gangs.py`).
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from math import inf, lcm
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.files import read_data
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.certificate import Certificate, Proof
from gsopt.schedule.verify_adaptive import FITS, Array, refuse_late, total_cost
from gsopt.schedule.verify_epochs import Training, first_progress, hull, trainings_of
from gsopt.schedule.verify_gangs import Entry, charged, charges, exact_array, line

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
    data = ProofData.of(Scenario.of(given, cluster, **physics), known.round_length)
    count, digest = len(data.jobs) + sum(len(each.starts) for each in data.trainings), data.digest()
    try:
        require(known.jobs == count, "jobs", known.jobs, f"must be the {count} of the data")
        require(known.digest == digest, "digest", known.digest, f"must be {digest}, that of the data")
        multiple = f"must be a multiple of {shorten(data.ticks)}, for the data"
        require(known.ticks % data.ticks == 0, "ticks", known.ticks, multiple)
        total = data.total(known, budget)
        rule = f"must be {shorten(str(total))}, which the prices prove"
        require(Fraction(known.total_jct) == total, "total_jct", known.total_jct, rule)
    except InvalidInput as error:
        source = "certificate" if certificate is known else str(certificate)
        raise InvalidInput(error.field, error.value, error.rule, source=source) from None
    gpus = [number for _, number in data.gpus]
    return Proof(known.jobs, max(gpus), len(gpus) - 1, total, known.round_length)


@dataclass(frozen=True)
class ProofData:
    """The data on which the proof depends, in seconds after the first release date.

    Attributes
    ----------
    origin
        The first release date, on the clock of the workload.
    jobs
        Release date, duration on the fastest GPUs, and menu of each job: speeds in all modes, by GPUs.
    gpus
        The times at which the number of available GPUs changes, each with the new number. They begin at 0.
    trainings, types, delay
        The adaptive jobs, the number of GPUs of each type if there are any, and the total delay of releases.
    """

    origin: Exact
    jobs: Sequence[Entry]
    gpus: Sequence[tuple[Exact, int]]
    trainings: Sequence[Training]
    types: Mapping[str, int]
    delay: Exact

    @classmethod
    def of(cls, scenario: Scenario, round_length: float | None = None) -> "ProofData":
        """Extract the data from a scenario, and reject every feature that could make the bound invalid."""
        given, most, slower = scenario.workload.jobs, scenario.cluster.gpus, scenario.speed.gpu_types
        types = {name: scenario.cluster.room(name) for name in sorted(scenario.cluster.gpu_types)}
        slowdowns = {decimal(slower.get(name, 1)) for name in types}
        for holds, field, value, rule in (
            (given, "workload.jobs", len(given), "hold a job"),
            (scenario.share_limit == 1, "share_limit", scenario.share_limit, "be 1"),
            (not scenario.events, "events", len(scenario.events), "be empty"),
            (len(slowdowns) <= 1, "cluster", list(types), "have equally fast GPUs"),
        ):
            require(bool(holds), field, value, f"must {rule} for a certificate")
        slowdown = max(slowdowns, default=1)
        origin, jobs, trainings = decimal(given[0].release_date), [], trainings_of(scenario, round_length)
        delay = sum(start - release for each in trainings for release, start in each.starts)
        for job in given:
            if scenario.application(job) is None:
                release, start = first_progress(scenario, job, round_length)
                entries = (entry for menu in job.speeds.values() for entry in menu.items() if entry[0] <= most)
                menu = tuple(sorted({(gpus, decimal(speed)) for gpus, speed in entries}))
                jobs.append((start, decimal(job.duration) * slowdown, menu))
                delay += start - release
        changes = [(max(decimal(each.time) - origin, 0), each.gpus) for each in scenario.capacity_changes]
        gpus = dict([(0, most), *changes])
        return cls(origin, jobs, list(gpus.items()), trainings, types if trainings else {}, delay)

    def digest(self) -> str:
        """Return the SHA-256 of the data as text: a line per number of GPUs, then sorted lines of jobs."""
        lines = [*(f"{time} {gpus}" for time, gpus in self.gpus), *sorted(map(line, self.jobs))]
        lines += map(str, self.trainings)
        lines += [f"{name} {gpus}" for name, gpus in self.types.items()] + [f"{self.delay}"] * bool(self.delay)
        return sha256("\n".join(lines).encode()).hexdigest()

    @property
    def ticks(self) -> int:
        """Smallest number of ticks per second for which every time that must be is an integer of them."""
        times = [time for job in self.jobs for time in job[:2]] + [time for time, _ in self.gpus]
        return lcm(*{time.denominator for time in times})

    def total(self, known: Certificate, budget: Budget) -> Fraction:
        """Return the lower bound, in seconds, that the prices prove on the sum of job completion times."""
        ticks, edges, unit, prices = known.ticks, known.edges, known.unit, known.prices
        found = total_cost(self.trainings, self.types, known, budget)
        jobs = [_in_ticks(ticks, *job) for job in self.jobs]
        longest = max((-(-job.work // int(job.speed[0])) for job in jobs), default=0)
        end = max([edges[-1], *(job.release for job in jobs)]) + longest  # by then, every job could complete
        extra, surcharges = charges(self.jobs, max(gpus for _, gpus in self.gpus), known, budget)
        all_edges, all_prices, found = exact_array([*edges, end]), exact_array([*prices, 0]), found - surcharges
        for number, job in enumerate(jobs):
            refuse_late(budget)
            found += _least_cost(job, all_edges, unit, charged(all_prices, extra.get(number, ())))
        changes = [(int(time * ticks), gpus) for time, gpus in self.gpus]
        for (begin, gpus), (until, _) in pairwise([*changes, (end, 0)]):
            for cell in range(bisect_right(edges, begin) - 1, len(prices)):
                seconds = min(edges[cell + 1], until) - max(edges[cell], begin)
                if seconds <= 0:
                    break
                found -= gpus * prices[cell] * seconds
        return self.delay + Fraction(found, unit * ticks)


class _Job(NamedTuple):
    """A job in ticks, and the corners of its hull: numbers of GPUs, with their speeds as integers."""

    release: int
    work: int
    gpus: Array
    speed: Array


def _in_ticks(ticks: int, release: Exact, duration: Exact, menu: Sequence[tuple[int, Exact]]) -> _Job:
    """Return a job with the upper concave hull of its menu, from the origin to the highest speed."""
    corners = hull(menu)
    scale = lcm(*(speed.denominator for _, speed in corners))
    rows = [gpus for gpus, _ in corners], [int(speed * scale) for _, speed in corners]
    return _Job(int(release * ticks), int(duration * ticks * scale), *map(exact_array, rows))


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
