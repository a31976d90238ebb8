"""Certify: certificates of lower bounds, based on prices of GPU time that are rounded to integers."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gsopt.core.budget import UNLIMITED
from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify import FITS, ProofData

#: Minimum number of ticks in the shortest cell and in all cells together, so that rounding hardly moves the
#: edges. A grid of more than `_MOST_TICKS` ticks is fine enough even if some of its cells are short.
_FEWEST_OF_A_CELL, _FEWEST_TICKS, _MOST_TICKS = 2**6, 2**24, 2**44

#: Minimum and maximum number of bits of the integer that represents a price of 1.
_FEWEST_BITS, _MOST_BITS = 20, 40


def certify(
    given: Workload | Scenario,
    *,
    cluster: Cluster | int | str | None = None,
    cells: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    start: PriceBound | None = None,
    **physics: Any,
) -> Certificate:
    """Certify a lower bound on the mean job completion time, so that `gsopt.verify` can check it.

    The edges and prices of `gsopt.schedule.bounds.prices.price_bound` are rounded to integers. Since any
    prices prove a bound, the bound is then computed exactly from the rounded prices.

    Parameters
    ----------
    given, cluster, physics
        The workload or scenario, the cluster and the physics, as for `gsopt.simulate`.
    cells, evaluations, seconds, start
        Limits on the search for better prices, and a bound whose prices are tried first, as for `price_bound`.

    Raises
    ------
    InvalidInput
        The scenario has no jobs, several GPU types, adaptive jobs, events or shared GPUs, or an option is out
        of range.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=4, gpus=1) for n in "abc"]
    >>> certificate = certify(Workload(jobs=jobs), cluster=1)
    >>> certificate.jobs, len(certificate.prices) == len(certificate.edges) - 1
    (3, True)
    """
    scenario = Scenario.of(given, cluster, **physics)
    data = ProofData.of(scenario)
    found = price_bound(scenario, cells=cells, evaluations=evaluations, seconds=seconds, start=start)
    return certificate_of(found, data)


def certificate_of(found: PriceBound, data: ProofData) -> Certificate:
    """Round the prices of a bound to integers, and return a certificate of the bound that they prove."""
    ticks = data.ticks
    shortest = min(end - begin for begin, end in pairwise(found.times))
    while found.times[-1] * ticks < (_MOST_TICKS if shortest * ticks < _FEWEST_OF_A_CELL else _FEWEST_TICKS):
        ticks *= 2
    delay = decimal(found.origin) - data.origin
    rounded = {0: 0.0}  # the price from each edge on
    for time, price in zip(found.times, [*found.prices, 0.0], strict=True):
        rounded[round((delay + decimal(time)) * ticks)] = price
    edges, values = list(rounded), list(rounded.values())[:-1]
    unit = _unit(edges, values, data)
    prices = [round(price * unit) for price in values]
    total = data.total(ticks, edges, unit, prices, UNLIMITED)
    return Certificate(
        kind="mean JCT by prices of GPU time",
        jobs=len(data.jobs),
        digest=data.digest(),
        ticks=ticks,
        edges=edges,
        unit=unit,
        prices=prices,
        total_jct=str(total),
    )


def _unit(edges: Sequence[int], prices: Sequence[float], data: ProofData) -> int:
    """Return a unit of prices, a power of two, for which costs of rigid jobs fit into 64 bits if possible."""
    most = max(menu[-1][0] for _, _, menu in data.jobs)
    room = FITS / (4 * (edges[-1] + 1) * (most * max(prices, default=0.0) + 2))
    return 1 << min(max(int(room).bit_length() - 1, _FEWEST_BITS), _MOST_BITS)
