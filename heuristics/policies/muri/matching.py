"""Matching: a maximum-weight matching in which ties depend only on the order of the vertices."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from math import inf
from typing import Literal, NamedTuple


def breadth_first_matching(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the pairs of a maximum-weight matching, each with its lower vertex first.

    Augmenting paths are searched from all unmatched vertices at once, breadth first and with lower vertices
    first. If several matchings have the largest weight, the search thus decides which one is returned.

    Source: Edmonds, "Maximum matching and a polyhedron with 0,1-vertices" (1965), in the primal-dual form of
    Galil, "Efficient algorithms for finding maximum matching in graphs" (1986). All numbers are integers, so
    there is no rounding. O(n^4) for n vertices.

    Parameters
    ----------
    weights
        Weight of each pair of vertices, a symmetric matrix. Pairs with weight 0 are not matched.

    Examples
    --------
    >>> breadth_first_matching([[0, 5, 6, 0], [5, 0, 7, 0], [6, 7, 0, 4], [0, 0, 4, 0]])
    [(0, 1), (2, 3)]
    """
    search = _Search(weights)
    while search.augment():
        pass
    return search.pairs()


#: A vertex that does not exist.
_NOWHERE = -1


class _Edge(NamedTuple):
    """An edge between two vertices."""

    start: int
    end: int


class _Node:
    """A vertex, or a blossom: an odd cycle of nodes that the search treats as one.

    Attributes
    ----------
    vertices
        The vertices of the node. Of equally tight edges, the one at the first vertex is used.
    cycle
        The nodes of a blossom in the order of the cycle; the first one is the base. Empty for a vertex.
    age
        Number of nodes that were created earlier.
    dual
        Dual value of a blossom.
    side
        Whether the node is at an even or odd distance from the root of its tree; None outside all trees.
    parent
        Vertex from which an odd node was reached.
    nearest
        Vertex of an even node with the tightest edge to this node.
    mate
        Vertex outside the node that is matched with one of its vertices.
    """

    def __init__(self, vertices: tuple[int, ...], age: int, cycle: Iterable["_Node"] = ()) -> None:
        self.vertices, self.age, self.cycle = vertices, age, list(cycle)
        self.dual = 0
        self.side: Literal["even", "odd"] | None = None
        self.parent = self.nearest = self.mate = _NOWHERE

    def turn(self, child: "_Node") -> int:
        """Direct the cycle so that the path from the base to a child has an even length; return the length."""
        length = self.cycle.index(child)
        if length % 2:
            self.cycle[1:] = reversed(self.cycle[1:])
            length = len(self.cycle) - length
        return length


class _Search:
    """The primal-dual search for augmenting paths."""

    def __init__(self, weights: Sequence[Sequence[int]]) -> None:
        count = len(weights)
        self._weights = weights
        self._duals = [max(map(max, weights), default=0)] * count
        self._vertices = [_Node((vertex,), vertex) for vertex in range(count)]
        self._nodes: list[_Node | None] = [*self._vertices]  # then blossoms, or None where one was expanded
        self._top = [*self._vertices]  # the outermost node of each vertex
        self._queue: deque[int] = deque()
        self._age = count

    def pairs(self) -> list[tuple[int, int]]:
        """Return the matched pairs."""
        return [(vertex, node.mate) for vertex, node in enumerate(self._vertices) if vertex < node.mate]

    def augment(self) -> bool:
        """Increase the matching by one pair, and return whether this was possible."""
        self._queue.clear()
        for node in self._nodes:
            if node is not None:
                node.side, node.nearest = None, _NOWHERE
        for node in self._outermost():
            if node.mate == _NOWHERE:
                node.side = "even"
                self._enqueue(node)
        while any(node.side == "even" for node in self._outermost()):
            if self._scan():
                return True
            if not self._change_duals():
                return False
            if self._use_tight_edges():
                return True
            self._expand()
        return False

    # Nodes and edges

    def _outermost(self) -> Iterator[_Node]:
        return (node for node in self._nodes if node is not None and self._is_outermost(node))

    def _is_outermost(self, node: _Node) -> bool:
        return self._top[node.vertices[0]] is node

    def _slack(self, edge: _Edge) -> int:
        start, end = edge
        return self._duals[start] + self._duals[end] - 2 * self._weights[start][end]

    def _edges(self, one: _Node, other: _Node) -> Iterator[_Edge]:
        """Yield the edges between two nodes, by the vertices of the younger node."""
        if one.age < other.age:
            yield from (_Edge(edge.end, edge.start) for edge in self._edges(other, one))
        else:
            pairs = product(one.vertices, other.vertices)
            yield from (_Edge(start, end) for start, end in pairs if self._weights[start][end] > 0)

    def _tightest(self, one: _Node, other: _Node) -> _Edge:
        """Return the tightest of the edges between two nodes that have at least one."""
        return min(self._edges(one, other), key=self._slack)

    def _distance(self, vertex: int, node: _Node) -> float:
        """Return the slack of the tightest edge between a vertex and a node; infinity if there is none."""
        if vertex == _NOWHERE:
            return inf
        duals, weights = self._duals, self._weights[vertex]
        slacks = [duals[other] - 2 * weights[other] for other in node.vertices if weights[other] > 0]
        return duals[vertex] + min(slacks, default=inf)

    def _come_near(self, vertex: int, node: _Node) -> None:
        if self._distance(vertex, node) < self._distance(node.nearest, node):
            node.nearest = vertex

    def _find_nearest(self, node: _Node) -> None:
        node.nearest = _NOWHERE
        for vertex, top in enumerate(self._top):
            if top is not node and top.side == "even":
                self._come_near(vertex, node)

    def _enqueue(self, node: _Node) -> None:
        nodes = deque([node])
        while nodes:
            inner = nodes.popleft()
            nodes.extend(inner.cycle)
            if not inner.cycle:
                self._queue.extend(inner.vertices)

    def _above(self, node: _Node) -> _Node | None:
        """Return the even node two steps closer to the root than an even node; None for the root."""
        return None if node.mate == _NOWHERE else self._top[self._top[node.mate].parent]

    # Steps of the search

    def _scan(self) -> bool:
        """Follow the tight edges of the vertices in the queue, and return whether a path was found."""
        while self._queue:
            start = self._queue.popleft()
            if self._top[start].side == "odd":
                continue
            for end, weight in enumerate(self._weights[start]):
                if weight > 0 and self._top[start] is not self._top[end]:
                    edge = _Edge(start, end)
                    if self._slack(edge) > 0:
                        self._come_near(start, self._top[end])
                    elif self._follow(edge):
                        return True
        return False

    def _follow(self, edge: _Edge) -> bool:
        """Follow a tight edge from an even node, and return whether it completes an augmenting path."""
        one, other = self._top[edge.start], self._top[edge.end]
        if other.side is None:
            mate = self._top[other.mate]
            other.parent, other.side, mate.side = edge.start, "odd", "even"
            other.nearest = mate.nearest = _NOWHERE
            self._enqueue(mate)
        elif other.side == "even":
            base = self._common(one, other)
            if base is None:
                self._match_up(one, other)
                self._match_up(other, one)
                return True
            self._shrink(one, base, other)
        return False

    def _common(self, one: _Node, other: _Node) -> _Node | None:
        """Return the nearest common ancestor of two even nodes; None if they are in different trees."""
        seen: set[_Node] = set()
        ends: deque[_Node | None] = deque([one, other])
        while any(ends):
            node = ends.popleft()
            if node is not None:
                if node in seen:
                    return node
                seen.add(node)
                node = self._above(node)
            ends.append(node)
        return None

    def _match_up(self, one: _Node, other: _Node) -> None:
        """Match a node with another one, and swap matched and unmatched edges up to the root of its tree."""
        while (above := self._above(one)) is not None:
            odd = self._top[one.mate]
            self._match(one, other)
            self._match(odd, above)
            one, other = above, odd
        self._match(one, other)

    def _match(self, one: _Node, other: _Node) -> None:
        """Match a node with another one, and the nodes inside it with one another."""
        todo = deque([(one, self._tightest(one, other))])
        while todo:
            node, edge = todo.popleft()
            node.mate = edge.end
            if node.cycle:
                child = next(inner for inner in node.cycle if edge.start in inner.vertices)
                length = node.turn(child)
                for place in range(length):
                    inner, partner = node.cycle[place], node.cycle[place ^ 1]
                    todo.append((inner, self._tightest(inner, partner)))
                todo.append((child, edge))
                node.cycle = node.cycle[length:] + node.cycle[:length]

    def _shrink(self, one: _Node, base: _Node, other: _Node) -> None:
        """Make a blossom of two paths that start at a tight edge and end at the same node."""
        cycle = [base, *reversed(self._path(one, base)), *self._path(other, base)]
        blossom = _Node(tuple(chain.from_iterable(node.vertices for node in cycle)), self._age, cycle)
        self._age += 1
        blossom.side, blossom.mate = "even", base.mate
        if None in self._nodes:
            self._nodes[self._nodes.index(None)] = blossom
        else:
            self._nodes.append(blossom)
        for vertex in blossom.vertices:
            self._top[vertex] = blossom
        self._find_nearest(blossom)

    def _path(self, node: _Node, base: _Node) -> list[_Node]:
        """Return the nodes from an even node up to a base, without the base, and scan its odd nodes later."""
        path = []
        while node is not base:
            odd = self._top[node.mate]
            path += [node, odd]
            self._enqueue(odd)
            node = self._top[odd.parent]
        return path

    def _change_duals(self) -> bool:
        """Change the dual values until an edge becomes tight or a blossom may be expanded.

        Return False if no unmatched vertex can improve the matching any more.
        """
        change = inf
        for node in self._outermost():
            if node.cycle and node.side == "odd":
                change = min(change, node.dual // 2)
            distance = self._distance(node.nearest, node)
            if node.side is None:
                change = min(change, distance)
            elif node.side == "even":
                change = min(change, distance / 2)
        least = min(dual for dual, top in zip(self._duals, self._top, strict=True) if top.side == "even")
        if least <= change:
            return False
        step = int(change)
        for vertex, top in enumerate(self._top):
            self._duals[vertex] += {"even": -step, "odd": step, None: 0}[top.side]
        for node in self._outermost():
            if node.cycle:
                node.dual += {"even": 2 * step, "odd": -2 * step, None: 0}[node.side]
        return True

    def _use_tight_edges(self) -> bool:
        """Follow the edges that became tight, and return whether a path was found."""
        self._queue.clear()
        for place in range(len(self._nodes)):
            node = self._nodes[place]
            if node is None or not self._is_outermost(node) or node.nearest == _NOWHERE:
                continue
            edge = self._tightest(self._vertices[node.nearest], node)
            if self._top[edge.start] is not node and self._slack(edge) <= 0 and self._follow(edge):
                return True
        return False

    def _expand(self) -> None:
        """Take apart the odd blossoms whose dual value is 0."""
        for place, blossom in enumerate(self._nodes):
            if blossom is None or not blossom.cycle or not self._is_outermost(blossom):
                continue
            if blossom.side == "odd" and blossom.dual == 0:
                self._take_apart(blossom)
                self._nodes[place] = None

    def _take_apart(self, blossom: _Node) -> None:
        """Put the nodes of an odd blossom on the path into the tree, and the other ones outside."""
        entry = self._tightest(blossom, self._vertices[blossom.parent]).start
        for node in blossom.cycle:
            for vertex in node.vertices:
                self._top[vertex] = node
        length = blossom.turn(self._top[entry])
        for node in blossom.cycle[length + 1 :]:
            node.side = None
        for odd, even in zip(blossom.cycle[:length:2], blossom.cycle[1:length:2], strict=True):
            odd.parent, odd.side, even.side = self._tightest(even, odd).start, "odd", "even"
            odd.nearest = _NOWHERE
            self._find_nearest(even)
            self._enqueue(even)
        last = blossom.cycle[length]
        last.side, last.parent = "odd", blossom.parent
        for node in blossom.cycle[length + 1 :]:
            self._find_nearest(node)
