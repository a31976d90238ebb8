"""Rotating: a decider whose jobs of equal demand take turns on groups of GPUs, or share them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gsopt.core.numbers.clock import clock_error
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.partners import suitable
from gsopt.simulation.parts.starts import on_free
from gsopt.simulation.policy import Action, Start, State, Stop, Wake

#: When jobs of a group run at the same time: if that pays off, if there is enough memory, or never.
Sharing = Literal["measured", "memory", "never"]


@dataclass
class RotationGroup:
    """Some GPUs, and the jobs that take turns on them."""

    size: int
    gpus: tuple[int, ...]  # empty in a plain cluster
    members: list[int]  # by turn: the jobs whose turn it is come first
    running: set[int] = field(default_factory=set)

    @property
    def waits(self) -> bool:
        """Whether any of the group's jobs waits for its turn."""
        return len(self.running) < len(self.members)


class Rotating:
    """A decider that assigns every job its own GPUs, or a place in a group of jobs that take turns.

    A new job gets free GPUs of its own if there are enough and no other job waits for GPUs. Otherwise, it joins
    the group with the fewest jobs among those of equal demand whose GPUs suit it. If there is none, it waits. A
    group whose last job completes releases its GPUs. At multiples of `span` seconds, groups with waiting jobs
    switch to their next jobs. A job that has made no progress in its turn yet, or would lose its progress,
    keeps its turn.

    Several jobs of a group may run at the same time, up to the run's `share_limit`. With ``memory``, a further
    job is added if there is enough memory. With ``measured``, it must also not reduce the total progress of the
    jobs that run. With ``never``, only one job runs.
    """

    preemptive = True

    def __init__(self, state: State, *, span: float = 60.0, sharing: Sharing = "measured") -> None:
        del state
        self._instants, self._sharing = Instants(span, "span"), sharing
        self._groups: list[RotationGroup] = []
        self._waiting: list[int] = []
        self._modes: dict[int, str] = {}
        self._left: dict[int, Any] = {}  # the work that each job had left when its turn began
        self._turn: Any = None  # when groups go on with their next jobs

    def decide(self, state: State) -> Iterable[Action]:
        """Rotate groups if a time slice has ended, and place new jobs."""
        self._take_in(state)
        if self._turn is not None and state.now >= self._turn:
            for group in self._groups:
                self._rotate(state, group)
        yield from self._settle(state, self._groups)
        yield from self._place(state)
        if any(group.waits for group in self._groups):
            self._turn = self._instants.after(state.now)
            yield Wake(self._turn)
        else:
            self._turn = None

    def _take_in(self, state: State) -> None:
        gone = {*state.completed, *state.evicted}
        left = [group for group in self._groups if not gone.isdisjoint(group.members)]
        free, room = set(state.free_gpus()), state.free
        for group in left:
            is_lost = not group.running.isdisjoint(state.evicted)
            group.members = [job for job in group.members if job not in gone]
            group.running &= set(group.members)
            if not group.running:  # GPUs may go in the instant in which the last job on them completes
                is_lost |= group.size > room or not free.issuperset(group.gpus)
                room -= group.size
            if is_lost:
                self._waiting += group.members
                group.members = []
        self._groups = [group for group in self._groups if group.members]
        self._waiting = sorted((*self._waiting, *state.evicted, *state.arrived))

    def _place(self, state: State) -> Iterator[Action]:
        """Grant waiting jobs GPUs of their own, or a place in a group."""
        left: list[int] = []
        for job in self._waiting:
            start = None if left else on_free(state, job)
            if start is not None:
                self._modes[job] = start.mode
                self._left[job] = state.remaining(job)
                yield start
                self._groups.append(RotationGroup(state.jobs[job].gpus, state.placement(job), [job], {job}))
            elif groups := [group for group in self._groups if _suits(state, group, job)]:
                group = min(groups, key=lambda each: len(each.members))
                group.members.append(job)
                self._modes[job] = ""
                yield from self._settle(state, [group])
            else:
                left.append(job)
        self._waiting = left

    def _rotate(self, state: State, group: RotationGroup) -> None:
        """Move jobs that have had their turn to the end of a group if any job in it waits."""
        if group.waits:
            through = [
                job for job in group.members if job in group.running and self._is_through(state, group, job)
            ]
            group.members = [job for job in group.members if job not in through] + through

    def _is_through(self, state: State, group: RotationGroup, job: int) -> bool:
        """Check whether a running job has made progress beyond rounding in its turn, and has checkpoints."""
        rate = state.rate(job, group.gpus or group.size, self._modes[job])
        done = (self._left[job] - state.remaining(job)) / rate
        return state.jobs[job].checkpoints and bool(done > clock_error(state.now, 0))

    def _settle(self, state: State, groups: Sequence[RotationGroup]) -> Iterator[Action]:
        """Start the jobs whose turn it is, and stop all others."""
        chosen = [(group, self._chosen(state, group)) for group in groups]
        for group, jobs in chosen:
            yield from (Stop(job) for job in sorted(group.running - set(jobs)))
        for group, jobs in chosen:
            new = [job for job in jobs if job not in group.running]
            self._left |= {job: state.remaining(job) for job in new}
            yield from (Start(job, group.gpus or None, self._modes[job]) for job in new)
            group.running = set(jobs)
            group.members = jobs + [job for job in group.members if job not in group.running]

    def _chosen(self, state: State, group: RotationGroup) -> list[int]:
        """Return the jobs of a group that run now: the first one, and those after it that may join it."""
        together = group.members[:1]
        for job in group.members[1:]:
            if len(together) < state.share_limit and self._may_join(state, group, together, job):
                together.append(job)
        return together

    def _may_join(self, state: State, group: RotationGroup, together: Sequence[int], job: int) -> bool:
        if self._sharing == "never" or not _have_memory(state, group, [*together, job]):
            return False
        return self._sharing == "memory" or self._progress(state, group, [*together, job]) >= self._progress(
            state, group, together
        )

    def _progress(self, state: State, group: RotationGroup, together: Sequence[int]) -> Any:
        """Return the sum of the speeds of jobs that share a group's GPUs, each relative to its speed alone."""
        total: Any = 0
        for job in together:
            beside = [other for other in together if other != job]
            mode = self._modes[job]
            total += state.rate(job, group.gpus, mode, beside) / state.rate(job, group.gpus, mode)
        return total


def _suits(state: State, group: RotationGroup, job: int) -> bool:
    """Check whether a job demands as many GPUs as a group has and may use all of them."""
    item = state.jobs[job]
    if item.gpus != group.size:
        return False
    return len(suitable(state, item, group.gpus)) == len(group.gpus) and _have_memory(state, group, [job])


def _have_memory(state: State, group: RotationGroup, jobs: Sequence[int]) -> bool:
    """Check whether each GPU of a group has enough memory for the given jobs at the same time."""
    machines, machine_of = state.cluster.machines, state.cluster.machine_of
    known = [memory for gpu in group.gpus if (memory := machines[machine_of[gpu]].memory) is not None]
    return sum(state.jobs[job].memory or 0 for job in jobs) <= min(known, default=float("inf"))
