"""Halves: the best choice from two lists of partial choices, for cores with too many states for one list."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from formulations.allocation.knapsack import Knapsack
from formulations.allocation.states import (
    MOST_SUMS,
    Hear,
    Improved,
    Level,
    States,
    merge,
    reason,
    trace,
    useful_options,
)
from gsopt.core.budget import Budget

#: Maximum number of sums of a state and an option in the first round, and the factor from round to round.
_FIRST_SUMS, _FACTOR = 2**14, 4


class _Half(NamedTuple):
    """The undominated states of some of the groups, and the links that lead to them."""

    states: States
    levels: Sequence[Level]


def meet(
    knapsack: Knapsack, known: Improved, budget: Budget, *, enough: int = 0, hear: Hear | None = None
) -> Improved:
    """Improve a choice, and perhaps prove it optimal, by combining partial choices of two halves of the groups.

    At the price, a choice that is better than the known one loses little value against the base (see
    `Knapsack`), and no more than that in either half. Partial choices of each half with such a loss are listed,
    except for dominated ones, and each choice in one list is combined with its best partner in the other. If
    the lists get too long, only some groups are listed, and the others keep their base. The lists grow until
    value and bound meet, or until time or memory runs out. `enough` and `hear` can end the search earlier, as
    in `formulations.allocation.states.improve`.

    Notes
    -----
    Source: Horowitz and Sahni, Computing partitions with applications to the knapsack problem (Journal of the
    ACM 21, 1974), with lists that are limited by the Lagrangian loss.
    """
    total, step, stopped, full = knapsack.price * knapsack.room, knapsack.step, False, False
    choice, best = known.choice, knapsack.worth(known.choice)
    bound, most = best + known.excess, _FIRST_SUMS
    while not stopped and bound - best >= max(step, enough + 1):
        full = most > MOST_SUMS
        halves = None if full else _list_halves(knapsack, total - best - step, most, budget)
        if halves is None:
            break
        left, right, complete = halves
        value, places = _best_pair(knapsack.room, left.states, right.states) or (best, (0, 0))
        better = value > best
        if better:
            choice = trace(trace(knapsack.base, left.levels, places[0]), right.levels, places[1])
            best = value
        if complete:
            bound = best
        stopped = better and hear is not None and hear(choice, bound - best) is True
        most *= _FACTOR
    excess = (bound - best) // step * step
    return replace(
        known, choice=choice, excess=excess, stopped_by=reason(excess, enough, stopped, full), full=full
    )


def _list_halves(knapsack: Knapsack, loss: int, most: int, budget: Budget) -> tuple[_Half, _Half, bool] | None:
    """List what loses at most the given value in each half, and say whether all groups are in one of the lists.

    The groups extend the two lists in turn, those with the most useful options first. Returns None if time or
    memory runs out.
    """
    useful = [useful_options(knapsack, group, loss) for group in range(knapsack.first.size - 1)]
    this = other = _Half(States.base(knapsack), ())
    for group in sorted(range(len(useful)), key=lambda group: -useful[group].size):
        options, before = useful[group], this.states.weight.size
        if options.size <= 1:
            break
        if before * options.size > most:
            return this, other, False
        merged = merge(this.states, knapsack, options, budget)
        if merged is None:
            return None
        paid = merged.weight.astype(merged.value.dtype) * knapsack.price
        states = merged.only(np.flatnonzero(paid - merged.value <= loss))
        level = Level.of(group, options, states.origin, before)
        this, other = other, _Half(states, (*this.levels, level))
    return this, other, True


def _best_pair(room: int, left: States, right: States) -> tuple[int, tuple[int, int]] | None:
    """Return the highest value of two states that fit together, and their places; None if no two fit."""
    partner = np.searchsorted(right.weight, room - left.weight, side="right") - 1
    fitting = np.flatnonzero(partner >= 0)
    if not fitting.size:
        return None
    value = left.value[fitting] + right.value[partner[fitting]]
    place = int(np.argmax(value))
    return int(value[place]), (int(fitting[place]), int(partner[fitting[place]]))
