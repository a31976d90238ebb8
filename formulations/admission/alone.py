"""Alone: the cheapest gangs to stop for a single pending gang with identical workers."""

from collections.abc import Collection
from functools import cached_property
from math import ceil, isfinite

import numpy as np

from formulations.admission.bounds import lower_bounds
from formulations.admission.cover import Cover
from formulations.admission.domain import Choice, Domains
from formulations.admission.stops import Numbers, Stops
from formulations.admission.tables import TooWide
from gsopt.core.budget import Budget
from gsopt.problems.admission import Admission, Gang

#: Relative and absolute errors of floats to allow for when a bound is compared with a weight.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-6

#: Number of rounds in which gangs' cost shares are shifted if tables are too large without this.
_ROUNDS = 8


class Alone:
    """The search, domain by domain, for the cheapest gangs to stop for one pending gang.

    A domain is a group at the level within which the pending gang must run, or the whole cluster if there is no
    such level. Domains are examined in ascending order of their bounds. The weight of a choice is its cost, as
    an integer multiple of `Stops.unit`.

    Attributes
    ----------
    possible
        Whether any domain can hold the gang if all gangs that may stop do so.
    best
        The best choice of gangs found so far; None if there is none yet.
    open
        The domains that are not solved because their tables (`formulations.admission.tables`) are too large.
    tried
        Number of domains that were examined.
    """

    def __init__(self, problem: Admission, gang: Gang, stops: Stops, free: Numbers) -> None:
        self.stops = stops
        self.cover = Cover.of(problem, gang, stops, free=free)
        self._bounds = lower_bounds(self.cover)
        self._domains = Domains(self.cover, self._bounds)
        order = np.argsort(self._bounds.by_domain, kind="stable").tolist()
        self._left = [domain for domain in order if isfinite(self._bounds.by_domain[domain])][::-1]
        self.possible = bool(self._left)
        self.best: Choice | None = None
        self.open: list[int] = []
        self.tried = 0

    @property
    def bound(self) -> int:
        """A lower bound on the weight of every choice."""
        weights = [self._whole(domain) for domain in (*self._left[-1:], *self.open)]
        weights += [] if self.best is None else [self.best.weight]
        return min(weights, default=0)

    @property
    def finished(self) -> bool:
        """Whether no domain that is still to be examined can yield a choice better than the best one so far."""
        below = self.best is not None and bool(self._left) and self._whole(self._left[-1]) >= self.best.weight
        return not self._left or below

    def _whole(self, domain: int) -> int:
        """Return the bound of a domain as an integer, reduced by the possible rounding error."""
        bound = float(self._bounds.by_domain[domain])
        return max(0, ceil(bound * (1 - _RELATIVE) - _ABSOLUTE))

    def candidates(self, below: int) -> dict[int, int]:
        """Return the bounds of the domains whose bound is below the given weight, keyed by domain."""
        domains = np.flatnonzero(np.isfinite(self._bounds.by_domain)).tolist()
        return {domain: bound for domain in domains if (bound := self._whole(domain)) < below}

    def solve(self, budget: Budget) -> Choice | None:
        """Return the best choice found within the time limit, or None if there is none."""
        self.guess()
        while not self.finished and not budget.passed:
            self.step()
        return self.best

    def guess(self) -> Choice | None:
        """Return a first choice, or None if none is found.

        Two choices are compared: the cheapest single gang that makes enough room, and gangs found for a domain
        with a low bound. The cheaper one is returned.
        """
        self.best = self._domains.single()
        for domain in reversed(self._left):
            found = self._domains.guess(domain, 1 + sum(self.stops.weights))
            if found is not None:
                self.best = found if self.best is None else min(self.best, found, key=_weight)
                break
        return self.best

    def step(self) -> Choice | None:
        """Examine the next domain, and return its choice if that is better than the best one so far.

        Otherwise, return None. A domain whose tables are too large is added to `open`.
        """
        domain = self._left.pop()
        most = 1 + sum(self.stops.weights)
        self.tried += 1
        below = most if self.best is None else self.best.weight
        try:
            better = self._domains.best(domain, below)
        except TooWide:
            try:
                better = self._finer.best(domain, below)
            except TooWide:
                self.open.append(domain)
                return None
        self.best = better or self.best
        return better

    @cached_property
    def _finer(self) -> Domains:
        """The same domains with bounds that exclude more machines but take longer to compute."""
        self._bounds = lower_bounds(self.cover, rounds=_ROUNDS)
        self._domains = Domains(self.cover, self._bounds)
        return self._domains

    def core(self, domain: int) -> tuple[Collection[int], Collection[int]]:
        """Return the machines in a domain that a better choice may use, and the gangs that may stop there."""
        below = 1 + sum(self.stops.weights) if self.best is None else self.best.weight
        machines = self._domains.machines(domain, below)
        chosen = np.isin(self.stops.machine, machines)
        gangs = {gang for gang in self.stops.gang[chosen].tolist() if self.stops.weights[gang] < below}
        base = np.flatnonzero((self.cover.domain == domain) & (self.cover.copies > 0)).tolist()
        return sorted({*machines, *base}), gangs


def _weight(choice: Choice) -> int:
    return choice.weight
