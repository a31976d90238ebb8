"""A second checker of certificates with surcharges, for rigid jobs on plain clusters, written from the docs.

It plans each job by linear programming duality, and enumerates the sets of jobs that fit on the cluster. It
counts in ticks, and in the unit of the prices.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, combinations, pairwise

from gsopt.scenario.scenario import Scenario
from gsopt.schedule.certificate import Certificate, Surcharge
from tests.gsopt.schedule.bounds.tiny import exact

#: A job: its release date in ticks after the first one, its duration and its number of GPUs.
Rigid = tuple[int, int, int]


def proven_total(certificate: Certificate, scenario: Scenario) -> Fraction:
    """Return the lower bound on the sum of all job completion times that the prices prove, in seconds."""
    jobs = rigid_jobs(scenario, certificate.ticks)
    plans = sum(cheapest_plan(job, place, certificate) for place, job in enumerate(jobs))
    income = _income(certificate, scenario, [gpus for _, _, gpus in jobs])
    return Fraction(plans - income, certificate.unit * certificate.ticks)


def rigid_jobs(scenario: Scenario, ticks: int) -> list[Rigid]:
    """Return the jobs in the order in which surcharges number them: that of their lines of text."""
    first = _origin(scenario)
    jobs = [(exact(job.release_date) - first, exact(job.duration), job.gpus) for job in scenario.workload.jobs]
    lines = sorted(
        (f"{release} {duration} {gpus}:1", release, duration, gpus) for release, duration, gpus in jobs
    )
    return [(_whole(release * ticks), _whole(duration * ticks), gpus) for _, release, duration, gpus in lines]


def cheapest_plan(job: Rigid, place: int, certificate: Certificate) -> int:
    """Return the least job completion time plus price of GPU time, over all plans of a job.

    A job that completes in a cell runs at the beginning of that cell, or from its release on. A second there
    costs its price and one second of completion time.
    """
    release, duration, gpus = job
    prices = [gpus * price for price in _prices_of(place, certificate)]
    cells: list[tuple[int, int]] = []
    found: list[int] = []
    for index, (begin, end) in enumerate(
        pairwise([*certificate.edges, release + certificate.edges[-1] + duration])
    ):
        length = end - max(begin, release)
        if length > 0:
            waiting = (max(begin, release) - release) * certificate.unit
            last = (prices[index] + certificate.unit, length)
            if length + sum(length for _, length in cells) >= duration:
                found.append(waiting + _cheapest_seconds(duration, [*cells, last]))
            cells.append((prices[index], length))
    return min(found)


def fitting_sets(sizes: list[int], gpus: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of jobs that fit on the given number of GPUs together, as places in the list."""
    for count in range(len(sizes) + 1):
        for chosen in combinations(range(len(sizes)), count):
            if sum(sizes[place] for place in chosen) <= gpus:
                yield chosen


def _cheapest_seconds(duration: int, cells: list[tuple[int, int]]) -> int:
    """Return the least cost of a duration in cells of given costs and lengths, as the value of a dual solution.

    The cost of the dearest second is the dual variable; whatever it is, the dual value is a lower bound.
    """
    costs = sorted(cells)
    spans = accumulate(length for _, length in costs)
    dearest = next(cost for (cost, _), span in zip(costs, spans, strict=True) if span >= duration)
    return dearest * duration - sum(length * max(dearest - cost, 0) for cost, length in cells)


def _income(certificate: Certificate, scenario: Scenario, sizes: list[int]) -> int:
    """Return what all GPUs can earn at most, at the prices of all jobs and the surcharges of those that fit.

    Surcharges are earned on the largest number of GPUs that is ever available.
    """
    supply = _supply(scenario, certificate.ticks)
    total = 0
    for (begin, end), price in zip(pairwise(certificate.edges), certificate.prices, strict=True):
        total += price * sum(
            gpus * max(0, min(end, until) - max(begin, since)) for since, until, gpus in supply
        )
    most = max(gpus for _, _, gpus in supply)
    for surcharge in certificate.surcharges:
        ticks = certificate.edges[surcharge.end] - certificate.edges[surcharge.begin]
        total += ticks * _dearest_set(surcharge, sizes, most)
    return total


def _dearest_set(surcharge: Surcharge, sizes: list[int], gpus: int) -> int:
    """Return the highest sum of surcharges of jobs that fit on the given number of GPUs together."""
    demands = [sizes[job] for job in surcharge.jobs]
    worth = [demand * price for demand, price in zip(demands, surcharge.prices, strict=True)]
    return max(sum(worth[place] for place in chosen) for chosen in fitting_sets(demands, gpus))


def _prices_of(place: int, certificate: Certificate) -> list[int]:
    """Return the price of GPU time in each cell, for the job at the given place."""
    prices = [*certificate.prices, 0]
    for surcharge in certificate.surcharges:
        extra = dict(zip(surcharge.jobs, surcharge.prices, strict=True)).get(place, 0)
        for cell in range(surcharge.begin, surcharge.end):
            prices[cell] += extra
    return prices


def _supply(scenario: Scenario, ticks: int) -> list[tuple[int, int, int]]:
    """Return the periods of constant capacity from the first release date on: begin, end and number of GPUs."""
    first = _origin(scenario)
    changes = [(max(exact(each.time) - first, Fraction()), each.gpus) for each in scenario.capacity_changes]
    times = [0, *(_whole(time * ticks) for time, _ in changes), 10**40]
    numbers = [scenario.cluster.gpus, *(gpus for _, gpus in changes)]
    return [
        (begin, end, gpus) for (begin, end), gpus in zip(pairwise(times), numbers, strict=True) if begin < end
    ]


def _origin(scenario: Scenario) -> Fraction:
    """Return the first release date."""
    return min(exact(job.release_date) for job in scenario.workload.jobs)


def _whole(ticks: Fraction) -> int:
    """Return a whole number of ticks."""
    if ticks.denominator != 1:
        raise ValueError(f"{ticks} is no whole number of ticks")
    return ticks.numerator
