"""Elimination: an order of the variables of a dynamic program, found from their graph alone."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush


def min_degree(cliques: Iterable[tuple[int, ...]], limit: int) -> list[int] | None:
    """Order the vertices of cliques by minimum degree, or return None if the width would exceed `limit`.

    Eliminating a vertex connects its neighbours with each other. The width of the order is the maximum degree
    that a vertex has when it is eliminated, and is an upper bound on the treewidth. Complexity: O(V D (D + log
    V)) for V vertices with at most D neighbours each.

    Source: Bodlaender and Koster, Treewidth computations I: upper bounds, Information and Computation 208
    (2010), the greedy order by degree.
    """
    near = _neighbours(cliques)
    queue = [(len(others), vertex) for vertex, others in near.items()]
    heapify(queue)
    order = []
    while queue:
        degree, vertex = heappop(queue)
        if vertex not in near or degree != len(near[vertex]):
            continue  # it has been eliminated, or stands in the queue again
        if degree > limit:
            return None
        order.append(vertex)
        joined = near.pop(vertex)
        for other in joined:
            known = near[other]
            known |= joined
            known -= {other, vertex}
            heappush(queue, (len(known), other))
    return order


def _neighbours(cliques: Iterable[tuple[int, ...]]) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {}
    for clique in cliques:
        for vertex in clique:
            near.setdefault(vertex, set()).update(clique)
    for vertex, others in near.items():
        others.remove(vertex)
    return near
