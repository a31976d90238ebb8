"""Model: the common part of the consolidation models that assign jobs to groups."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from formulations.consolidation.beginning import begin
from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.program import NamedProgram
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, Number, ceil_to
from gsopt.core.result import Result
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: The largest rounded value, in rounding units; solvers cannot handle more units in one stage
#: (`gsopt.solvers.scaling`).
_UNITS = 400_000_000


class GroupModel(Formulation[Consolidation, ConsolidationSolution]):
    """A model that decides how many jobs of each kind stay in each group.

    A subclass writes the program and converts between its columns and these numbers. Passing `case` avoids
    grouping the same problem again. With `rounded`, values are rounded up to multiples of 1 / 400,000,000 of
    the largest value. Exact fractions with many denominators are solved in stages, each of which must be
    completed. Rounded values need only one solve, which may stop at a gap and still yields a bound on the
    optimum.
    """

    def __init__(self, case: ConsolidationCase | None = None, *, rounded: bool = False) -> None:
        self.case, self.rounded = case, rounded
        self._program: NamedProgram | None = None

    @abstractmethod
    def program(self, case: ConsolidationCase) -> NamedProgram:
        """Return the model as arrays, or raise `Unsupported` if it cannot express this case."""

    @abstractmethod
    def choose(self, values: Mapping[str, float], case: ConsolidationCase) -> tuple[Stays, Collection[int]]:
        """Return how many jobs of each kind stay in each group, and which machines stay entirely free."""

    @abstractmethod
    def fill(self, stays: Stays, spared: Collection[int], case: ConsolidationCase) -> Mapping[str, float]:
        """Return the column values for the given stays and entirely free machines, keyed by column name.

        `stays` holds the number of jobs of each kind that stay in each group.
        """

    def standard_form(self, problem: Consolidation) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        return self._written(problem).form(self._case(problem).bonus)

    def exact_costs(self, problem: Consolidation, form: StandardForm) -> Sequence[Number]:
        """Return the costs of the columns as exact fractions, or rounded up if `rounded`."""
        del form
        costs = list(self._written(problem).costs.values())
        unit = Fraction(max(costs, default=0)) / _UNITS
        return [ceil_to(cost, unit) for cost in costs] if self.rounded and unit else costs

    def exact_offset(self, problem: Consolidation, form: StandardForm) -> Number:
        """Return the objective's constant: the total bonus for the jobs that must be placed."""
        del form
        return self._case(problem).bonus

    def at_once(self, problem: Consolidation) -> tuple[ConsolidationSolution, Exact]:
        """Return a greedy placement, and a knapsack bound."""
        return begin(self._case(problem))

    def run(self, problem: Consolidation, budget: Budget) -> Result[ConsolidationSolution]:
        """Solve a problem, with rounded costs if the gap allows it.

        If the number of placed jobs is the primary objective, the budget's start is used only if it places as
        many jobs as possible.
        """
        case = self._case(problem)
        if budget.start is not None and len(budget.start.placed) < case.required:
            budget = replace(budget, start=None)
        lost = (len(problem.jobs) + len(problem.cluster.machines)) / _UNITS  # of the optimum, by rounding
        rounded = budget.gap > 2 * lost
        if rounded:
            budget = replace(budget, gap=budget.gap - lost)
        return Formulation.run(type(self)(case, rounded=rounded), problem, budget)

    def extract(self, values: Mapping[str, float], problem: Consolidation) -> ConsolidationSolution:
        """Assign GPUs to the jobs that stay in groups, according to the column values."""
        case = self._case(problem)
        return case.placed(*self.choose(values, case))

    def encode(self, solution: ConsolidationSolution, problem: Consolidation) -> Mapping[str, float]:
        """Return the column values of a solution, keyed by column name."""
        case = self._case(problem)
        return self.fill(case.located(solution), case.spared(solution), case)

    def _case(self, problem: Consolidation) -> ConsolidationCase:
        """Return the problem in groups; the given case is reused if it belongs to the problem."""
        return (
            self.case
            if self.case is not None and self.case.problem is problem
            else ConsolidationCase.of(problem)
        )

    def _written(self, problem: Consolidation) -> NamedProgram:
        """Return the program as arrays, which are computed only once for the given case."""
        if self.case is None or self.case.problem is not problem:
            return self.program(ConsolidationCase.of(problem))
        if self._program is None:
            self._program = self.program(self.case)
        return self._program
