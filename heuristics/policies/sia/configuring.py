"""Configuring: a decider that chooses the configurations of all jobs jointly, and places the jobs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gsopt.problems.configuration import AdaptiveJob, ConfigurationSolution, Shape
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.sia.nodes import AvailableNodes, NodePool
from heuristics.policies.sia.placing import place_jobs

#: Solves the decision: (GPUs of each kind, configurations, jobs) -> solution.
Solve = Callable[[Mapping[str, int], list[Shape], list[AdaptiveJob]], ConfigurationSolution]


@dataclass
class JobHistory:
    """What the decider remembers about a job."""

    has_choice: bool  # whether there are several configurations in which it may ever run
    starts: int = 0  # how often it was given a configuration other than the one that it had
    most_gpus: int = 0  # that it was ever given

    @property
    def restarts(self) -> int:
        """How often the job was granted a configuration that it did not have, not counting the first time."""
        return max(self.starts - 1, 0)


class Estimates(Protocol):
    """An interface for estimates of jobs' goodputs and restart costs."""

    def enter(self, state: State, job: int) -> list[Shape]:
        """Record a new job, and return the configurations in which it may ever run."""

    def leave(self, job: int) -> None:
        """Forget a job that has completed."""

    def goodputs(self, state: State, job: int, history: JobHistory) -> Mapping[Shape, float]:
        """Return the relative goodput of a job in each configuration that it may have now."""

    def restart_factor(self, state: State, job: int, history: JobHistory) -> float:
        """Return the fraction of its goodput that a job would keep after a restart."""

    def mode(self, job: int, shape: Shape) -> str:
        """Return the mode in which a job runs in a configuration."""


class Configuring:
    """A decider that chooses the configurations of all jobs jointly, at multiples of an interval.

    A job that is restarting keeps its configuration. Between decisions, no job starts, moves or is stopped.
    """

    preemptive = True

    def __init__(
        self, state: State, pool: NodePool, estimates: Estimates, solve: Solve, *, interval: float
    ) -> None:
        del state
        self._pool, self._estimates, self._solve = pool, estimates, solve
        self._instants = Instants(interval)
        self._jobs: dict[int, JobHistory] = {}
        self._known: dict[Shape, None] = dict.fromkeys(pool.all_shapes())
        self._held: dict[int, Shape] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Make a decision if one is due, and ask to be woken for the next one.

        After a decision that changes nothing, no wake-up is needed if every job has only one configuration and
        no job is restarting, because nothing then changes between events. If no decision is due yet, a wake-up
        is needed whenever there are jobs.
        """
        self._follow(state)
        changes = bool(self._jobs)
        if self._instants.reached(state.now):
            restarting = {job for job in self._held if state.ready(job) > state.now}
            actions = self._decided(state, restarting)
            yield from actions
            has_choice = any(history.has_choice for history in self._jobs.values())
            changes = bool(actions or restarting) or has_choice
        if changes:
            yield Wake(self._instants.ask(state.now))

    def _follow(self, state: State) -> None:
        """Process the jobs that have arrived, completed or been evicted."""
        for job in state.completed:
            del self._jobs[job]
            self._held.pop(job, None)
            self._estimates.leave(job)
        for job in state.evicted:
            self._held.pop(job, None)
        for job in state.arrived:
            shapes = self._estimates.enter(state, job)
            self._known.update(dict.fromkeys(shapes))
            self._jobs[job] = JobHistory(has_choice=len(shapes) > 1)

    def _decided(self, state: State, restarting: Collection[int]) -> list[Action]:
        """Choose the configurations of jobs and their GPUs, and return the resulting actions."""
        available = self._pool.available(state)
        listed = [shape for shape in self._known if shape.gpus <= available.gpus[shape.type]]
        rows = [self._row(state, job, listed, job in restarting) for job in self._jobs]
        there = {kind: count for kind, count in available.gpus.items() if count}
        chosen = self._solve(there, listed, rows).configurations
        wanted = {job: listed[chosen[str(job)]] for job in self._jobs if str(job) in chosen}
        placed: Mapping[int, Any] = (
            {job: shape.gpus for job, shape in wanted.items()}
            if self._pool.is_plain
            else self._placed(state, available, wanted, restarting)
        )
        return self._assigned(state, {job: (wanted[job], given) for job, given in placed.items()})

    def _row(self, state: State, job: int, listed: list[Shape], restarts: bool) -> AdaptiveJob:
        known = self._estimates.goodputs(state, job, self._jobs[job])
        held = self._held.get(job)
        goodputs = [known.get(shape) for shape in listed]
        current = listed.index(held) if held in listed else None
        if restarts and current is not None and goodputs[current] is None:
            goodputs[current] = 1.0  # it stays whatever it counts
        return AdaptiveJob(
            name=str(job),
            goodputs=goodputs,
            current=current,
            restart_factor=self._estimates.restart_factor(state, job, self._jobs[job]),
            pinned=restarts and current is not None,
        )

    def _placed(
        self, state: State, available: AvailableNodes, wanted: Mapping[int, Shape], restarting: Collection[int]
    ) -> dict[int, tuple[int, ...]]:
        """Return the GPUs of each job, keyed by job number.

        A job that keeps its configuration keeps its GPUs if possible.
        """
        placed: dict[int, tuple[int, ...]] = {}
        for kind, nodes in available.nodes.items():
            here = {job: shape for job, shape in wanted.items() if shape.type == kind}
            held = {job: state.placement(job) for job, shape in here.items() if self._held.get(job) == shape}
            placed |= place_jobs(nodes, available.per_node[kind], here, held, restarting)
        return placed

    def _assigned(self, state: State, chosen: Mapping[int, tuple[Shape, Any]]) -> list[Action]:
        """Record the configurations, and return the assignment unless it is the current one."""
        before = {
            job: (count if self._pool.is_plain else tuple(state.placement(job)), state.mode(job))
            for job, count in state.running.items()
        }
        after = {job: (given, self._estimates.mode(job, shape)) for job, (shape, given) in chosen.items()}
        for job, (shape, _) in chosen.items():
            history = self._jobs[job]
            history.starts += self._held.get(job) != shape
            history.most_gpus = max(history.most_gpus, shape.gpus)
        self._held = {job: shape for job, (shape, _) in chosen.items()}
        return [] if before == after else [Assign(after)]
