"""Core: a method that usually decides most jobs by a price per GPU, and the rest by a dynamic program."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from formulations.allocation.bundling import bundle
from formulations.allocation.groups import Found, Groups, Hear, Integers, solve_groups
from formulations.allocation.halves import meet
from formulations.allocation.knapsack import Knapsack
from formulations.allocation.price import PricedOptions, price_items
from formulations.allocation.states import improve
from formulations.allocation.whole import Whole, whole_values
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution

#: Seconds that the core may always take, even if the time limit is reached.
GRACE = 0.1


@exact_method(unused=["backend", "log"])
def core(problem: Allocation, budget: Budget) -> Result[AllocationSolution]:
    """Solve a problem by a Lagrangian bound, and by a dynamic program over the jobs that it leaves undecided.

    The method accepts any values and any worker sizes. An item is an allowed number of extra workers for one
    job, including 0.

    1. Find the price per GPU with the lowest Lagrangian bound. At this price, each job takes the item whose
       value exceeds the price of its GPUs the most.
    2. Fill the remaining capacity greedily. The resulting choice is usually close to the bound.
    3. Rule out the items that no better choice can contain. Jobs with a single item left are decided.
    4. Solve the core, which comprises the other jobs, by dynamic programming in integers. If there are too many
       states, combine two lists of partial choices instead.

    If time or memory runs out before the proof, or if exact values have too many digits, the best known choice
    and bound are returned.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Notes
    -----
    Source: prices and cores are the standard tools for large multiple-choice knapsacks, applied here to the
    second phase of Aryl's Algorithm 2 (Appendix D).

    Complexity: O(I) per price for I items, with about ten prices, plus the dynamic program over the core. In
    the worst case, the core is the whole problem.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=2, time_at_min=60)
    >>> result = core(Allocation(capacity=7, jobs=[a, b]))
    >>> result.objective, result.bound, result.solution.extra
    (80, 80, {'A': 1, 'B': 2})
    """
    return solve_groups(problem, "core", solve_core, budget)


def solve_core(groups: Groups, budget: Budget, hear: Hear, *, bundles: bool = False) -> Found:
    """Decide jobs by a price per GPU if possible, and the others (the core) by a dynamic program over states.

    With `bundles`, the core is solved by bundling instead if its structure allows it.
    """
    priced = price_items(groups, budget)
    core = _Core.of(groups, priced)
    message = f"core: {core.jobs.size:,} of {groups.size.size:,} jobs undecided at the best price per GPU"
    if not core.jobs.size:
        return Found(priced.choice, 0, message)
    known = Found(priced.choice, Fraction(priced.excess), message, StoppedBy.TIME_LIMIT)
    if hear(known.choice, known.excess):
        return replace(known, stopped_by=StoppedBy.INTERRUPT)
    budget = _with_grace(budget)
    try:
        whole = whole_values(groups, core.items, budget)
    except Unsupported as reason:
        return replace(known, message=f"{message}; {reason}", stopped_by=StoppedBy.FINISHED)
    if whole is None or budget.passed:
        return known
    if bundles:
        with suppress(Unsupported):
            return Found(core.spread(core.bundled(whole)), 0, message.replace("core", "bundling", 1))
    return _search(core, whole, message, budget, hear)


def _with_grace(budget: Budget) -> Budget:
    """Allow the core a little time even if pricing used up the budget; this usually suffices for the proof."""
    if budget.time_limit is None:
        return budget
    return replace(budget, time_limit=max(budget.time_limit, budget.runtime + GRACE))


def _search(core: "_Core", whole: Whole, message: str, budget: Budget, hear: Hear) -> Found:
    """Search the core for a choice that is better than the known one."""
    knapsack = core.knapsack(whole)
    unit = Fraction(1, knapsack.factor * whole.denominator)
    enough = int(_enough(core, budget) / unit)

    def tell(options: Integers, excess: int) -> bool:
        return hear(core.spread(options), excess * unit)

    improved = improve(knapsack, core.start, budget, enough=enough, hear=tell)
    if improved.full:
        improved = meet(knapsack, improved, budget, enough=enough, hear=tell)
    if improved.full:
        message += "; too many states to keep"
    return Found(core.spread(improved.choice), improved.excess * unit, message, improved.stopped_by)


def _enough(core: "_Core", budget: Budget) -> Fraction:
    """Return how far the bound may exceed the value of the known choice, given the budget's gap."""
    if not budget.gap:
        return Fraction(0)
    known = core.groups.solution(core.priced.choice)
    return Fraction(budget.gap) * core.groups.problem.objective(known)


@dataclass(frozen=True, eq=False)
class _Core:
    """The jobs that a price leaves undecided."""

    # groups, priced: all jobs, and what the price implies for them
    groups: Groups
    priced: PricedOptions
    # jobs, items: the undecided jobs, and their remaining items
    jobs: Integers
    items: Integers

    @classmethod
    def of(cls, groups: Groups, priced: PricedOptions) -> "_Core":
        job = groups.job[priced.items]
        undecided = np.bincount(job, minlength=groups.size.size) > 1
        return cls(groups, priced, np.flatnonzero(undecided), priced.items[undecided[job]])

    @property
    def start(self) -> Integers:
        """The known choice, as option indices of the core."""
        return self.options(self.priced.choice[self.jobs])

    def options(self, items: Integers) -> Integers:
        """Convert one item per core job to option indices of the core."""
        return np.searchsorted(self.items, items)

    def spread(self, options: Integers) -> Integers:
        """Extend a choice for the core to a choice for all jobs."""
        choice = self.priced.choice.copy()
        choice[self.jobs] = self.items[options]
        return choice

    @property
    def capacity(self) -> int:
        """The number of GPUs that the decided jobs leave for the core."""
        known = self.priced.choice
        return self.groups.capacity - self.groups.used(known) + self.groups.used(known[self.jobs])

    @property
    def first(self) -> Integers:
        """The index of each job's first item, followed by the number of items, shape (jobs + 1,)."""
        return np.append(np.searchsorted(self.groups.job[self.items], self.jobs), self.items.size)

    def bundled(self, whole: Whole) -> Integers:
        """Return the core's best choice, found by bundling."""
        return bundle(self.capacity, self.first, self.groups.weight[self.items], whole.numbers)

    def knapsack(self, whole: Whole) -> Knapsack:
        """Return the core as a knapsack."""
        return Knapsack.of(
            capacity=self.capacity,
            first=self.first,
            weight=self.groups.weight[self.items],
            value=whole.numbers,
            price=self.price(whole),
            start=self.start,
        )

    def price(self, whole: Whole) -> Fraction:
        """Return the price in units of the integer values: the exact ratio at which jobs are indifferent."""
        few, many = self.priced.few[self.jobs], self.priced.many[self.jobs]
        indifferent = np.isin(few, self.items) & np.isin(many, self.items) & (few < many)
        smaller, larger = self.options(few[indifferent]), self.options(many[indifferent])
        weight, value = self.groups.weight[self.items], whole.numbers
        added = int((weight[larger] - weight[smaller]).sum())
        gained = int((value[larger] - value[smaller]).sum())
        return Fraction(max(gained, 0), added) if added else Fraction(self.priced.price) * whole.denominator
