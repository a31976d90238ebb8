"""Configuring: a decider that solves who has which configuration, and seats whom it chooses."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gsopt.problems.configuration import AdaptiveJob, ConfigurationSolution, Shape
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.sia.park import Park, Stock
from heuristics.policies.sia.seating import seat

#: Makes a decision: GPUs of each kind, configurations and jobs to a solution.
Solve = Callable[[Mapping[str, int], list[Shape], list[AdaptiveJob]], ConfigurationSolution]


@dataclass
class JobHistory:
    """What a decider remembers of a job.

    Attributes
    ----------
    has_choice
        Whether there are several configurations in which it may ever run.
    starts
        How often it was given GPUs other than those that it had.
    most_gpus
        The most GPUs that it was given.
    """

    has_choice: bool
    starts: int = 0
    most_gpus: int = 0

    @property
    def restarts(self) -> int:
        """How often it was given GPUs, without the first time."""
        return max(self.starts - 1, 0)


class Estimates(Protocol):
    """What is known of the jobs."""

    def enter(self, state: State, job: int) -> list[Shape]:
        """Look at a job that has come, and give the configurations in which it may ever run."""

    def leave(self, job: int) -> None:
        """Forget a job that has gone."""

    def goodputs(self, state: State, job: int, history: JobHistory) -> Mapping[Shape, float]:
        """Find the goodput of a job in each configuration that it may have now, relative to one of its own."""

    def restart_factor(self, state: State, job: int, history: JobHistory) -> float:
        """Return the part of its goodput that a job would have after a restart."""

    def mode(self, job: int, shape: Shape) -> str:
        """Return the mode in which a job runs in a configuration."""


class Configuring:
    """Decide at instants who has which configuration, all jobs together, and who stands where.

    A job that is restarting keeps its configuration. Between instants nothing changes.

    Parameters
    ----------
    park
        The nodes by kind.
    estimates
        What is known of the jobs.
    solve
        What decides.
    interval
        Seconds between decisions, at the multiples of it.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds.
    """

    preemptive = True

    def __init__(
        self, state: State, park: Park, estimates: Estimates, solve: Solve, *, interval: float
    ) -> None:
        del state
        self._park, self._estimates, self._solve = park, estimates, solve
        self._instants = Instants(interval)
        self._jobs: dict[int, JobHistory] = {}
        self._known: dict[Shape, None] = dict.fromkeys(park.all_shapes())
        self._held: dict[int, Shape] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Decide if it is time, and ask for the next time.

        Where nobody has a choice or is restarting nothing changes by time alone, so that nobody has to ask.
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
        """Take in who has come and who has gone."""
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
        """Decide who has what, and where."""
        stock = self._park.stock(state)
        listed = [shape for shape in self._known if shape.gpus <= stock.gpus[shape.type]]
        rows = [self._row(state, job, listed, job in restarting) for job in self._jobs]
        there = {kind: count for kind, count in stock.gpus.items() if count}
        chosen = self._solve(there, listed, rows).configurations
        wanted = {job: listed[chosen[str(job)]] for job in self._jobs if str(job) in chosen}
        placed: Mapping[int, Any] = (
            {job: shape.gpus for job, shape in wanted.items()}
            if self._park.is_plain
            else self._seated(state, stock, wanted, restarting)
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

    def _seated(
        self, state: State, stock: Stock, wanted: Mapping[int, Shape], restarting: Collection[int]
    ) -> dict[int, tuple[int, ...]]:
        """Return the GPUs of jobs by number; who keeps its configuration keeps them if it can."""
        placed: dict[int, tuple[int, ...]] = {}
        for kind, nodes in stock.nodes.items():
            here = {job: shape for job, shape in wanted.items() if shape.type == kind}
            held = {job: state.placement(job) for job, shape in here.items() if self._held.get(job) == shape}
            placed |= seat(nodes, stock.per_node[kind], here, held, restarting)
        return placed

    def _assigned(self, state: State, chosen: Mapping[int, tuple[Shape, Any]]) -> list[Action]:
        """Take down who has what, and give the assignment unless it is what runs already."""
        before = {
            job: (count if self._park.is_plain else tuple(state.placement(job)), state.mode(job))
            for job, count in state.running.items()
        }
        after = {job: (given, self._estimates.mode(job, shape)) for job, (shape, given) in chosen.items()}
        for job, (shape, _) in chosen.items():
            history = self._jobs[job]
            history.starts += self._held.get(job) != shape
            history.most_gpus = max(history.most_gpus, shape.gpus)
        self._held = {job: shape for job, (shape, _) in chosen.items()}
        return [] if before == after else [Assign(after)]
