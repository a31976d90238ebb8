"""Lagrangian kernel: each job's cheapest run at given prices, and steps to prices with a higher bound.

The kernels are compiled if numba is installed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.scheduling.groups import groups, taken
from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import Item
from gsopt.core.numbers.compiled import compiled, inner
from gsopt.core.numbers.tolerances import SPAN_ERROR, TERM

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Weight of a new subgradient, relative to the average of the previous ones.
_NEWEST = 0.15


class Jobs(NamedTuple):
    """The jobs of an instance, and the capacity that each of their modes takes up.

    Besides the number of GPUs, the numbers of groups of GPUs are limited (see
    `formulations.scheduling.groups`). Each of these limits applies to groups of one size, and may count the
    partial groups of one job. Each cut is a further limit: at any time, the prices of all modes in use add up
    to at most 1 (see `formulations.scheduling.mixture`).
    """

    gpus: float  # number of GPUs
    release: Reals  # release date of each job
    height: Reals  # shortest time in which each job can run, in seconds
    modes: Integers  # number of modes of each job
    rate: Reals  # fraction of the job's work that a mode does per second, shape (jobs, modes)
    area: Reals  # number of GPUs of each mode, shape (jobs, modes)
    limits: Reals  # number of groups, or 1 for a cut
    taken: Reals  # number of groups that each mode takes up, or its price, shape (limits, jobs, modes)

    @classmethod
    def of(cls, instance: Instance, cuts: Sequence[Mapping[Item, float]] = ()) -> "Jobs":
        """Return the jobs of an instance, with all limits on groups and the given cuts."""
        jobs = range(len(instance))
        items = [(job, mode) for job in jobs for mode in range(len(instance.modes[job]))]
        sizes, most = groups(instance, items), max(map(len, instance.modes))
        rate, area = np.zeros((2, len(jobs), most))
        used = np.zeros((len(sizes) + len(cuts), len(jobs), most))
        for job, mode in items:
            gpus, speed = instance.modes[job][mode]
            rate[job, mode], area[job, mode] = speed / instance.work[job], gpus
            for limit, (size, owner) in enumerate(sizes):
                counts_all = job == owner and instance.gpus % size == 0
                used[limit, job, mode] = taken(gpus, size, whole=counts_all)
            for limit, prices in enumerate(cuts, len(sizes)):
                used[limit, job, mode] = prices.get((job, mode), 0.0)
        return cls(
            gpus=float(instance.gpus),
            release=np.array(instance.release),
            height=np.array([instance.height(job) for job in jobs]),
            modes=np.array([len(modes) for modes in instance.modes]),
            rate=rate,
            area=area,
            limits=np.array([*(float(instance.gpus // size) for size, _ in sizes), *(1.0 for _ in cuts)]),
            taken=used,
        )


class Reach(NamedTuple):
    """The times between which each job completes, and the buckets in which it may run and complete."""

    low: Reals  # earliest completion of each job
    high: Reals  # latest completion of each job
    begin: Integers  # bucket in which each job is released
    first: Integers  # bucket of its earliest completion
    last: Integers  # bucket of its latest completion


class Prices(NamedTuple):
    """Prices of a second in each bucket."""

    area: Reals  # of a GPU, shape (buckets,)
    limits: Reals  # of a unit of each limit, shape (limits, buckets)


class PriceSearch(NamedTuple):
    """The state of a search for prices, which can be continued."""

    best: Prices  # the best prices so far
    tried: Prices  # the prices to try next
    excess: Prices  # recent average of what jobs use beyond the GPUs and limits, as fractions of these
    cost: Reals  # cost of completing each job in each bucket at the best prices, shape (jobs, buckets)
    chosen: Reals  # how often each job recently chose each bucket, as a weighted average, shape (jobs, buckets)
    spent: Reals  # average seconds that it then spent in its modes, shape (jobs, modes, buckets)

    @classmethod
    def of(cls, jobs: Jobs, prices: Prices) -> "PriceSearch":
        """Begin a search from the given prices, which are at least 0."""
        count, most = jobs.rate.shape
        buckets = len(prices.area)
        return cls(
            best=Prices(prices.area.copy(), prices.limits.copy()),
            tried=Prices(prices.area.copy(), prices.limits.copy()),
            excess=Prices(np.zeros(buckets), np.zeros(prices.limits.shape)),
            cost=np.zeros((count, buckets)),
            chosen=np.zeros((count, buckets)),
            spent=np.zeros((count, most, buckets)),
        )


class Pieces(NamedTuple):
    """Pieces of a job's work, in ascending order of price.

    A piece is the additional work in a bucket if the job runs in a faster mode there, or runs there at all.
    """

    price: Reals  # what the job's whole work would cost if all of it cost as much as the piece
    work: Reals  # fraction of the job's work
    slower: Integers  # mode that is left, or -1 for none
    mode: Integers  # mode that is entered
    bucket: Integers


@inner
def _room(size: int) -> Pieces:
    """Return room for a number of pieces."""
    numbers = np.empty((3, size), dtype=np.int64)
    return Pieces(np.empty(size), np.empty(size), numbers[0], numbers[1], numbers[2])


@inner
def _insert(
    pieces: Pieces, size: int, rate: Reals, price: Reals, modes: int, seconds: float, extra: float, bucket: int
) -> int:
    """Insert what a job can do in a bucket, and return the new number of pieces.

    Modes that other modes and idling achieve at a lower price are left out. `extra` is a price of every mode.
    Rounding errors make pieces cheaper and larger, so that the cost of a job is never too high.
    """
    mode, speed, paid = -1, 0.0, 0.0
    while True:
        best, least = -1, np.inf
        for other in range(mode + 1, modes):
            cheapest = price[other] + extra - paid - TERM * (price[other] + extra + paid)
            slope = cheapest / (rate[other] - speed + TERM * (rate[other] + speed))
            if slope <= least:
                best, least = other, slope
        if best < 0:
            return size
        place = size
        while place > 0 and pieces.price[place - 1] > least:
            pieces.price[place] = pieces.price[place - 1]
            pieces.work[place] = pieces.work[place - 1]
            pieces.slower[place] = pieces.slower[place - 1]
            pieces.mode[place] = pieces.mode[place - 1]
            pieces.bucket[place] = pieces.bucket[place - 1]
            place -= 1
        pieces.price[place] = least
        pieces.work[place] = (rate[best] - speed + TERM * (rate[best] + speed)) * seconds
        pieces.slower[place], pieces.mode[place], pieces.bucket[place] = mode, best, bucket
        size += 1
        mode, speed, paid = best, rate[best], price[best] + extra


@inner
def _cost(earlier: Pieces, size: int, own: Pieces, count: int, unpaid: float) -> float:
    """Return the price of all of a job's work, which takes the cheapest pieces of both kinds.

    It is infinite if the pieces are fewer than the job needs, apart from the fraction `unpaid`.
    """
    left, total, i, k = 1.0, 0.0, 0, 0
    while left > 0.0 and (i < size or k < count):
        if k >= count or (i < size and earlier.price[i] <= own.price[k]):
            part = min(left, earlier.work[i])
            total += earlier.price[i] * part
            i += 1
        else:
            part = min(left, own.work[k])
            total += own.price[k] * part
            k += 1
        left -= part
    return total if left <= unpaid else np.inf


@inner
def _spend(earlier: Pieces, size: int, own: Pieces, count: int, rate: Reals, seconds: Reals) -> None:
    """Store the seconds of the cheapest run in each mode and bucket, shape (modes, buckets)."""
    seconds[:] = 0.0
    left, i, k = 1.0, 0, 0
    while left > 0.0 and (i < size or k < count):
        if k >= count or (i < size and earlier.price[i] <= own.price[k]):
            pieces, place = earlier, i
            i += 1
        else:
            pieces, place = own, k
            k += 1
        part = min(left, pieces.work[place])
        left -= part
        mode, slower, bucket = pieces.mode[place], pieces.slower[place], pieces.bucket[place]
        if slower < 0:
            seconds[mode, bucket] += part / rate[mode]
        else:
            time = part / (rate[mode] - rate[slower])
            seconds[mode, bucket] += time
            seconds[slower, bucket] -= time


@compiled
def complete(
    jobs: Jobs, reach: Reach, times: Reals, price: Reals, cost: Reals, bucket: Integers, seconds: Reals
) -> None:
    """Compute what it costs to complete each job in each bucket, and its cheapest run.

    In the bucket in which it completes, a job is assumed to run without a pause from the beginning of the
    bucket or, if later, from its release. It completes no earlier than its window begins.

    Parameters
    ----------
    jobs, reach
        The jobs, and where they may complete.
    times
        The ends of the buckets, ascending, shape (buckets + 1,).
    price
        Price of a second in each mode and bucket, at least 0, shape (jobs, modes, buckets).
    cost
        Stores the completion time plus the price of the cheapest run for each bucket, infinite where the job
        cannot complete, shape (jobs, buckets).
    bucket
        Stores the bucket with the least cost, shape (jobs,).
    seconds
        Stores the seconds of the cheapest run, shape (jobs, modes, buckets).
    """
    most = price.shape[1]
    earlier, own = _room(len(times) * most), _room(2 * most)
    for job in range(len(jobs.release)):
        size, least, modes = 0, np.inf, jobs.modes[job]
        rate, unpaid = jobs.rate[job], SPAN_ERROR * times[-1] / jobs.height[job]
        cost[job] = np.inf
        for place in range(reach.begin[job], reach.last[job] + 1):
            paid = price[job, :, place]
            start = max(times[place], jobs.release[job])
            if place >= reach.first[job]:
                end = min(times[place + 1], reach.high[job])
                room = max(end - start, 0.0)
                free = min(max(reach.low[job] - start, 0.0), room)  # time that does not delay the completion
                count = _insert(own, 0, rate, paid, modes, free, 0.0, place)
                count = _insert(own, count, rate, paid, modes, room - free, 1.0, place)
                total = max(start, reach.low[job]) + _cost(earlier, size, own, count, unpaid)
                cost[job, place] = total
                if total < least:
                    least, bucket[job] = total, place
                    _spend(earlier, size, own, count, rate, seconds[job])
            size = _insert(earlier, size, rate, paid, modes, times[place + 1] - start, 0.0, place)
            kept, done = 0, 0.0
            while kept < size and done < 1.0:
                done += earlier.work[kept]
                kept += 1
            size = kept


@inner
def _quote(jobs: Jobs, prices: Prices, price: Reals) -> None:
    """Store the price of a second in each mode and bucket, shape (jobs, modes, buckets)."""
    limits, buckets = prices.limits.shape
    for job in range(len(jobs.release)):
        for mode in range(jobs.modes[job]):
            for bucket in range(buckets):
                price[job, mode, bucket] = jobs.area[job, mode] * prices.area[bucket]
            for limit in range(limits):
                count = jobs.taken[limit, job, mode]
                if count > 0.0:
                    for bucket in range(buckets):
                        price[job, mode, bucket] += count * prices.limits[limit, bucket]


@inner
def _rent(jobs: Jobs, prices: Prices, lengths: Reals) -> float:
    """Return the price of all GPUs and limits in all buckets."""
    limits, buckets = prices.limits.shape
    total = 0.0
    for bucket in range(buckets):
        rent = jobs.gpus * prices.area[bucket]
        for limit in range(limits):
            rent += jobs.limits[limit] * prices.limits[limit, bucket]
        total += rent * lengths[bucket]
    return total


@inner
def _excess(jobs: Jobs, lengths: Reals, seconds: Reals, weight: float, excess: Prices) -> None:
    """Store by how much runs exceed the GPUs and the limits in each bucket, as fractions of these.

    The new excess has the given weight in the average with previous ones.
    """
    limits, buckets = excess.limits.shape
    for bucket in range(buckets):
        excess.area[bucket] = (1.0 - weight) * excess.area[bucket] - weight
        for limit in range(limits):
            excess.limits[limit, bucket] = (1.0 - weight) * excess.limits[limit, bucket] - weight
    for job in range(len(jobs.release)):
        for mode in range(jobs.modes[job]):
            for bucket in range(buckets):
                part = weight * seconds[job, mode, bucket] / lengths[bucket]
                if part == 0.0:
                    continue
                excess.area[bucket] += part * jobs.area[job, mode] / jobs.gpus
                for limit in range(limits):
                    excess.limits[limit, bucket] += part * jobs.taken[limit, job, mode] / jobs.limits[limit]


@inner
def _square(prices: Prices, excess: Prices, lengths: Reals) -> float:
    """Return the squared length of a direction, in which prices of 0 that would fall have no part."""
    limits, buckets = prices.limits.shape
    total = 0.0
    for bucket in range(buckets):
        if prices.area[bucket] > 0.0 or excess.area[bucket] > 0.0:
            total += lengths[bucket] * excess.area[bucket] ** 2
        for limit in range(limits):
            if prices.limits[limit, bucket] > 0.0 or excess.limits[limit, bucket] > 0.0:
                total += lengths[bucket] * excess.limits[limit, bucket] ** 2
    return total


@inner
def _move(jobs: Jobs, prices: Prices, excess: Prices, step: float) -> None:
    """Change the prices in proportion to the excess, and keep them at least 0."""
    limits, buckets = prices.limits.shape
    for bucket in range(buckets):
        prices.area[bucket] = max(prices.area[bucket] + step * excess.area[bucket] / jobs.gpus, 0.0)
    for limit in range(limits):
        for bucket in range(buckets):
            change = step * excess.limits[limit, bucket] / jobs.limits[limit]
            prices.limits[limit, bucket] = max(prices.limits[limit, bucket] + change, 0.0)


@inner
def _average(jobs: Jobs, bucket: Integers, seconds: Reals, weight: float, search: PriceSearch) -> None:
    """Average the buckets and seconds that jobs chose with previous ones; the new ones have a given weight."""
    count, buckets = search.chosen.shape
    for job in range(count):
        for place in range(buckets):
            search.chosen[job, place] *= 1.0 - weight
        search.chosen[job, bucket[job]] += weight
        for mode in range(jobs.modes[job]):
            for place in range(buckets):
                before = search.spent[job, mode, place]
                search.spent[job, mode, place] = before + weight * (seconds[job, mode, place] - before)


@compiled
def climb(
    jobs: Jobs, reach: Reach, times: Reals, search: PriceSearch, goal: float, bound: float, steps: Reals
) -> float:
    """Raise prices where the cheapest runs exceed capacity, and lower them elsewhere; return the best bound.

    The bound is the sum of completion times that all jobs would choose at the prices, plus what they would pay,
    minus the price of all capacity. The rounding errors of these sums are subtracted. The search ends early if
    the bound reaches the goal, or is infinite because a job cannot complete.

    Parameters
    ----------
    jobs, reach, times
        As for `complete`.
    search
        The state of the search, which is updated.
    goal
        The sum of completion times, in seconds, beyond which a higher bound is of no use.
    bound
        The best bound of the search so far, or minus infinity at first.
    steps
        Length of each step, as a fraction of the step that would reach the goal if the bound were linear.

    Notes
    -----
    Source: the subgradient method with averaged directions (Camerini, Fratta and Maffioli, 1975), and Polyak's
    step. Averages of the choices approximate the optimum of the relaxation (Barahona and Anbil, 2000).
    """
    count, buckets = len(jobs.release), len(times) - 1
    lengths, price = np.diff(times), np.zeros((count, jobs.rate.shape[1], buckets))
    seconds, cost = np.zeros(price.shape), np.empty((count, buckets))
    bucket, weight = np.zeros(count, dtype=np.int64), 1.0 if bound == -np.inf else _NEWEST
    for step in steps:
        _quote(jobs, search.tried, price)
        complete(jobs, reach, times, price, cost, bucket, seconds)
        rent, total = _rent(jobs, search.tried, lengths), 0.0
        for job in range(count):
            total += cost[job, bucket[job]]
        if total == np.inf:
            return np.inf
        found = total - rent - TERM * (search.tried.limits.size + price.size) * (total + rent)
        if found > bound:
            bound = found
            search.cost[:] = cost
            search.best.area[:] = search.tried.area
            search.best.limits[:] = search.tried.limits
        if bound >= goal:
            return bound
        _average(jobs, bucket, seconds, weight, search)
        _excess(jobs, lengths, seconds, weight, search.excess)
        square = _square(search.tried, search.excess, lengths)
        if square == 0.0:
            return bound
        _move(jobs, search.tried, search.excess, step * (goal - found) / square)
        weight = _NEWEST
    return bound
