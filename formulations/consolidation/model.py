"""Model: what the models of consolidation by groups share."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from formulations.consolidation.beginning import begin
from formulations.consolidation.case import Case, Stays
from formulations.consolidation.program import Program
from gsopt.budget import Budget
from gsopt.formulation import Formulation
from gsopt.grid import Exact, Number
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from gsopt.result import Result
from gsopt.standard_form import StandardForm


class GroupModel(Formulation[Consolidation, ConsolidationSolution]):
    """A model that decides how many jobs of each kind stay in which groups.

    A subclass writes the program, and translates between its columns and such numbers.
    """

    @abstractmethod
    def program(self, case: Case) -> Program:
        """Write the arrays.

        Raises
        ------
        Unsupported
            The model does not express this case.
        """

    @abstractmethod
    def choose(self, values: Mapping[str, float], case: Case) -> tuple[Stays, Collection[int]]:
        """Read how many jobs of each kind stay in which groups, and which machines are left whole."""

    @abstractmethod
    def fill(self, stays: Stays, spared: Collection[int], case: Case) -> Mapping[str, float]:
        """Give such numbers as column values by name."""

    def standard_form(self, problem: Consolidation) -> StandardForm:
        """Fill the arrays directly."""
        case = Case.of(problem)
        return self.program(case).form(case.bonus)

    def exact_costs(self, problem: Consolidation, form: StandardForm) -> Sequence[Number]:
        """Give what the columns are worth as fractions."""
        del form
        return list(self.program(Case.of(problem)).costs.values())

    def exact_offset(self, problem: Consolidation, form: StandardForm) -> Number:
        """Give what the jobs that must be placed count by their number."""
        del form
        return Case.of(problem).bonus

    def at_once(self, problem: Consolidation) -> tuple[ConsolidationSolution, Exact]:
        """Give a placement by value density, and a knapsack bound."""
        return begin(Case.of(problem))

    def run(self, problem: Consolidation, budget: Budget) -> Result[ConsolidationSolution]:
        """Solve from a start only if it has as many jobs as the model demands."""
        if budget.start is not None and len(budget.start.placed) < Case.of(problem).required:
            budget = replace(budget, start=None)
        return super().run(problem, budget)

    def extract(self, values: Mapping[str, float], problem: Consolidation) -> ConsolidationSolution:
        """Give GPUs to the jobs that stay in groups."""
        case = Case.of(problem)
        return case.placed(*self.choose(values, case))

    def encode(self, solution: ConsolidationSolution, problem: Consolidation) -> Mapping[str, float]:
        """Give the groups in which the jobs of a solution stay, as column values."""
        case = Case.of(problem)
        return self.fill(case.located(solution), case.spared(solution), case)
