"""MILP: the reference model of colocation, a plain integer program."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from formulations.colocation.case import ColocationCase
from gsopt.core.numbers.grid import Exact, Number
from gsopt.performance.colocation import SubBatch
from gsopt.problems.colocation import Colocation, ColocationSolution, Share
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm


class Milp(Formulation[Colocation, ColocationSolution]):
    """One binary variable for each mode in which a pending job can share the GPUs of a running job.

    Sets
    ----
    R: running jobs. P: pending jobs. W_rp: modes of p that fit next to r, that is, n_p <= n_r and b_r + b_pw <=
    M.

    Parameters
    ----------
    s_rpw: seconds that are saved if p runs next to r in mode w, an exact fraction. n_r, n_p: GPUs. b_r, b_pw:
    bytes per GPU. M: memory of a GPU in bytes.

    Variables
    ---------
    shares_rpw in {0, 1}: p shares the GPUs of r in mode w.

    Objective
    ---------
    max sum_{r, p, w} s_rpw shares_rpw

    Constraints
    -----------
    of_running: sum_{p, w} shares_rpw <= 1 for every r in R.

    of_pending: sum_{r, w} shares_rpw <= 1 for every p in P.

    Modes that do not fit have no column, so memory and numbers of GPUs need no constraints.

    Size
    ----
    sum_{r, p} |W_rp| columns, at most |R| + |P| rows, two entries per column. The matrix is the incidence
    matrix of a bipartite graph and hence totally unimodular.

    Source
    ------
    Castor, Equations 4-13 for a single point in time: at most two jobs per GPU, and the sum of completion times
    from section 5.1. The paper's time slots are not needed.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> result = milp(full_cluster(running=6, pending=6, seed=1))
    >>> result.status, len(result.solution.shares)
    (<Status.OPTIMAL: 'optimal'>, 4)
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Colocation) -> Any:
        """Build the Pyomo model."""
        from pyomo.environ import Binary, ConcreteModel, Constraint, Objective, Set, Var, maximize

        saved = _savings(problem)
        by_running: dict[int, list[tuple[int, int, int]]] = {}
        by_pending: dict[int, list[tuple[int, int, int]]] = {}
        for way in saved:
            by_running.setdefault(way[0], []).append(way)
            by_pending.setdefault(way[1], []).append(way)
        model = ConcreteModel(problem.name or "colocation")
        model.W = Set(dimen=3, initialize=list(saved))
        model.shares = Var(model.W, domain=Binary)
        total = sum(float(seconds) * model.shares[way] for way, seconds in saved.items())
        model.saved = Objective(expr=total, sense=maximize)
        model.of_running = Constraint(list(by_running), rule=lambda m, r: _sum(m, by_running[r]) <= 1)
        model.of_pending = Constraint(list(by_pending), rule=lambda m, p: _sum(m, by_pending[p]) <= 1)
        return model

    def exact_costs(self, problem: Colocation, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns: the savings in seconds, as integers or fractions."""
        saved = {_column(*triple): seconds for triple, seconds in _savings(problem).items()}
        return [saved[column] for column in form.columns]

    def at_once(self, problem: Colocation) -> tuple[ColocationSolution, Number]:
        """Return the greedy pairs, largest saving first, and a bound that is cheap to compute."""
        case = ColocationCase.of(problem)
        return case.solution(case.greedy()), case.bound

    def extract(self, values: Mapping[str, float], problem: Colocation) -> ColocationSolution:
        """Read from the column values which pending job shares the GPUs of which running job."""
        shares = {
            problem.pending[p].name: Share(running=problem.running[r].name, mode=mode)
            for (r, p, w), mode in _fitting_modes(problem).items()
            if values.get(_column(r, p, w), 0.0) == 1
        }
        return ColocationSolution(shares=shares)

    def encode(self, solution: ColocationSolution, problem: Colocation) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        return {
            _column(r, p, w): 1.0
            for (r, p, w), mode in _fitting_modes(problem).items()
            if solution.shares.get(problem.pending[p].name) == Share(running=problem.running[r].name, mode=mode)
        }


def _fitting_modes(problem: Colocation) -> dict[tuple[int, int, int], str]:
    """Return the names of the modes in which jobs fit together, keyed by (running, pending, mode) indices."""
    return {triple: each.name for triple, each in _offered(problem)}


def _savings(problem: Colocation) -> dict[tuple[int, int, int], Exact]:
    """Return the savings in seconds, keyed by (running, pending, mode) indices."""
    return {triple: each.pair.saved for triple, each in _offered(problem)}


def _offered(problem: Colocation) -> Iterator[tuple[tuple[int, int, int], SubBatch]]:
    for r, beside in enumerate(problem.running):
        for p, job in enumerate(problem.pending):
            yield from (((r, p, w), each) for w, each in enumerate(problem.offered(beside, job)))


def _sum(model: Any, triples: Sequence[tuple[int, int, int]]) -> Any:
    return sum(model.shares[triple] for triple in triples)


def _column(r: int, p: int, w: int) -> str:
    return f"shares[{r},{p},{w}]"


milp = Milp()
