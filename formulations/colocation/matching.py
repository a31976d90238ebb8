"""Matching: the pairs as edges of a graph, solved as a maximum-weight matching."""

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
    """Find a maximum-weight matching with networkx's blossom algorithm, in integers.

    All savings are multiplied by their common denominator, so nothing is rounded. With integer weights,
    networkx verifies the matching by its dual values. Connected components are matched one by one.

    Complexity: O(n^3) for a component of n jobs, in Python. The time limit is checked between components.

    Source
    ------
    J. Edmonds, Paths, trees, and flowers (1965). The problem is that of Castor, Algorithms 1 and 2.

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
    """Match the jobs of each connected component, or return the known result if the time limit is reached.

    Otherwise, the better of the matching and the known solution is returned.
    """
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
    """Return a graph with an edge for each pair that saves time, weighted by its saving as an integer."""
    import networkx as nx

    graph = nx.Graph()
    for (r, p), weight in case.weights.items():
        graph.add_edge(("running", r), ("pending", p), weight=weight)
    return graph


def _pairs(edges: set[tuple[tuple[str, int], tuple[str, int]]]) -> Sequence[tuple[int, int]]:
    """Convert edges to pairs of (running, pending) indices, regardless of the direction of the edge."""
    ends = [dict(edge) for edge in edges]
    return [(end["running"], end["pending"]) for end in ends]
