"""Elimination order: in which order to eliminate jobs, found without filling a table."""

from collections.abc import Iterable, Iterator


def min_degree(cliques: Iterable[tuple[int, ...]], limit: int) -> list[int] | None:
    """Order vertices by fewest neighbours; None once every vertex left has more than `limit` neighbours.

    Eliminating a vertex makes its neighbours neighbours of each other. The most neighbours that a vertex has
    when it is eliminated is the width of the order, an upper bound on the treewidth.

    Parameters
    ----------
    cliques
        Sets of vertices that are neighbours of each other.
    limit
        Largest width wanted.

    Source: Bodlaender and Koster, Treewidth computations I: upper bounds, Information and Computation 208
    (2010), the greedy order by degree.

    Examples
    --------
    >>> min_degree([(0, 1), (1, 2), (2, 3)], limit=1)
    [0, 1, 2, 3]
    >>> min_degree([(0, 1), (1, 2), (2, 0)], limit=1) is None
    True
    """
    near = _neighbours(cliques)
    degree = {vertex: mask.bit_count() for vertex, mask in near.items()}
    order = []
    while degree:
        vertex = min(degree, key=degree.__getitem__)
        if degree[vertex] > limit:
            return None
        del degree[vertex]
        order.append(vertex)
        joined = near.pop(vertex)
        for other in _members(joined):
            near[other] = (near[other] | joined) & ~(1 << other | 1 << vertex)
            degree[other] = near[other].bit_count()
    return order


def _neighbours(cliques: Iterable[tuple[int, ...]]) -> dict[int, int]:
    """Give the neighbours of each vertex as the bits of an integer."""
    near: dict[int, int] = {}
    for clique in cliques:
        mask = sum(1 << vertex for vertex in clique)
        for vertex in clique:
            near[vertex] = near.get(vertex, 0) | mask
    return {vertex: mask & ~(1 << vertex) for vertex, mask in near.items()}


def _members(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
