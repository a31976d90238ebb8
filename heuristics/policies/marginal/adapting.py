"""Adapting: GPUs for jobs that tune themselves, each granted to the job that gains most from it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, sqrt
from typing import NamedTuple, Protocol

from gsopt.core.numbers.hull import concave_hull
from gsopt.scenario.job import LEAST
from gsopt.simulation import Action, Assign, Decider, State, Wake
from gsopt.simulation.parts.instants import Instants
from heuristics.policies.marginal.nodes import Nodes
from heuristics.policies.marginal.outlook import Outlook
from heuristics.policies.marginal.time_left import TimeLeft

#: Upper limit on the charge, in seconds, for growing to a number of GPUs on which no such job was ever
#: measured, because later jobs learn from it.
_LEARNING = 180.0


class AdaptingOptions(NamedTuple):
    """The options that apply to jobs that tune themselves (see `heuristics.policies.marginal`)."""

    exponent: float = 3.0
    hysteresis: float = 4.0
    charge: float = 180.0
    ageing: float | None = None
    multipliers: Mapping[str, float] = {}
    interval: float = 60.0


class Adapting(Decider, Protocol):
    """An interface for deciders that can take in jobs that arrived before the decider was created."""

    def add(self, state: State, job: int) -> None:
        """Take in a job that arrived earlier."""


class _Step(NamedTuple):
    """Additional GPUs for a job, from one corner of its hull to the next; sorted by key."""

    key: float
    job: int
    before: int
    after: int


class AdaptingWhereTuned:
    """A decider that follows another one until an adaptive job arrives for which there is a special decider.

    If the job's model is measured on particular GPU types, the decider made by `typed` takes over. Otherwise,
    `AdaptiveGrants` does, but only if the job tunes itself and the cluster's GPUs are all of one kind.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        otherwise: Decider,
        outlook: Callable[[int], Outlook],
        options: AdaptingOptions,
        typed: Callable[[State], Adapting],
    ) -> None:
        self._otherwise, self._outlook, self._options, self._typed = otherwise, outlook, options, typed
        self._there: dict[int, None] = {}
        self._adapting: Adapting | None = None
        self._alike = len({(machine.gpu_type, machine.memory) for machine in state.cluster.machines}) == 1

    def decide(self, state: State) -> Iterable[Action]:
        """Return the decision of the decider that is active now."""
        if self._adapting is not None:
            return self._adapting.decide(state)
        for job in state.completed:
            del self._there[job]
        trainees = map(state.trainee, state.arrived)
        if any(trainee.application.gpu_types for trainee in trainees if trainee is not None):
            self._adapting = self._typed(state)
        elif self._alike and any(mode.tunes for job in state.arrived for mode in state.jobs[job].modes):
            node = max(machine.gpus for machine in state.cluster.machines)
            self._adapting = AdaptiveGrants(self._outlook(node), self._options)
        if self._adapting is not None:
            for job in self._there:
                self._adapting.add(state, job)
            return self._adapting.decide(state)
        self._there |= dict.fromkeys(state.arrived)
        return self._otherwise.decide(state)


class AdaptiveGrants:
    """A decider that grants GPUs step by step, smallest key first, at every event and every interval.

    A step leads from one corner of the concave hull of a job's speeds, as a function of its number of GPUs, to
    the next. For the keys and options, see `heuristics.policies.marginal.marginal`.
    """

    preemptive = True

    def __init__(self, outlook: Outlook, options: AdaptingOptions) -> None:
        self._outlook, self._options = outlook, options
        self._instants = Instants(options.interval)
        self._there: dict[int, None] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Grant GPUs to the steps in ascending order of key, and keep jobs on their nodes where possible."""
        for job in state.completed:
            self._there.pop(job, None)
        for job in state.arrived:
            self.add(state, job)
        if not self._there:
            return
        nodes = Nodes(state)
        if nodes.gpus:
            left = {job: self._outlook.left(state, job) for job in self._there}
            wanted = self._granted(state, left, nodes.gpus)
            spreads = nodes.spread(wanted, {job: left[job].seconds for job in wanted})
            if spreads != nodes.held:
                gpus = nodes.gpus_of(spreads)
                yield Assign({job: (gpus[job], self._outlook.mode(job)) for job in spreads})
        yield Wake(self._instants.ask(state.now))

    def add(self, state: State, job: int) -> None:
        """Record a job that has arrived."""
        self._there[job] = None
        self._outlook.add(state, job)

    def _granted(self, state: State, left: dict[int, TimeLeft], free: int) -> dict[int, int]:
        """Return how many GPUs each job gets, omitting jobs that get none."""
        steps = sorted(step for job, own in left.items() for step in self._steps(state, job, own))
        granted: dict[int, int] = {}
        for step in steps:
            if granted.get(step.job, 0) == step.before and step.after - step.before <= free:
                granted[step.job] = step.after
                free -= step.after - step.before
        for job, count in granted.items():  # what is left stays where it is
            held = state.running.get(job, 0)
            if 0 < held - count <= free and held in left[job].seconds:
                granted[job] = held
                free -= held - count
        return granted

    def _steps(self, state: State, job: int, left: TimeLeft) -> Iterator[_Step]:
        """Yield the steps of a job's hull, stopping before one that does not save a running job enough time."""
        options, held = self._options, state.running.get(job, 0)
        hull = concave_hull((count, 1 / max(seconds, LEAST)) for count, seconds in left.seconds.items())
        if not hull:
            return
        weight = left.area * options.multipliers.get(state.jobs[job].name, 1.0)
        if options.ageing is not None:
            weight /= sqrt(1 + float(state.now - state.jobs[job].release_date) / options.ageing)
        first, count, speed = hull[0].speed / hull[0].gpus, 0, 0.0
        now = left.seconds.get(held, inf)
        for segment in hull:
            before, count, speed = count, count + segment.gpus, speed + segment.speed
            charge = min(options.charge, _LEARNING) if count in left.untried else options.charge
            if held and count > held and now - 1 / speed <= charge:
                return
            efficiency = segment.speed / segment.gpus / first
            kept = options.hysteresis if count <= held else 1.0
            yield _Step(weight / efficiency**options.exponent / kept, job, before, count)
