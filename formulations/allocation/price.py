"""Price: the search for a price per GPU, which yields a bound, a good choice and the items to consider."""

from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np

from formulations.allocation.groups import Floats, Groups, Integers
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import ITEM_SCORE

#: Maximum number of steps in the search for the price. It ends long before, and any price gives a valid bound.
_MOST_PRICES = 100

#: Maximum number of single-job changes that fill the GPUs that a price leaves free.
_MOST_CHANGES = 64


@dataclass(frozen=True, eq=False)
class PricedOptions:
    """The choices and the bound that a price per GPU implies.

    An item's value after payment is its value minus the price of its GPUs. At a given price, each job takes the
    item with the highest value after payment. The sum of these values, plus the price of the whole capacity,
    bounds the optimum from above.
    """

    price: float  # the price per GPU
    # few, many: two choices that are best at the price; the smaller one fits
    few: Integers
    many: Integers
    choice: Integers  # a choice that fits
    excess: float  # upper bound on the optimum minus the value of the choice
    # indices of the items that a better choice may contain, ascending: those whose value after payment is
    # below that of their job's best item by at most the excess
    items: Integers


def price_items(groups: Groups, budget: Budget) -> PricedOptions:
    """Find the price with the lowest bound, a good choice, and the items that a better choice may contain.

    The choice is the budget's start if that is better. The search for the price examines every item only a
    few times, and ignores the time limit.
    """
    price, few, many = _best_price(groups)
    choice = _fill(groups, few, many, budget)
    if budget.start is not None:
        known = groups.choice(budget.start)
        choice = max(choice, known, key=lambda each: float(fsum(groups.value[each])))
    excess, items = _left(groups, price, choice)
    return PricedOptions(price, few, many, choice, excess, items)


def _best_price(groups: Groups) -> tuple[float, Integers, Integers]:
    """Find the price with the lowest bound, and two choices near this price, at least one of which fits.

    The bound is a convex, piecewise linear function of the price. A price at which the choices exceed the
    capacity and a price at which they fit give two lines. The next price is where these lines cross. Between
    the two prices, each job's item lies between its items in the two choices, so fewer and fewer items have to
    be examined.
    """
    left = _Items(np.arange(groups.value.size), groups.job, groups.weight, groups.value, groups.nothing)
    few, many = groups.nothing, left.best(0.0)
    price = 0.0
    if groups.used(many) <= groups.capacity:
        return price, many, many
    low, high = _line(groups, few), _line(groups, many)
    for _ in range(_MOST_PRICES):
        price = (high[1] - low[1]) / (high[0] - low[0])
        choice = left.best(price)
        line = _line(groups, choice)
        if line in (low, high) or line[1] - price * line[0] <= low[1] - price * low[0]:
            break
        if line[0] <= groups.capacity:
            few, low = choice, line
        else:
            many, high = choice, line
        left = left.between(few, many)
    return price, few, many


class _Items(NamedTuple):
    """A subset of the items: their indices, jobs, weights and values, and the first item of each job."""

    places: Integers
    job: Integers
    weight: Integers
    value: Floats
    begins: Integers

    def best(self, price: float) -> Integers:
        """Choose, for each job, the item that is most valuable after payment; on ties, the smallest one."""
        score = self.value - price * self.weight
        hits = np.flatnonzero(score == _highest(score, self.begins)[self.job])[::-1]
        choice = np.zeros_like(self.begins)
        choice[self.job[hits]] = self.places[hits]  # what is written last is the first of its job
        return choice

    def between(self, few: Integers, many: Integers) -> "_Items":
        """Keep, for each job, only the items between its items in two choices."""
        kept = (self.places >= few[self.job]) & (self.places <= many[self.job])
        job = self.job[kept]
        begins = np.flatnonzero(np.append(True, job[1:] != job[:-1]))
        return _Items(self.places[kept], job, self.weight[kept], self.value[kept], begins)


def _line(groups: Groups, choice: Integers) -> tuple[int, float]:
    return groups.used(choice), float(groups.value[choice].sum())


def _fill(groups: Groups, few: Integers, many: Integers, budget: Budget) -> Integers:
    """Fill the GPUs that a choice leaves free.

    First, jobs take their larger items from a second choice at the same price, in descending order of value per
    GPU. Then one job is changed at a time, largest gain first.
    """
    choice = few.copy()
    grown = np.flatnonzero(groups.weight[many] > groups.weight[few])
    weight = groups.weight[many[grown]] - groups.weight[few[grown]]
    order = np.argsort((groups.value[few[grown]] - groups.value[many[grown]]) / weight)
    left = groups.capacity - groups.used(choice)
    fitting = order[: np.searchsorted(np.cumsum(weight[order]), left, side="right")]
    choice[grown[fitting]] = many[grown[fitting]]
    left -= int(weight[fitting].sum())
    held = choice[groups.job]
    items = np.flatnonzero((groups.weight <= groups.weight[held] + left) & (groups.value > groups.value[held]))
    for _ in range(_MOST_CHANGES):
        held = choice[groups.job[items]]
        gain = groups.value[items] - groups.value[held]
        useful = (gain > 0) & (groups.weight[items] <= groups.weight[held] + left)
        items, gain = items[useful], gain[useful]
        if not items.size or budget.passed:
            break
        item = items[np.argmax(gain)]
        job = groups.job[item]
        left -= int(groups.weight[item] - groups.weight[choice[job]])
        choice[job] = item
    return choice


def _left(groups: Groups, price: float, choice: Integers) -> tuple[float, Integers]:
    """Return a bound on the gain over the choice, and the items that a better choice may contain.

    The bound holds despite rounding errors.
    """
    paid = price * groups.weight
    score = groups.value - paid
    error = ITEM_SCORE * (np.abs(groups.value) + paid) + np.finfo(np.float64).tiny
    high = score + error
    best = _highest(high, groups.nothing)
    idle = price * (groups.capacity - groups.used(choice))
    excess = (fsum(best - (score - error)[choice]) + idle) * (1 + ITEM_SCORE)
    return excess, np.flatnonzero(best[groups.job] - high <= excess)


def _highest(score: Floats, begins: Integers) -> Floats:
    """Return the highest score of each job, shape (jobs,)."""
    highest: Floats = np.maximum.reduceat(score, begins) if begins.size else score
    return highest
