"""Patterns: the jobs that a node may hold together, and the room that they leave for part of another job."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from formulations.goodput.case import GoodputCase, GoodputOption


class Stay(NamedTuple):
    """A job that may keep its GPUs on a node."""

    job: int
    gpus: int  # its GPUs there
    is_wide: bool  # whether it has GPUs on other nodes too


class Pattern(NamedTuple):
    """The jobs that a node holds, and the GPUs that they leave for part of another job."""

    stays: tuple[Stay, ...]  # jobs that keep their GPUs
    sizes: tuple[int, ...]  # GPUs of each job that has all its GPUs there, ascending
    # GPUs that are left for a part of a job on several nodes; 0 if it would be beside another part
    room: int


@dataclass(frozen=True)
class NodeKind:
    """Nodes with equal numbers of GPUs, where the same jobs may stay with the same numbers of GPUs."""

    gpus: int  # GPUs of each
    stays: tuple[Stay, ...]  # jobs that may stay
    nodes: tuple[int, ...]

    def patterns(self, sizes: Sequence[int], *, parts: bool) -> Iterator[Pattern]:
        """Yield the patterns that nodes of this kind may have.

        `sizes` holds the GPUs of single-node jobs that may be added, in ascending order. If `parts`, a part of
        a spread job may be added, too, unless a job on several nodes stays. Patterns without room for such a
        part are yielded only if no further single-node job fits.
        """
        for stays, room in _staying(self.stays, self.gpus):
            is_open = parts and not any(stay.is_wide for stay in stays)
            for chosen, left in _filled(sizes, room, is_full=not is_open):
                yield Pattern(stays, chosen, left if is_open else 0)


def kinds(case: GoodputCase, alive: Sequence[Sequence[GoodputOption]]) -> list[NodeKind]:
    """Group the nodes into kinds, so that no remaining option distinguishes the nodes of one kind."""
    staying: list[list[Stay]] = [[] for _ in case.problem.nodes]
    for job, options in enumerate(alive):
        if any(option.keeps for option in options):
            held = {node: gpus for node, gpus in enumerate(case.problem.currents[job]) if gpus}
            for node, gpus in held.items():
                staying[node].append(Stay(job, gpus, len(held) > 1))
    alike: dict[tuple[int, tuple[Stay, ...]], list[int]] = {}
    for node, (gpus, stays) in enumerate(zip(case.problem.nodes, staying, strict=True)):
        alike.setdefault((gpus, tuple(stays)), []).append(node)
    return [NodeKind(gpus, stays, tuple(nodes)) for (gpus, stays), nodes in alike.items()]


def _staying(stays: Sequence[Stay], room: int) -> Iterator[tuple[tuple[Stay, ...], int]]:
    """Yield the sets of jobs that may stay together, each with the number of GPUs left over."""
    if not stays:
        yield (), room
        return
    first, *others = stays
    yield from _staying(others, room)
    if first.gpus <= room:
        beside = [stay for stay in others if not (first.is_wide and stay.is_wide)]
        for chosen, left in _staying(beside, room - first.gpus):
            yield (first, *chosen), left


def _filled(sizes: Sequence[int], room: int, *, is_full: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield multisets of job sizes that fit together, each with the number of GPUs left over.

    If `is_full`, only multisets that leave no room for another job are yielded.
    """
    if not sizes:
        yield (), room
        return
    *others, largest = sizes
    most = room // largest
    for number in range(0 if others or not is_full else most, most + 1):
        for chosen, left in _filled(others, room - number * largest, is_full=is_full):
            yield chosen + (largest,) * number, left
