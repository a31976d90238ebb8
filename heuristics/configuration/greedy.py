"""Greedy: the change with the largest gain per GPU, repeated until none is left."""

from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.core.numbers.grid import decimal
from gsopt.problems.configuration import Configuration, ConfigurationSolution

#: Negated gain per GPU, index of the job, index of the configuration.
_Change = tuple[float, int, int]


@heuristic
def greedy(problem: Configuration, *, budget: Budget = UNLIMITED) -> ConfigurationSolution:
    """Start with the pinned jobs, then repeatedly make the change with the largest gain per additional GPU.

    All other jobs begin without a configuration. A change gives a job a configuration that has more GPUs,
    possibly of another type, and costs less than the one that it has so far or, if it has none, less than
    the penalty. A change for which too few GPUs are left is dropped.
    Even if GPUs become free later, it is not tried again unless its job has changed. The search ends when no
    change is left. Ties go to the first job, and then to its first configuration.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.

    Notes
    -----
    Source: none; this is the usual greedy algorithm for multiple-choice knapsacks, included to measure the gain
    of Sia's integer program.

    Complexity: O(J C^2 log(J C)) for J jobs with C configurations each, because each change adds at most C
    others.

    Examples
    --------
    >>> from instances.configuration import growing_jobs
    >>> greedy(growing_jobs(nodes=2, jobs=3, seed=1)).solution.configurations
    {'j1': 1, 'j2': 1, 'j3': 0}
    """
    state = _ConfigurationState(problem)
    changes: list[_Change] = []
    for job in range(len(problem.jobs)):
        if budget.passed:
            break
        changes += state.changes(job)
    heapify(changes)
    while changes and not budget.passed:
        _, job, place = change = heappop(changes)
        if change != state.change(job, place):
            continue  # the job has changed since, or the GPUs are taken
        state.make(job, place)
        for further in state.changes(job):
            heappush(changes, further)
    named = zip(problem.jobs, state.places, strict=True)
    return ConfigurationSolution(configurations={job.name: place for job, place in named if place is not None})


class _ConfigurationState:
    """The configurations of jobs, and the remaining GPUs of each type."""

    def __init__(self, problem: Configuration) -> None:
        self.problem = problem
        self.left = dict(problem.gpus)
        self.kinds = [shape.type for shape in problem.configurations]
        self.gpus = [shape.gpus for shape in problem.configurations]
        # Costs are integers in a common unit, so that quotients are rounded only once, like fractions.
        penalty = Fraction(decimal(problem.penalty))
        parts = {cost.denominator for costs in problem.costs for cost in costs.values()}
        self.unit = lcm(penalty.denominator, *parts)
        self.penalty = int(penalty * self.unit)
        self.costs: dict[int, dict[int, int]] = {}
        self.places: list[int | None] = [None] * len(problem.jobs)
        for number, job in enumerate(problem.jobs):
            if job.pinned and job.current is not None:
                self.make(number, job.current)

    def changes(self, job: int) -> list[_Change]:
        """Return the job's changes that improve the objective and for which enough GPUs are free."""
        if self.problem.jobs[job].pinned:
            return []
        found = (self.change(job, place) for place in self._costs_of(job))
        return [change for change in found if change is not None]

    def change(self, job: int, place: int) -> _Change | None:
        """Return the change of a job to a configuration; None if it gains nothing or GPUs are missing."""
        before, kind = self.places[job], self.kinds[place]
        held = 0 if before is None else self.gpus[before]
        more = self.gpus[place] - held
        freed = held if before is not None and self.kinds[before] == kind else 0
        if more <= 0 or self.gpus[place] > self.left[kind] + freed:
            return None
        costs = self._costs_of(job)
        gain = (self.penalty if before is None else costs[before]) - costs[place]
        return (-(gain / (self.unit * more)), job, place) if gain > 0 else None

    def make(self, job: int, place: int) -> None:
        """Set the configuration of a job, and update the remaining GPUs."""
        before = self.places[job]
        if before is not None:
            self.left[self.kinds[before]] += self.gpus[before]
        self.left[self.kinds[place]] -= self.gpus[place]
        self.places[job] = place

    def _costs_of(self, job: int) -> dict[int, int]:
        if job not in self.costs:
            costs = self.problem.costs[job]
            self.costs[job] = {
                place: cost.numerator * (self.unit // cost.denominator) for place, cost in costs.items()
            }
        return self.costs[job]
