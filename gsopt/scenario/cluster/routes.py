"""Routes: the paths between the GPUs of a cluster, each of which is found when it is first needed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Machine


class Routes:
    """The paths between the GPUs of a cluster, which are kept once they have been found.

    A home is an island, or a machine without islands. All GPUs of a home have the same routes, so paths are
    computed from home to home. `machines` must be in the order of their GPUs, and `tree` must be the cluster's
    networkx tree without GPUs.
    """

    def __init__(self, machines: Sequence[Machine], tree: Any) -> None:
        homes = [(home, machine) for machine in machines for home in machine.islands or (machine,)]
        self._tree = tree
        self._home = [home.name for home, _ in homes for _ in range(home.gpus)]  # of each GPU
        self._gpu_links = {home.name: machine.gpu_link for home, machine in homes}
        self._paths: dict[tuple[str, str], tuple[str, ...]] = {}
        self._bottlenecks: dict[tuple[tuple[str, bool], ...], Link | None] = {}

    def path(self, one: int, other: int) -> tuple[str | int, ...]:
        """Return the nodes on the path from one GPU to another, including both GPUs."""
        if one == other:
            return (one,)
        return (one, *self._between(self._home[one], self._home[other]), other)

    def bottleneck(self, gpus: Iterable[int]) -> Link | None:
        """Return the lowest rate and the highest latency between any two of the GPUs, as a link.

        The result is None if the properties of a link are unknown, or if there is only one GPU.
        """
        on_home = Counter(self._home[gpu] for gpu in set(gpus))
        several = tuple((home, count > 1) for home, count in sorted(on_home.items()))
        if several not in self._bottlenecks:
            self._bottlenecks[several] = self._bottleneck(dict(several))
        return self._bottlenecks[several]

    def _between(self, one: str, other: str) -> tuple[str, ...]:
        """Return the nodes on the path between two homes, including both homes."""
        if (one, other) not in self._paths:
            import networkx as nx

            self._paths[one, other] = tuple(nx.shortest_path(self._tree, one, other))
        return self._paths[one, other]

    def _links(self, one: str, other: str) -> list[Link | None]:
        edges = (self._tree.edges[step] for step in pairwise(self._between(one, other)))
        fields = Link.model_fields
        return [
            Link(**{name: edge[name] for name in fields if name in edge}) if "bandwidth" in edge else None
            for edge in edges
        ]

    def _bottleneck(self, several: Mapping[str, bool]) -> Link | None:
        """Compute the bottleneck between homes. `several` tells whether a home has several of the GPUs.

        In a tree, every link between two homes is on the path from one of them to the first home.
        """
        homes = list(several)
        if len(homes) == 1 and not several[homes[0]]:
            return None
        links = [self._gpu_links[home] for home in homes]
        links += [link for home in homes[1:] for link in self._links(homes[0], home)]
        if None in links:
            return None
        rate = min(link.rate for link in links if link)
        return Link.model_construct(bandwidth=rate, latency=self._longest(homes, several), capacity=None)

    def _longest(self, homes: Sequence[str], several: Mapping[str, bool]) -> float:
        """Return the longest latency between two GPUs. As in any tree, two sweeps find the longest path."""
        within = [self._latency(home, home) for home in homes if several[home]]
        far = max(homes[1:], key=lambda home: self._latency(homes[0], home), default=homes[0])
        across = [self._latency(far, home) for home in homes if home != far]
        return max([*within, *across])

    def _latency(self, one: str, other: str) -> float:
        """Return the latency in seconds between GPUs of two homes, or between two GPUs of the same home."""
        links = [self._gpu_links[one], *self._links(one, other), self._gpu_links[other]]
        return sum(link.latency for link in links if link)
