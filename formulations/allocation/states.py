"""States: a dynamic program over the few states that can still lead to a better choice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.allocation.groups import Integers
from formulations.allocation.knapsack import Knapsack
from formulations.allocation.lattice import lattice_bound
from formulations.allocation.whole import Numbers
from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy

#: Maximum numbers of groups and of kept states, by pass. The first passes look for good choices, and the last
#: one keeps all states.
PASSES = ((64, 64), (None, 64), (None, 1_024), (None, None))

#: Maximum number of states, over all groups, whose origins are stored; each takes four bytes.
MOST_STATES = 2**26

#: Maximum number of cells in a table, and of sums to be sorted, for merging the states of one group.
MOST_CELLS, MOST_SUMS = 2**24, 2**22

#: Maximum number of table cells per sum for which states are merged in a table with one cell per weight;
#: otherwise, they are merged by sorting.
_CELLS_PER_STATE = 64

#: Called with each better choice and its excess; returning True stops the search.
Hear = Callable[[Integers, int], object]


@dataclass(frozen=True, eq=False)
class Improved:
    """The outcome of `improve`: the best choice found, and how far it may be from the optimum."""

    choice: Integers  # the best choice known
    excess: int  # upper bound on the gain of any other choice; 0 if this one is proven optimal
    stopped_by: StoppedBy  # why the search ended
    full: bool = False  # whether it ended because it would have needed too much memory


def improve(
    knapsack: Knapsack, start: Integers, budget: Budget, *, enough: int = 0, hear: Hear | None = None
) -> Improved:
    """Find the best choice for a knapsack, or a good one and a bound if time or memory runs out.

    A state is the total weight and value, relative to the base, of the groups decided so far. The ratios of
    value to weight in the other groups bound the value that the state can lead to. A state is dropped if this
    bound does not exceed the best known value, or if another state is at most as heavy and at least as
    valuable. Groups are ordered by how close their ratios are to the price, so bounds tighten along the way.

    The search starts from a choice that fits, and takes several passes. It stops once the bound exceeds the
    best known value by at most `enough`, or when `hear`, which is called after each pass that finds a better
    choice, returns True.

    Notes
    -----
    Source: the expanding core of Pisinger, A minimal algorithm for the multiple-choice knapsack problem
    (European Journal of Operational Research 83, 1995), with one price for all reductions, and with passes that
    keep only a few states before the pass that keeps all of them.
    """
    choice, best = start, knapsack.worth(start)
    if knapsack.room >= 0 and best < 0:
        choice, best = knapsack.base, 0
    bound, step, full, stopped = lattice_bound(knapsack), knapsack.step, False, False
    order = _GroupOrder.of(knapsack)
    for most, width in PASSES:
        if full or stopped or bound - best < max(step, enough + 1) or budget.passed:
            break
        found = _pass(knapsack, order, _Goal(best, step, enough, most, width), budget)
        bound, full = min(bound, found.bound), found.full
        if found.best > best:
            choice, best = trace(knapsack.base, found.levels, found.place), found.best
            stopped = hear is not None and hear(choice, bound - best) is True
    excess = max(bound - best, 0) // step * step
    return Improved(choice, excess, reason(excess, enough, stopped, full), full)


def reason(excess: int, enough: int, stopped: bool, full: bool) -> StoppedBy:
    """Return why a search ended, given by how much its bound exceeds its value."""
    if not excess or full:
        return StoppedBy.FINISHED
    if stopped:
        return StoppedBy.INTERRUPT
    return StoppedBy.GAP if excess <= enough else StoppedBy.TIME_LIMIT


@dataclass(frozen=True, eq=False)
class _GroupOrder:
    """Groups in processing order, with the possible gains and savings in the groups after each of them."""

    groups: Integers  # shape (groups,)
    # gain, cost: highest value per unit of weight that later groups can add, and lowest value per unit that
    # they can give back, shape (groups,)
    gain: Numbers
    cost: Numbers

    @classmethod
    def of(cls, knapsack: Knapsack) -> "_GroupOrder":
        price, weight, value = knapsack.price, knapsack.weight, knapsack.value
        most = 2 * price + 1  # any number from the price on is valid where nothing can be given back
        gain, cost = np.zeros_like(value), np.full_like(value, most)
        heavier, lighter = weight > 0, weight < 0
        gain[heavier] = np.maximum(-(-value[heavier] // weight[heavier]), 0)
        cost[lighter] = np.minimum(value[lighter] // weight[lighter], most)
        gain = np.maximum.reduceat(gain, knapsack.first[:-1])
        cost = np.minimum.reduceat(cost, knapsack.first[:-1])
        groups = np.argsort(np.minimum(2 * _ranks(price - gain), 2 * _ranks(cost - price) + 1), kind="stable")
        return cls(
            groups=groups,
            gain=np.append(np.maximum.accumulate(gain[groups][::-1])[::-1][1:], 0),
            cost=np.append(np.minimum.accumulate(cost[groups][::-1])[::-1][1:], most),
        )

    def rate(self, turn: int, room: Integers) -> Numbers:
        """Return a bound on the value of a unit of weight in later groups, for states with the given room."""
        return np.where(room >= 0, self.gain[turn : turn + 1], self.cost[turn : turn + 1])


def _ranks(numbers: Numbers) -> Integers:
    """Return the rank of each number in ascending order."""
    return np.argsort(np.argsort(numbers, kind="stable"))


class _Goal(NamedTuple):
    """The goal and the limits of a pass.

    The fields are the best known value, the step of values, the excess at which to stop, the maximum number of
    groups, and the maximum number of states.
    """

    best: int
    step: int
    enough: int
    most: int | None
    width: int | None


class States(NamedTuple):
    """States in ascending order of both weight and value, shape (states,), and their origins.

    An origin is the index of the preceding state plus the option index times the number of preceding states.
    """

    weight: Integers
    value: Numbers
    origin: Integers

    @classmethod
    def base(cls, knapsack: Knapsack) -> "States":
        """Return the state in which every group keeps its base option."""
        none = np.zeros(1, dtype=np.int64)
        return cls(none, none.astype(knapsack.value.dtype), none)

    def only(self, places: Integers) -> "States":
        """Return the states at the given places."""
        return States(self.weight[places], self.value[places], self.origin[places])


class Level(NamedTuple):
    """The links from the states after one group to the states before it."""

    group: int
    options: Integers
    origin: Integers
    before: int

    @classmethod
    def of(cls, group: int, options: Integers, origin: Integers, before: int) -> "Level":
        """Store the links in as few bytes as possible."""
        return cls(group, options, origin.astype(np.min_scalar_type(before * options.size)), before)


class _Passed(NamedTuple):
    """The outcome of a pass: the best value, the levels and the last state that lead to it, and a bound."""

    best: int
    levels: Sequence[Level]
    place: int
    bound: int
    full: bool


def _pass(knapsack: Knapsack, order: _GroupOrder, goal: _Goal, budget: Budget) -> _Passed:
    """Process the groups once, keeping only states that may lead to a better choice."""
    states = States.base(knapsack)
    best, at_price = goal.best, knapsack.price * knapsack.room
    bound = at_price
    levels: list[Level] = []
    groups = order.groups[: goal.most].tolist()
    narrowed = len(groups) < order.groups.size
    top, place, kept, full = 0, 0, 0, False
    for turn, group in enumerate(groups):
        options = useful_options(knapsack, group, at_price - best - goal.step)
        if options.size <= 1:
            continue
        merged = None if kept > MOST_STATES else merge(states, knapsack, options, budget)
        if merged is None:
            full = not budget.passed
            break
        room = knapsack.room - merged.weight
        within_reach = merged.value + order.rate(turn, room) * room
        hopeful = np.flatnonzero(within_reach >= best + goal.step)
        if goal.width is not None and hopeful.size > goal.width:
            narrowed = True
            closest = np.lexsort((abs(room[hopeful]), -(within_reach[hopeful] // goal.step)))
            hopeful = np.sort(hopeful[closest[: goal.width]])
        before = states.weight.size
        states = merged.only(hopeful)
        levels.append(Level.of(group, options, states.origin, before))
        kept += hopeful.size
        fitting = int(np.searchsorted(states.weight, knapsack.room, side="right"))
        if fitting and states.value[fitting - 1] > best:
            best, top, place = int(states.value[fitting - 1]), len(levels), fitting - 1
        bound = max(best, int(within_reach[hopeful].max(initial=best)))
        if bound - best <= goal.enough:
            break
    else:
        bound = best  # every group has come: a state that is still too heavy leads nowhere
    return _Passed(best, levels[:top], place, at_price if narrowed else bound, full)


def useful_options(knapsack: Knapsack, group: int, loss: int) -> Integers:
    """Return the options of a group that lose at most the given value, after payment, against the base."""
    begin, end = int(knapsack.first[group]), int(knapsack.first[group + 1])
    return np.flatnonzero(knapsack.loss[begin:end] <= loss) + begin


def merge(states: States, knapsack: Knapsack, options: Integers, budget: Budget) -> States | None:
    """Return the undominated sums of a state and an option, or None if time or memory does not suffice."""
    before = states.weight.size
    states = states._replace(origin=np.arange(before))
    choices = States(knapsack.weight[options], knapsack.value[options], before * np.arange(options.size))
    least = int(states.weight[0] + choices.weight[0])
    cells, sums = int(states.weight[-1] + choices.weight[-1]) - least + 1, before * options.size
    if cells <= min(_CELLS_PER_STATE * sums, MOST_CELLS):
        return _merge_in_table(states, choices, least, cells, budget)
    return None if sums > MOST_SUMS else _merge_by_sorting(states, choices)


def _merge_in_table(states: States, options: States, least: int, cells: int, budget: Budget) -> States | None:
    """Add each entry of the shorter list (states or options) to the longer list, and store sums by weight."""
    fewer, more = sorted((states, options), key=lambda each: each.weight.size)
    table = np.full(cells, int(states.value[0] + options.value.min()) - 1, dtype=states.value.dtype)
    origin = np.empty(cells, dtype=np.int64)
    for weight, value, number in zip(*(each.tolist() for each in fewer), strict=True):
        if budget.passed:
            return None
        cell, worth = more.weight + (weight - least), more.value + value
        better = worth > table[cell]
        cell = cell[better]
        table[cell], origin[cell] = worth[better], more.origin[better] + number
    return _undominated(np.arange(least, least + cells), table, origin)


def _merge_by_sorting(states: States, options: States) -> States:
    """Return all sums of a state and an option in ascending order of weight, without dominated ones."""
    weight, value, origin = (np.add.outer(*each).ravel() for each in zip(options, states, strict=True))
    order = np.argsort(weight, kind="stable")
    rising = _undominated(weight[order], value[order], origin[order])
    last = np.append(np.diff(rising.weight) > 0, True)  # of equal weights the last is worth most
    return States(*(each[last] for each in rising))


def _undominated(weight: Integers, value: Numbers, origin: Integers) -> States:
    """Keep the states whose value exceeds that of all earlier ones, given states sorted by weight."""
    highest = np.maximum.accumulate(value)
    kept = np.flatnonzero(np.append(True, value[1:] > highest[:-1]))
    return States(weight[kept], value[kept], origin[kept])


def trace(base: Integers, levels: Sequence[Level], place: int) -> Integers:
    """Trace a state back through the levels, and return its choice; all other groups keep their base option."""
    choice = base.copy()
    for level in reversed(levels):
        option, place = divmod(int(level.origin[place]), level.before)
        choice[level.group] = level.options[option]
    return choice
