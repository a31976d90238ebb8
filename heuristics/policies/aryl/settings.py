"""Settings: the options of the policy `aryl`, and the objects that they specify."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from math import inf
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, require, require_one_of, shorten
from gsopt.core.method import MethodLike
from gsopt.evaluation.catalogue import find_method
from heuristics.policies.aryl import schedulers
from heuristics.policies.aryl.orchestrator import OnReclaim, Orchestrator
from heuristics.policies.aryl.scheduler import Scheduler
from heuristics.policies.aryl.two_phase import TwoPhaseScheduler, Work

#: A scheduler, or a function that makes one.
SchedulerLike = Scheduler | Callable[..., Scheduler]


@dataclass(frozen=True, kw_only=True)
class ArylSettings:
    """The options of `heuristics.policies.aryl.aryl`, documented there."""

    interval: float = 60
    orchestrator_interval: float = 300
    inference: str = "T4"
    reclaiming: MethodLike | str = "greedy"
    spare_first: bool = True
    on_reclaim: OnReclaim | None = None
    scheduler: SchedulerLike | str = "two_phase"
    scheduler_options: Mapping[str, Any] | None = None
    allocation: MethodLike | str | None = None
    solver: MethodLike | str | None = None
    weights: Literal["corrected", "printed"] = "corrected"
    work: Work = "remaining"
    capacity: Literal["pools", "normalised"] = "pools"
    normalisation: float = 3.0
    placement: MethodLike | str = "best_fit_decreasing"
    grouping: bool = True

    def __post_init__(self) -> None:
        require_one_of("weights", self.weights, ("corrected", "printed"))
        require_one_of("work", self.work, ("remaining", "full"))
        require_one_of("capacity", self.capacity, ("pools", "normalised"))
        sound = isinstance(self.normalisation, int | float) and 1 <= self.normalisation < inf
        require(sound, "normalisation", self.normalisation, "must be a number, at least 1")
        rule = "must be None if weights are printed, which two_phase of allocation does"
        sound = self.weights == "corrected" or self.allocation is None
        require(sound, "allocation", self.allocation, rule)

    def make_scheduler(self) -> Scheduler:
        """Make a scheduler for a run, or return the given one."""
        given, options = self.scheduler, self.scheduler_options
        if given == "two_phase":
            require(not options, "scheduler_options", options, "must be None for two_phase")
            return self._two_phase()
        if isinstance(given, str):
            return scheduler_named(given, options)
        if callable(given):
            return given(**(options or {}))
        require(not options, "scheduler_options", options, "must be None for a scheduler object")
        return given

    def _two_phase(self) -> Scheduler:
        knapsack: MethodLike | None = None
        if self.weights == "printed":
            knapsack = partial(find_method("allocation", "two_phase"), weight="printed")
        elif self.allocation is not None:
            knapsack = find_method("allocation", self.allocation, field="allocation")
        return TwoPhaseScheduler(
            find_method("allocation", "exact" if self.solver is None else self.solver, field="solver"),
            knapsack=knapsack,
            work=self.work,
            normalised=self.normalisation if self.capacity == "normalised" else None,
        )

    def make_orchestrator(self) -> Orchestrator:
        """Make an orchestrator with the chosen method of `reclaiming`."""
        method = find_method("reclaiming", self.reclaiming, field="reclaiming")
        return Orchestrator(method, spare_first=self.spare_first, on_reclaim=self.on_reclaim)

    def find_placement(self) -> MethodLike | None:
        """Return the method that improves the placement of new workers, or None for best fit alone."""
        if self.placement == "best_fit_decreasing":
            return None
        return find_method("placement", self.placement, field="placement")


def scheduler_named(name: str, options: Mapping[str, Any] | None = None) -> Scheduler:
    """Make a scheduler from `heuristics.policies.aryl.schedulers`, given its name and options."""
    if name not in schedulers.__all__:
        rule = f"must be two_phase, or one of {', '.join(schedulers.__all__)}"
        raise InvalidInput("scheduler", shorten(name), rule)
    factory = getattr(schedulers, name)
    known = signature(factory).parameters
    for option in options or {}:
        if option not in known:
            rule = f"is not an option of {name}; it has {', '.join(known)}"
            raise InvalidInput("scheduler_options", shorten(option), rule)
    made: Scheduler = factory(**(options or {}))
    return made
