"""Flow: exact maximum flows from servers to jobs, in integers of any size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

#: Arrays of 64-bit integers or, if those might overflow, of integers of any size.
Integers = NDArray[Any]

#: Maximum number of bits of the flows that scipy is asked to find; its integers have 32 bits.
_BITS = 30


@dataclass(frozen=True, eq=False)
class Network:
    """A bipartite network in which sources send flow to sinks along pairs of unlimited capacity."""

    # sources, sinks: number of sources and of sinks
    sources: int
    sinks: int
    # source, sink: the ends of each pair, shapes (pairs,); sorted by source, then by sink
    source: NDArray[np.int64]
    sink: NDArray[np.int64]

    def outflow(self, flow: Integers) -> Integers:
        """Return the total flow from each source, shape (sources,)."""
        return _totals(self.source, flow, self.sources)

    def inflow(self, flow: Integers) -> Integers:
        """Return the total flow into each sink, shape (sinks,)."""
        return _totals(self.sink, flow, self.sinks)

    def maximum_flow(self, supply: Integers, capacity: Integers) -> Integers:
        """Return a maximum flow, as the flow on each pair, shape (pairs,).

        `supply` limits the flow from each source, and `capacity` the flow into each sink. The method is
        capacity scaling: the limits are first rounded down to multiples of a power of two, so that the flow,
        counted in this power, fits into scipy's 32 bits. What was rounded off adds little flow, so the power
        soon becomes one. Complexity: b / (30 - p) runs of scipy's Dinic, for capacities of b bits and 2^p
        pairs.

        Source: Ahuja, Magnanti and Orlin, Network Flows (1993), section 7.3.
        """
        flow: Integers = np.zeros_like(supply, shape=self.source.size)
        most = min(int(supply.sum()), int(capacity.sum()))
        while True:
            shift = max(0, most.bit_length() - _BITS)
            left = supply - self.outflow(flow), capacity - self.inflow(flow)
            flow += self._augment(left[0], left[1], flow, shift) << shift
            if shift == 0:
                return flow
            # every arc of a cut is left with less than the power of two
            most = (self.sources + self.sinks + self.source.size) << shift

    def _augment(self, supply: Integers, capacity: Integers, flow: Integers, shift: int) -> Integers:
        """Return the largest change of a flow, in units of 2^shift, that the remaining capacities allow."""
        limit = 2**_BITS
        back = np.minimum(flow >> shift, limit)
        known = np.flatnonzero(back)
        first_sink, target = 1 + self.sources, 1 + self.sources + self.sinks
        tails = (np.zeros(self.sources, dtype=np.int64), 1 + self.source)
        heads = (1 + np.arange(self.sources), first_sink + self.sink)
        arcs = (np.minimum(supply >> shift, limit), np.full(self.source.size, limit))
        tail = np.concatenate([*tails, first_sink + self.sink[known], first_sink + np.arange(self.sinks)])
        head = np.concatenate([*heads, 1 + self.source[known], np.full(self.sinks, target)])
        most = np.concatenate([*arcs, back[known], np.minimum(capacity >> shift, limit)])
        graph = csr_array((most.astype(np.int32), (tail, head)), shape=(target + 1, target + 1))
        found = maximum_flow(graph, 0, target).flow[1:first_sink, first_sink:target]
        found.sort_indices()  # it has an entry for each pair, zeros too
        return found.data.astype(flow.dtype)

    def reached(self, supply: Integers, flow: Integers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which sources and sinks can be reached in the residual network.

        The shapes are (sources,) and (sinks,). If the flow is maximum, those reached form the source side of a
        minimum cut.
        """
        first_sink = 1 + self.sources
        starts = np.flatnonzero(supply > self.outflow(flow))
        used = np.flatnonzero(flow)
        tail = np.concatenate([np.zeros_like(starts), 1 + self.source, first_sink + self.sink[used]])
        head = np.concatenate([1 + starts, first_sink + self.sink, 1 + self.source[used]])
        size = first_sink + self.sinks
        graph = csr_array((np.ones(tail.size, dtype=np.int8), (tail, head)), shape=(size, size))
        seen = np.zeros(size, dtype=np.bool_)
        seen[breadth_first_order(graph, 0, return_predecessors=False)] = True
        return seen[1:first_sink], seen[first_sink:]


def _totals(index: NDArray[np.int64], values: Integers, size: int) -> Integers:
    totals = np.zeros_like(values, shape=size)
    np.add.at(totals, index, values)
    return totals
