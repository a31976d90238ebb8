"""Certify: certificates of lower bounds, based on prices of GPU time that are rounded to integers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import number_of, require
from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import LATEST, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.capability import capability
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify import ProofData
from gsopt.schedule.verify_adaptive import FITS
from gsopt.schedule.verify_gangs import line

#: Minimum number of ticks in the shortest cell and in all cells together, so that rounding hardly moves the
#: edges. A grid of more than `_MOST_TICKS` ticks is fine enough even if some of its cells are short.
_FEWEST_OF_A_CELL, _FEWEST_TICKS, _MOST_TICKS = 2**6, 2**24, 2**44

#: Number of parts of a training that must not be too short.
_MOST_PARTS = 160

#: Minimum number of ticks in the shortest part of a training, and number of edges that fit into it.
_FEWEST_OF_A_PART, _EDGES_IN_A_PART = 2**6, 2**3

#: Minimum and maximum number of bits of the integer that represents a price of 1; the minimum with trainings,
#: whose check is far slower beyond 64 bits.
_FEWEST_BITS, _MOST_BITS, _FEWEST_WITH_TRAININGS = 20, 40, 14


def certify(
    given: Workload | Scenario,
    *,
    cluster: Cluster | int | str | None = None,
    cells: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    start: PriceBound | None = None,
    round_length: float | None = None,
    gangs: int = 0,
    **physics: Any,
) -> Certificate:
    """Certify a lower bound on the mean job completion time, so that `gsopt.verify` can check it.

    `gsopt.schedule.bounds.prices.price_bound` divides time into cells and finds a price of GPU time for each of
    them. Here, these prices and the edges of the cells are rounded to integers. Any prices prove a bound, so
    the bound is then computed exactly from the rounded numbers.

    Parameters
    ----------
    given, cluster, physics
        The workload or scenario, the cluster and the physics, as for `gsopt.simulate`.
    cells, evaluations, seconds, start, gangs
        Limits on the search for better prices, a bound whose prices are tried first, and the number of large
        gangs for which surcharges are tried, as for `price_bound`.
    round_length
        Seconds between decisions. The certificate then holds only for schedules in rounds of that length. If
        None, it holds for every schedule.

    Raises
    ------
    InvalidInput
        The scenario has no jobs, or has events, GPUs that jobs may share, or GPU types with different slowdowns
        (`gsopt.scenario.speed.Speed.gpu_types`); or an option is out of range.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=4, gpus=1) for n in "abc"]
    >>> certificate = certify(Workload(jobs=jobs), cluster=1)
    >>> certificate.jobs, len(certificate.prices) == len(certificate.edges) - 1
    (3, True)
    """
    scenario = Scenario.of(given, cluster, **physics)
    holds = round_length is None or 0 < number_of(round_length) <= LATEST
    require(
        holds, "round_length", round_length, f"must be a number of seconds above 0, at most {LATEST:g}, or None"
    )
    data = ProofData.of(scenario, round_length)
    found = price_bound(
        _untied(scenario),
        cells=cells,
        evaluations=evaluations,
        seconds=seconds,
        start=start,
        round_length=round_length,
        gangs=gangs,
    )
    worth = max((capability(scenario, each.gpu_type) for each in scenario.cluster.machines), default=1.0)
    return certificate_of(replace(found, prices=tuple(price * worth for price in found.prices)), data)


def _untied(scenario: Scenario) -> Scenario:
    """Return a scenario without the GPU types that rigid and elastic jobs require, which proofs ignore."""
    jobs = tuple(
        job
        if scenario.application(job) is not None
        else job.model_copy(
            update={
                "gpu_type": "",
                "modes": tuple(mode.model_copy(update={"gpu_type": None}) for mode in job.modes),
            }
        )
        for job in scenario.workload.jobs
    )
    return scenario.model_copy(update={"workload": scenario.workload.model_copy(update={"jobs": jobs})})


def certificate_of(found: PriceBound, data: ProofData) -> Certificate:
    """Round the prices of a bound to integers, and return a certificate of the bound that they prove.

    `data` must belong to the scenario and the `round_length` for which the bound was computed.
    """
    ticks, grain = _grid(found, data)
    delay = decimal(found.origin) - data.origin
    rows = [found.prices, *found.type_prices.values()]
    rounded = {0: (0.0,) * len(rows)}  # the prices from each edge on
    whole = [round((delay + decimal(time)) * ticks / grain) * grain for time in found.times]
    for time, *column in zip(whole, *([*row, 0.0] for row in rows), strict=True):
        rounded[time] = tuple(column)
    edges, columns = list(rounded), list(rounded.values())[:-1]
    highest = max((max(each.prices.values()) for each in found.surcharges), default=0.0)
    unit = _unit(edges, max(map(sum, columns), default=0.0) + highest, ticks, grain, data)
    prices = [[round(price * unit) for price in row] for row in zip(*columns, strict=True)] or [
        [] for _ in rows
    ]
    while data.trainings and edges[1:] and not any(row[-1] for row in prices):  # free steps would be too long
        edges, prices = edges[:-1], [row[:-1] for row in prices]
    fields: dict[str, Any] = {
        "kind": "mean JCT by prices of GPU time",
        "jobs": len(data.jobs) + sum(len(training.starts) for training in data.trainings),
        "digest": data.digest(),
        "ticks": ticks,
        "edges": edges,
        "unit": unit,
        "prices": prices[0],
        "total_jct": "0",
        "round_length": found.round_length,
        "type_prices": dict(zip(found.type_prices, prices[1:], strict=True)),
        "surcharges": list(_surcharges(found, whole, edges, unit, data)),
    }
    if data.trainings:
        from gsopt.schedule.bounds.division import best_division

        known = Certificate(**fields)
        divisions = [best_division(training, known) for training in data.trainings]
        fields["parts"], fields["steps"] = zip(*divisions, strict=True)
    total = data.total(Certificate(**fields), UNLIMITED)
    return Certificate(**{**fields, "total_jct": str(total)})


def _surcharges(
    found: PriceBound, times: Sequence[int], edges: Sequence[int], unit: int, data: ProofData
) -> Iterator[dict[str, Any]]:
    """Yield the rounded surcharges, given the times of the bound and the edges of the certificate in ticks."""
    if not found.surcharges:
        return
    order = sorted(range(len(data.jobs)), key=lambda job: line(data.jobs[job]))
    places, cells = ({each: place for place, each in enumerate(row)} for row in (order, edges))
    for begin, end, prices in found.surcharges:
        first, last = cells[times[begin]], cells[times[end]]
        rounded = sorted((places[job], round(price * unit)) for job, price in prices.items())
        jobs = [(place, price) for place, price in rounded if price]
        if jobs and first < last:
            numbers, surcharges = zip(*jobs, strict=True)
            yield {"begin": first, "end": last, "jobs": numbers, "prices": surcharges}


def _grid(found: PriceBound, data: ProofData) -> tuple[int, int]:
    """Return the number of ticks per second, and the number of ticks of which edges are multiples."""
    ticks = data.ticks
    if data.trainings:
        least = [[float(min(own for _, own in ways)) for ways in each.epochs] for each in data.trainings]
        shortest = min((min(*own, sum(own) / _MOST_PARTS) for own in least if own), default=1.0)
        while shortest * ticks < _FEWEST_OF_A_PART:
            ticks *= 2
        return ticks, max(int(shortest * ticks) // _EDGES_IN_A_PART, 1)
    shortest = min(end - begin for begin, end in pairwise(found.times))
    while found.times[-1] * ticks < (_MOST_TICKS if shortest * ticks < _FEWEST_OF_A_CELL else _FEWEST_TICKS):
        ticks *= 2
    return ticks, 1


def _unit(edges: Sequence[int], dearest: float, ticks: int, grain: int, data: ProofData) -> int:
    """Return a unit of prices, a power of two, for which costs fit into 64 bits if possible."""
    most = max((menu[-1][0] for _, _, menu in data.jobs), default=0)
    room = FITS / (4 * (edges[-1] + 1) * (most * dearest + 2))
    for training in data.trainings:
        longest = max((float(own) for ways in training.epochs for _, own in ways), default=0.0) * ticks
        slowest = sum(float(min(own for _, own in ways)) for ways in training.epochs) * ticks
        room = min(room, FITS / (2 * (edges[-1] + slowest) * (longest / grain + 1)))
    fewest = _FEWEST_WITH_TRAININGS if data.trainings else _FEWEST_BITS
    return 1 << min(max(int(room).bit_length() - 1, fewest), _MOST_BITS)
