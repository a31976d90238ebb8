"""What a job costs at given prices, from the definition, in fractions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.job import Job

Point = tuple[Fraction, Fraction]

ZERO = Fraction(0)


def cheapest(
    job: Job, release: Fraction, weight: Fraction, edges: Sequence[Fraction], prices: Sequence[Fraction]
) -> Fraction:
    """Find the least that a rigid or elastic job pays for its completion and for the GPU-seconds before it."""
    work = Fraction(decimal(job.duration))
    menu = [(Fraction(count), Fraction(speed)) for count, speed in job.menu or ((job.gpus, 1.0),)]
    costs = []
    for last, begin in enumerate(edges):
        if last + 1 < len(edges) and edges[last + 1] <= release:
            continue
        items: list[Point] = []
        for cell in range(last):
            length = edges[cell + 1] - max(edges[cell], release)
            if length > 0:
                items += _items([(speed, count * prices[cell]) for count, speed in menu], length)
        start = max(begin, release)
        price = [*prices, ZERO][last]
        slowest = work / min(speed for _, speed in menu)
        length = edges[last + 1] - start if last < len(prices) else slowest
        items += _items([(speed, count * price + weight) for count, speed in menu], length)
        costs += [weight * (start - release) + cost for cost in _knapsack(items, work)]
    return min(costs)


def _items(points: Sequence[Point], length: Fraction) -> Iterator[Point]:
    """Yield cost of a unit of work, and work, of each step along the lower hull of speeds and their costs."""
    corners = [(ZERO, ZERO)]
    fastest = max(speed for speed, _ in points)
    while corners[-1][0] < fastest:
        speed, cost = corners[-1]
        ahead = [point for point in points if point[0] > speed]
        corners.append(min(ahead, key=lambda point: ((point[1] - cost) / (point[0] - speed), -point[0])))
    for left, right in pairwise(corners):
        rise = right[0] - left[0]
        yield (right[1] - left[1]) / rise, rise * length


def _knapsack(items: Sequence[Point], work: Fraction) -> Iterator[Fraction]:
    """Yield the least cost of the work, if the items hold it."""
    total = ZERO
    for cost, amount in sorted(items):
        part = min(amount, work)
        total += cost * part
        work -= part
    if work == 0:
        yield total
