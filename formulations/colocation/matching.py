"""Matching: the pairs as edges of a graph, and the heaviest set of edges without a common end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from formulations.colocation.beginning import begin
from formulations.colocation.case import ColocationCase
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method, no_worse
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.colocation import Colocation, ColocationSolution


@exact_method(unused=["backend", "log"])
def matching(problem: Colocation, budget: Budget) -> Result[ColocationSolution]:
    """Find the heaviest matching by the blossom algorithm of networkx, in whole numbers.

    Savings are multiplied by their common denominator, so no digit is lost; networkx checks a matching of whole
    numbers by its dual values. Parts of the graph without an edge between them are matched one by one.

    Complexity: O(n^3) for a part with n jobs, in Python; the time limit is looked at between parts.

    Source
    ------
    J. Edmonds, Paths, trees, and flowers (1965); the decision is that of Castor, Algorithms 1 and 2.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> result = matching(full_cluster(running=12, pending=12, seed=1))
    >>> result.status, result.objective == result.bound
    (<Status.OPTIMAL: 'optimal'>, True)
    """
    case = ColocationCase.of(problem, budget)
    first, ended = begin(case, budget, "matching")
    return first if ended else match(case, budget, first)


def match(
    case: ColocationCase, budget: Budget, known: Result[ColocationSolution], method: str = "matching"
) -> Result[ColocationSolution]:
    """Match the parts of a case one by one, and keep what is known where time runs out."""
    import networkx as nx

    graph = _graph(case)
    found: list[tuple[int, int]] = []
    for part in sorted(nx.connected_components(graph), key=len):
        if budget.passed:
            return replace(known, stopped_by=StoppedBy.TIME_LIMIT, runtime=budget.runtime)
        found += _pairs(nx.max_weight_matching(graph.subgraph(part)))
    solution = case.solution(found)
    result = Result.judged(
        case.problem,
        method=method,
        solution=solution,
        bound=case.problem.objective(solution),
        solver="networkx",
        message="matching",
        runtime=budget.runtime,
    )
    return no_worse(result, case.problem, known.solution)


def _graph(case: ColocationCase) -> Any:
    """Make a graph of the pairs that save something, in units of their common denominator."""
    import networkx as nx

    graph = nx.Graph()
    for (r, p), weight in case.weights.items():
        graph.add_edge(("running", r), ("pending", p), weight=weight)
    return graph


def _pairs(edges: set[tuple[tuple[str, int], tuple[str, int]]]) -> Sequence[tuple[int, int]]:
    """Return edges as places of the running and the pending job, whichever end was named first."""
    ends = [dict(edge) for edge in edges]
    return [(end["running"], end["pending"]) for end in ends]
