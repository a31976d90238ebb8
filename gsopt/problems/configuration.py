"""Configuration: which GPU type, and how many nodes and GPUs, each adaptive job gets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import shorten
from gsopt.core.numbers.grid import Exact, Number, decimal, exact_total
from gsopt.core.numbers.grid import step as common_step
from gsopt.core.problem import Frozen, Gpus, Many, Name, Problem, RuleBroken, Sense
from gsopt.problems.names import Named

#: Index of a configuration in the problem's list of configurations.
Place = Annotated[int, Field(ge=0)]

#: Maximum goodput, relative to the job's reference (see `AdaptiveJob`).
MOST_GOODPUT = 1e9

#: Goodput, relative to the job's reference (see `AdaptiveJob`).
Relative = Annotated[float, Field(ge=1e-9, le=MOST_GOODPUT)]

#: Factor by which a restart reduces the goodput.
Factor = Annotated[float, Field(ge=0, le=1)]


class Shape(Frozen):
    """A configuration: how many GPUs of one type a job has, and on how many nodes.

    Examples
    --------
    >>> Shape(type="t4", nodes=2, gpus=8).gpus
    8
    """

    type: Name
    nodes: Gpus = 1
    gpus: Gpus = 1

    @model_validator(mode="after")
    def _every_node_has_a_part(self) -> "Shape":
        if self.nodes > self.gpus:
            raise RuleBroken("nodes", self.nodes, f"must be at most the {self.gpus} GPUs")
        return self


def shapes(kind: str, nodes: int, gpus_per_node: int) -> list[Shape]:
    """Return Sia's configurations for a GPU type: 1, 2, 4, ... GPUs of one node, or one or more whole nodes.

    Source: Sia (SOSP 2023), section 3.2.

    Parameters
    ----------
    kind
        Type of GPU.
    nodes
        Number of nodes with GPUs of this type.
    gpus_per_node
        Number of GPUs per node.

    Examples
    --------
    >>> [(shape.nodes, shape.gpus) for shape in shapes("t4", 3, 4)]
    [(1, 1), (1, 2), (1, 4), (2, 8), (3, 12)]
    """
    parts = [2**power for power in range((gpus_per_node - 1).bit_length())] if nodes else []
    on_one = [Shape(type=kind, gpus=gpus) for gpus in parts]
    return on_one + [Shape(type=kind, nodes=n, gpus=n * gpus_per_node) for n in range(1, nodes + 1)]


class AdaptiveJob(Frozen):
    """A job that can run in several configurations.

    Attributes
    ----------
    name
        Name of the job.
    goodputs
        Goodputs relative to a reference goodput, one per configuration; None if the job cannot use the
        configuration. In Sia, the reference is the job's lowest goodput or, for a job of fixed size, its
        lowest goodput per GPU.
    current
        Index of the current configuration, or None if the job has none.
    restart_factor
        Factor by which the goodput is multiplied in every configuration other than the current one; ignored if
        the job has no current configuration.
    pinned
        Whether the job must keep its configuration because it is restarting.

    Examples
    --------
    >>> AdaptiveJob(name="a", goodputs=[1.0, 1.8, None], current=0, restart_factor=0.9).pinned
    False
    """

    name: Name
    goodputs: Many[Relative | None]
    current: Place | None = None
    restart_factor: Factor = 1.0
    pinned: bool = False

    @model_validator(mode="after")
    def _rules_hold(self) -> "AdaptiveJob":
        if self.current is not None and self.current >= len(self.goodputs):
            rule = f"must be the index of one of the {len(self.goodputs)} configurations"
            raise RuleBroken("current", self.current, rule)
        if self.pinned and (self.current is None or self.goodputs[self.current] is None):
            raise RuleBroken("pinned", True, "must be false for a job without a configuration in which it runs")
        return self


class ConfigurationSolution(Frozen):
    """The index of each job's configuration, keyed by job name.

    Jobs that are left out have no configuration.
    """

    configurations: Mapping[Name, Place]


class Configuration(Problem[ConfigurationSolution]):
    """The problem of giving each job at most one configuration at minimum total cost.

    A job may get any configuration for which it has a goodput G, or none. The configuration costs G**p if the
    power p is negative, and -G**p if p is positive. If it replaces another configuration of the job, G is
    multiplied by the job's restart factor. A pinned job must keep its configuration. The chosen configurations
    use at most the available GPUs of each type.

    Source: Sia (SOSP 2023), section 3.4, Equations 3-5. `decimals`, `cap` and pinned jobs are those of the
    authors' program.

    Attributes
    ----------
    gpus
        Number of GPUs of each type, keyed by type.
    configurations
        The configurations that jobs may get.
    jobs
        All jobs, whether or not they currently have a configuration.
    power
        Power p; must not be 0. The lower it is, the more weight low goodputs have.
    penalty
        Cost of each job that gets no configuration, whether p is positive or negative.
    decimals
        Number of decimals to which G**p is rounded.
    cap
        Upper limit of G**p; larger values are reduced to it after rounding.

    Examples
    --------
    >>> problem = Configuration(
    ...     gpus={"t4": 4},
    ...     configurations=shapes("t4", nodes=1, gpus_per_node=4),
    ...     jobs=[
    ...         AdaptiveJob(name="a", goodputs=[1.0, 1.8, 3.0], current=1, restart_factor=0.9),
    ...         AdaptiveJob(name="b", goodputs=[1.0, 1.5, None]),
    ...     ],
    ... )
    >>> solution = ConfigurationSolution(configurations={"a": 1, "b": 1})
    >>> problem.violations(solution), problem.objective(solution)
    ([], Fraction(157, 100))
    """

    word: ClassVar[str] = "configuration"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = ConfigurationSolution

    problem: Literal["configuration"] = "configuration"
    gpus: Mapping[Name, Gpus]
    configurations: Many[Shape]
    jobs: Named[AdaptiveJob]
    power: Annotated[float, Field(ge=-10, le=10)] = -0.5
    penalty: Annotated[float, Field(ge=0, le=1e6)] = 1.1
    decimals: Annotated[int, Field(ge=0, le=6)] = 2
    cap: Annotated[float, Field(ge=0, le=1e6)] = 3000.0

    @model_validator(mode="after")
    def _rules_hold(self) -> "Configuration":
        if self.power == 0:
            raise RuleBroken("power", self.power, "must not be 0, as all goodputs would count the same")
        for index, shape in enumerate(self.configurations):
            if shape.type not in self.gpus:
                raise RuleBroken(f"configurations[{index}].type", shape.type, "must be a type of GPU of gpus")
        for index, job in enumerate(self.jobs):
            if len(job.goodputs) != len(self.configurations):
                rule = f"must be one for each of the {len(self.configurations)} configurations"
                raise RuleBroken(f"jobs[{index}].goodputs", shorten(list(job.goodputs)), rule)
        pinned = self._used(job.current if job.pinned else None for job in self.jobs)
        for kind, gpus in self.gpus.items():
            if pinned[kind] > gpus:
                rule = f"must be at least the {pinned[kind]} GPUs that pinned jobs have"
                raise RuleBroken(f"gpus.{kind}", gpus, rule)
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on the power."""
        return f"goodputs to the power {self.power:g}"

    @cached_property
    def step(self) -> Fraction | None:
        """Greatest common divisor of all costs and of the penalty; None if all are 0."""
        return common_step([decimal(self.penalty), *(cost for row in self.costs for cost in row.values())])

    # What jobs cost

    @cached_property
    def costs(self) -> tuple[Mapping[int, Exact], ...]:
        """For each job, the costs of the configurations in which it may run, keyed by configuration index."""
        return tuple(
            {
                place: self._cost(job, place, goodput)
                for place, goodput in enumerate(job.goodputs)
                if goodput is not None and (not job.pinned or place == job.current)
            }
            for job in self.jobs
        )

    def _cost(self, job: AdaptiveJob, place: int, goodput: float) -> Exact:
        factor = 1.0 if job.current in (None, place) else job.restart_factor
        rounded = round(_raised(goodput * factor, self.power), self.decimals)
        counted = decimal(min(rounded, self.cap))
        return counted if self.power < 0 else -counted

    # The judge

    def places(self, solution: ConfigurationSolution) -> list[int | None]:
        """Return the index of each job's configuration, in job order; None for jobs that have none."""
        return [solution.configurations.get(job.name) for job in self.jobs]

    def objective(self, solution: ConfigurationSolution) -> Exact:
        """Return the total cost of the jobs."""
        return exact_total(
            decimal(self.penalty) if place is None else costs[place]
            for costs, place in zip(self.costs, self.places(solution), strict=True)
        )

    def violations(self, solution: ConfigurationSolution) -> list[str]:
        """Return a message for each broken rule about usable configurations, pinned jobs, or GPU counts.

        If jobs or configurations are unknown, the other rules are not checked.
        """
        names, chosen = {job.name for job in self.jobs}, solution.configurations
        found = [
            f"configurations: {name!r} is not a job of the instance" for name in chosen if name not in names
        ]
        found += [
            f"configurations: {name!r} has configuration {place}, there are {len(self.configurations)}"
            for name, place in chosen.items()
            if place >= len(self.configurations)
        ]
        if found:
            return found
        places = self.places(solution)
        return [*self._impossible(places), *self._crowded(places)]

    def _impossible(self, places: Sequence[int | None]) -> Iterator[str]:
        for job, place in zip(self.jobs, places, strict=True):
            if job.pinned and place != job.current:
                yield f"configurations: {job.name!r} has {place}, is pinned to {job.current}"
            elif place is not None and job.goodputs[place] is None:
                yield f"configurations: {job.name!r} has {place}, in which it does not run"

    def _crowded(self, places: Sequence[int | None]) -> Iterator[str]:
        used = self._used(places)
        for kind, gpus in self.gpus.items():
            if used[kind] > gpus:
                yield f"configurations: {used[kind]} GPUs of type {kind!r} are used, there are {gpus}"

    def _used(self, places: "Iterator[int | None] | Sequence[int | None]") -> Counter[str]:
        """Count the GPUs of each type that the given configurations use."""
        used: Counter[str] = Counter()
        for place in places:
            if place is not None:
                used[self.configurations[place].type] += self.configurations[place].gpus
        return used

    # Around it

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs, GPUs, GPU types and configurations."""
        return {
            "jobs": len(self.jobs),
            "gpus": sum(self.gpus.values()),
            "types": len(self.gpus),
            "configurations": len(self.configurations),
        }

    def measures(self, solution: ConfigurationSolution) -> dict[str, Number]:
        """Return the numbers of waiting jobs, jobs that get a new configuration, and idle GPUs."""
        places = self.places(solution)
        return {
            "waiting_jobs": places.count(None),
            "restarts": sum(
                place not in (None, job.current) for job, place in zip(self.jobs, places, strict=True)
            ),
            "idle_gpus": sum(self.gpus.values()) - sum(self._used(places).values()),
        }

    def candidates(self) -> Iterator[ConfigurationSolution]:
        """Yield every assignment of usable configurations to jobs, even if there are too few GPUs.

        Jobs that are not pinned may also have none.
        """
        menus = (
            [*costs] if job.pinned else [None, *costs] for job, costs in zip(self.jobs, self.costs, strict=True)
        )
        for chosen in product(*menus):
            places = zip(self.jobs, chosen, strict=True)
            yield ConfigurationSolution(
                configurations={job.name: place for job, place in places if place is not None}
            )


def _raised(value: float, power: float) -> float:
    """Raise a non-negative number to a power; return infinity if the result is too large for a double."""
    try:
        return float(value**power)
    except (OverflowError, ZeroDivisionError):
        return inf
