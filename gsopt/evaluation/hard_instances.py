"""Hard instances: a genetic search through instance spaces that are too large to enumerate."""

from fractions import Fraction
from random import Random
from typing import Any

from deap import base, tools

from gsopt.core.budget import Budget
from gsopt.core.method import MethodLike
from gsopt.evaluation.ratio import Optima, Worst, worst_of
from gsopt.evaluation.space import Pick

#: Number of instances in a generation, and number of candidates from which each parent is selected.
_POPULATION, _COMPETITORS = 40, 3

#: Fraction of children that have two parents; the others are mutated copies of one parent.
_CROSSED = 0.5

#: Fraction of the time for the search. The rest is for shrinking, which mostly needs less.
_SEARCH_SHARE = 0.8

#: Fraction of exchanged items that are replaced by an adjacent item in the order of the items.
_NEAR = 0.5


class _Ratio(base.Fitness):  # type: ignore[misc]
    weights = (1.0,)


class _Candidate:
    """An instance and its fitness, in the form that DEAP expects."""

    def __init__(self, pick: Pick, ratio: Fraction) -> None:
        self.pick, self.fitness = pick, _Ratio((float(ratio),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Candidate) and self.pick == other.pick

    def __hash__(self) -> int:
        return hash(self.pick)


class HardInstances:
    """A genetic search for the instance of a space on which a method is farthest from the optimum.

    The individuals are instances. The fitness of an instance is the factor by which the method's value is worse
    than the proven optimum, or 0 if this factor is unbounded or unknown. A child combines items of two parents,
    or is a copy of one parent with an item added, removed or replaced.

    Parameters
    ----------
    method
        The method to test, with its `options`.
    optima
        The optima of the space to search.
    seed
        Seed of the random choices.
    """

    def __init__(self, method: MethodLike, optima: Optima, *, seed: int = 0, **options: Any) -> None:
        self._space, self._method, self._optima, self._options = optima.space, method, optima, options
        self._random = Random(seed)
        self._ratios: dict[Pick, Fraction] = {}
        self._best = tools.HallOfFame(_POPULATION)
        self.found = Worst()

    def run(self, budget: Budget, *, generations: int | None = None) -> Worst:
        """Search for a number of generations, and then simplify the worst instance found.

        The search uses at most 80 % of the remaining time. Without `generations`, only this limit ends it.
        """
        left = budget.left()
        searching = budget if left is None else budget.within(_SEARCH_SHARE * left)
        living = [self._judged(self._drawn()) for _ in range(_POPULATION)]
        while not searching.passed and generations != 0:
            self._best.update(living)
            living = []
            while len(living) < _POPULATION and not searching.passed:
                living.append(self._judged(self._child([*self._best])))
            generations = None if generations is None else generations - 1
        self._shrink(budget)
        return self.found

    def _judged(self, pick: Pick) -> _Candidate:
        """Return an instance with its ratio, or with 0 if it has none. Each instance is evaluated only once."""
        if pick not in self._ratios:
            alone = worst_of([pick], self._method, self._optima, **self._options)
            self.found += alone
            self._ratios[pick] = alone.ratio or Fraction(0)
        return _Candidate(pick, self._ratios[pick])

    def _drawn(self) -> Pick:
        setting = self._random.randrange(len(self._space.settings))
        size = self._random.choice(self._space.sizes)
        items = range(len(self._space.settings[setting].items))
        return Pick(setting, tuple(self._random.choices(items, k=size)))

    def _child(self, parents: list[_Candidate]) -> Pick:
        setting, items = self._chosen(parents).pick
        if self._random.random() < _CROSSED:
            other = self._chosen(parents).pick
            if other.setting == setting:
                crossed = self._crossed(items, other.items)
                return Pick(setting, crossed if len(crossed) in self._space.sizes else items)
        return Pick(setting, self._changed(items, len(self._space.settings[setting].items)))

    def _chosen(self, parents: list[_Candidate]) -> _Candidate:
        """Return the best of a few random candidates, without using Python's global random generator."""
        best: _Candidate = tools.selBest(self._random.choices(parents, k=_COMPETITORS), 1)[0]
        return best

    def _crossed(self, one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        """Return the first items of one instance and the last ones of another."""
        return (*one[: self._random.randint(0, len(one))], *other[self._random.randint(0, len(other)) :])

    def _changed(self, items: tuple[int, ...], kinds: int) -> tuple[int, ...]:
        """Return the items with one of them added, removed or exchanged."""
        changed, place = [*items], self._random.randrange(len(items)) if items else 0
        kind = self._random.randrange(kinds)
        if len(items) < self._space.most and self._random.random() < 1 / 3:
            changed.append(kind)
        elif len(items) > self._space.least and self._random.random() < 1 / 2:
            del changed[place]
        elif items:
            near = min(max(items[place] + self._random.choice((-1, 1)), 0), kinds - 1)
            changed[place] = near if self._random.random() < _NEAR else kind
        return tuple(changed)

    def _shrink(self, budget: Budget) -> None:
        """Remove items, or replace them by simpler ones, as long as this does not reduce the ratio."""
        while self.found.pick is not None and not budget.passed:
            simpler = self._simpler(self.found.pick, budget)
            if simpler is None:
                return
            self.found = self.found.at(simpler)

    def _simpler(self, pick: Pick, budget: Budget) -> Pick | None:
        """Return an instance with fewer or simpler items whose ratio is no smaller, or None."""
        ratio = self._ratios[pick]
        for items in _simplified(pick.items, self._space.least):
            if budget.passed:
                return None
            other = Pick(pick.setting, items)
            self._judged(other)
            if self._ratios[other] >= ratio:
                return other
        return None


def _simplified(items: tuple[int, ...], least: int) -> list[tuple[int, ...]]:
    """Return all variants with one item removed, followed by those with one item replaced by an earlier one."""
    places = range(len(items))
    fewer = [items[:place] + items[place + 1 :] for place in places] if len(items) > least else []
    earlier = [(*items[:place], kind, *items[place + 1 :]) for place in places for kind in range(items[place])]
    return [*dict.fromkeys([*fewer, *earlier])]
