"""Placing: the choice of GPUs for jobs on nodes of one kind so that few jobs move."""

from collections.abc import Collection, Mapping, Sequence

from gsopt.problems.configuration import Shape
from heuristics.policies.sia.nodes import PoolNode


def place_jobs(
    nodes: Sequence[PoolNode],
    per_node: int,
    wanted: Mapping[int, Shape],
    held: Mapping[int, Sequence[int]],
    fixed: Collection[int] = (),
) -> dict[int, tuple[int, ...]]:
    """Choose GPUs for jobs with given configurations on nodes of one kind.

    A job whose configuration does not change keeps the GPUs that it `held`, unless it has to move. First,
    entire nodes are allocated, to the largest jobs first; of several free nodes, the last in the list is used.
    If no node is free, all jobs on one node move. Then parts of nodes are allocated, largest part first, on the
    fullest node with room; ties go to the first node. If no node has room, jobs on one node move until it has
    room, smallest jobs first and `fixed` jobs last. A job can move only if all its GPUs are on that node and if
    they are fewer than are needed there. Of the nodes on which such moves make enough room, the one with the
    most free GPUs is chosen. Jobs that have moved then get parts of nodes in the same way.

    If nodes differ or sizes are not powers of two, some jobs may not fit. They take the remaining GPUs,
    beginning with the node that has the most free GPUs. All jobs are therefore placed if there are enough GPUs
    in total.

    Source: the "smart" placement in Sia's simulator. There, however, jobs are sorted by a constant key, i.e.
    not sorted at all.
    """
    placement = _Placement(nodes, per_node, wanted, held, fixed)
    placement.take_whole_nodes()
    placement.take_parts()
    placement.take_what_is_left()
    return {job: tuple(sorted(gpus)) for job, gpus in placement.taken.items()}


class _Placement:
    def __init__(
        self,
        nodes: Sequence[PoolNode],
        per_node: int,
        wanted: Mapping[int, Shape],
        held: Mapping[int, Sequence[int]],
        fixed: Collection[int],
    ) -> None:
        self.size, self.wanted, self.fixed = per_node, wanted, fixed
        self.free = [dict.fromkeys(node.gpus) for node in nodes]
        self.node_of = {gpu: place for place, node in enumerate(nodes) for gpu in node.gpus}
        self.taken: dict[int, list[int]] = {}
        for job, gpus in held.items():
            for gpu in gpus:
                self._take(job, self.node_of[gpu], [gpu])
        self.waiting = [job for job in sorted(wanted) if job not in held]
        self.scattered: list[int] = []

    def take_whole_nodes(self) -> None:
        """Grant entire nodes to all jobs that need some, largest jobs first."""
        for job in sorted(self.waiting, key=lambda job: -self.wanted[job].gpus):
            for _ in range(self.wanted[job].gpus // self.size):
                place = self._whole_node()
                if place is None:
                    self._scatter(job)
                    break
                self._take(job, place, list(self.free[place]))

    def take_parts(self) -> None:
        """Grant parts of nodes, largest part first, to waiting jobs and to jobs that have to move."""
        while self.waiting:
            job = max(self.waiting, key=self._part)
            self.waiting.remove(job)
            part = self._part(job)
            place = self._node_with_room(part) if part else None
            if place is not None:
                self._take(job, place, sorted(self.free[place])[:part])
            elif part:
                self._scatter(job)

    def take_what_is_left(self) -> None:
        """Grant the remaining GPUs to jobs that fit nowhere else, on as few nodes as possible."""
        for job in sorted(self.scattered, key=lambda job: -self.wanted[job].gpus):
            missing = self.wanted[job].gpus
            for place in sorted(range(len(self.free)), key=lambda place: -len(self.free[place])):
                gpus = sorted(self.free[place])[:missing]
                self._take(job, place, gpus)
                missing -= len(gpus)

    def _part(self, job: int) -> int:
        return self.wanted[job].gpus % self.size

    def _take(self, job: int, place: int, gpus: Sequence[int]) -> None:
        self.taken.setdefault(job, []).extend(gpus)
        for gpu in gpus:
            del self.free[place][gpu]

    def _give_up(self, job: int) -> None:
        """Free the GPUs of a job."""
        for gpu in self.taken.pop(job, ()):
            self.free[self.node_of[gpu]][gpu] = None

    def _evict(self, job: int) -> None:
        self._give_up(job)
        self.waiting.append(job)

    def _scatter(self, job: int) -> None:
        self._give_up(job)
        self.scattered.append(job)
        if job in self.waiting:
            self.waiting.remove(job)

    def _movable(self, place: int, below: int) -> list[int]:
        """Return the jobs with fewer than `below` GPUs, all on this node, smallest first, `fixed` ones last."""
        jobs = {
            job: len(gpus)
            for job, gpus in self.taken.items()
            if len(gpus) < below and all(self.node_of[gpu] == place for gpu in gpus)
        }
        return sorted(jobs, key=lambda job: (job in self.fixed, jobs[job], job))

    def _room(self, place: int, below: int) -> int:
        """Return the number of GPUs of a node that are free or held by jobs that can move."""
        return len(self.free[place]) + sum(len(self.taken[job]) for job in self._movable(place, below))

    def _whole_node(self) -> int | None:
        """Return the last free node or, after clearing it, the one with the most free GPUs, or None."""
        places = [place for place in range(len(self.free)) if self._room(place, self.size) == self.size]
        empty = [place for place in places if len(self.free[place]) == self.size]
        if empty:
            return empty[-1]
        place = max(places, key=lambda place: len(self.free[place]), default=None)
        if place is not None:
            for job in self._movable(place, self.size):
                self._evict(job)
        return place

    def _node_with_room(self, gpus: int) -> int | None:
        """Return the fullest node with room or, after making room, the one with the most free GPUs, or None."""
        places = range(len(self.free))
        roomy = [place for place in places if len(self.free[place]) >= gpus]
        if roomy:
            return min(roomy, key=lambda place: len(self.free[place]))
        able = [place for place in places if self._room(place, gpus) >= gpus]
        place = max(able, key=lambda place: len(self.free[place]), default=None)
        if place is not None:
            for job in self._movable(place, gpus):
                if len(self.free[place]) < gpus:
                    self._evict(job)
        return place
