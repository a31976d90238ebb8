"""Consolidation: which waiting jobs start now, and on which GPUs, for as much useful work as possible."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.numbers.grid import Exact, decimal, exact_total, step, whole
from gsopt.core.problem import PRINTABLE, Frozen, Gpus, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.speed import TIER_PENALTIES, TierPenalty

#: Total extra value of all entirely free machines, relative to the least valuable placement of a job. It is
#: large enough to break ties and too small to outweigh any noticeable value.
_TIE = Fraction(1, 1_000_000)


class Job(Frozen):
    """A waiting job, which needs all its GPUs at once.

    Attributes
    ----------
    weight
        Value w of each GPU that the job uses, if the job does not communicate.
    model
        Name of the model that the job trains, which is used to look up penalties. Jobs whose model has no
        penalties are assumed not to communicate.

    Examples
    --------
    >>> Job(name="a", gpus=8, model="vgg11").weight
    1.0
    """

    name: Name
    gpus: Gpus
    weight: Annotated[float, Field(ge=0, le=1e12)] = 1.0
    model: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] = ""


class ConsolidationSolution(Frozen):
    """The GPU indices of each job that starts, keyed by job name.

    Jobs that are left out keep waiting.
    """

    placed: Mapping[str, Many[Annotated[int, Field(ge=0)]]]


class Consolidation(Problem[ConsolidationSolution]):
    """The problem of placing waiting jobs on free GPUs so that the GPUs do as much useful work as possible.

    A job with weight w on d GPUs has the value w d / (1 + s). The penalty s is that of the job's model for the
    narrowest network tier that connects the GPUs. For a single GPU, s is 0. A job that is not placed has no
    value.

    Floats are read as decimals: 0.1 is exactly 1/10.

    Source: Dally, section III-B and Table I, for the penalties. The paper decides about one job at a time
    (Algorithm 1); here, about all waiting jobs at once. The paper simulated Table I for 8 GPUs; here, it is
    assumed to hold for any number.

    Attributes
    ----------
    cluster
        The cluster, which must have racks or a network.
    busy
        Indices of the GPUs in use.
    jobs
        The waiting jobs.
    penalties
        Exposed communication time per unit of computation time, by model and tier; by default, Dally's Table I.
        A wider tier must not have a lower penalty. Models that are not listed have no penalty.
    maximize
        Objective. ``value``: the total value. ``lexicographic``: the number of placed jobs, then the total
        value. ``fragmentation``: the total value, then the number of machines that are entirely free; total
        values that differ by less than a millionth of the lowest positive value of a job may count as equal.

    Examples
    --------
    >>> problem = Consolidation(
    ...     cluster=Cluster.uniform(racks=2, machines=2, gpus=4),
    ...     busy=[0, 4],
    ...     jobs=[Job(name="a", gpus=4, model="alexnet"), Job(name="b", gpus=6, model="vgg11")],
    ... )
    >>> chosen = ConsolidationSolution(placed={"a": [8, 9, 10, 11], "b": [1, 2, 3, 5, 6, 7]})
    >>> problem.objective(chosen) == 4 / Fraction("1.02") + 6 / Fraction("1.06"), problem.violations(chosen)
    (True, [])
    """

    word: ClassVar[str] = "consolidation"
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    solution_type: ClassVar[type[Frozen]] = ConsolidationSolution

    problem: Literal["consolidation"] = "consolidation"
    cluster: Cluster
    busy: Many[Annotated[int, Field(ge=0)]] = ()
    jobs: Named[Job]
    penalties: Mapping[Name, TierPenalty] = Field(default_factory=lambda: dict(TIER_PENALTIES))
    maximize: Literal["value", "lexicographic", "fragmentation"] = "value"

    @model_validator(mode="after")
    def _rules_hold(self) -> "Consolidation":
        if self.cluster.is_plain:
            rule = "must be 0: the cluster must have racks or a network"
            raise RuleBroken("cluster.plain_gpus", self.cluster.plain_gpus, rule)
        seen: set[int] = set()
        for index, gpu in enumerate(self.busy):
            if gpu >= self.cluster.gpus:
                raise RuleBroken(f"busy[{index}]", gpu, f"must be less than the {self.cluster.gpus} GPUs")
            if gpu in seen:
                raise RuleBroken(f"busy[{index}]", gpu, "must be listed once")
            seen.add(gpu)
        return self

    @model_validator(mode="after")
    def _penalties_do_not_fall(self) -> "Consolidation":
        """Check that no tier has a lower penalty than a narrower one, which every formulation assumes."""
        for model, penalty in self.penalties.items():
            for inner, outer in pairwise(self.tiers):
                less, more = penalty.of(inner, self.tiers), penalty.of(outer, self.tiers)
                if more < less:
                    rule = f"must be at least the {less} of the {inner} tier"
                    raise RuleBroken(f"penalties.{model}.{outer}", more, rule)
        return self

    @property
    def tiers(self) -> Sequence[str]:
        """Names of the network tiers of the cluster, innermost first."""
        return self.cluster.levels

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on `maximize`."""
        return {
            "value": "effective GPUs",
            "lexicographic": "jobs, then effective GPUs",
            "fragmentation": "effective GPUs, then whole machines",
        }[self.maximize]

    def worth(self, job: Job, tier: str) -> Exact:
        """Return the value of a job whose GPUs are connected by the given tier.

        Examples
        --------
        >>> job = Job(name="a", gpus=8, model="alexnet")
        >>> problem = Consolidation(cluster=Cluster.uniform(machines=1, gpus=8), jobs=[job])
        >>> problem.worth(job, "network")
        4
        """
        size = Fraction(job.gpus) * decimal(job.weight)
        if job.gpus == 1 or job.model not in self.penalties:
            return whole(size)
        return whole(size / (1 + Fraction(decimal(self.penalties[job.model].of(tier, self.tiers)))))

    @cached_property
    def job_bonus(self) -> int:
        """Extra value of each placed job.

        With ``lexicographic``, it exceeds the total value of all jobs. Otherwise, it is 0.
        """
        if self.maximize != "lexicographic":
            return 0
        return int(exact_total(self.worth(job, self.tiers[0]) for job in self.jobs)) + 1

    @cached_property
    def machine_bonus(self) -> Exact:
        """Extra value of each machine that stays entirely free.

        With ``fragmentation``, all machines together are worth a millionth of the lowest positive value of a
        job. Otherwise, the extra value is 0.
        """
        if self.maximize != "fragmentation":
            return 0
        worths = (self.worth(job, tier) for job in self.jobs for tier in self.tiers)
        least = min((worth for worth in worths if worth), default=1)
        return whole(_TIE * least / len(self.cluster.machines))

    @cached_property
    def step(self) -> Fraction | None:
        """Greatest common divisor of jobs' values on all tiers and of the extra values; None if all are 0."""
        worths = (self.worth(job, tier) for job in self.jobs for tier in self.tiers)
        return step([*worths, self.job_bonus, self.machine_bonus])

    @property
    def free_gpus(self) -> int:
        """Number of GPUs that are not in use."""
        return self.cluster.gpus - len(self.busy)

    def objective(self, solution: ConsolidationSolution) -> Exact:
        """Return the total value of the placed jobs, plus the extra values of jobs and machines."""
        jobs = {job.name: job for job in self.jobs}
        worths = (
            self.worth(jobs[name], self.cluster.tier(gpus)) for name, gpus in solution.placed.items() if gpus
        )
        bonus: Exact = self.job_bonus * len(solution.placed)
        if self.machine_bonus:
            bonus += self.machine_bonus * self.whole_machines(solution)
        return exact_total([*worths, bonus])

    def whole_machines(self, solution: ConsolidationSolution) -> int:
        """Count the machines that are entirely free once the solution's jobs have started."""
        machine_of = self.cluster.machine_of
        taken = {machine_of[gpu] for gpu in self.busy}
        taken.update(machine_of[gpu] for gpus in solution.placed.values() for gpu in gpus)
        return len(self.cluster.machines) - len(taken)

    def violations(self, solution: ConsolidationSolution) -> list[str]:
        """Return a message for each broken rule about job names, demands, or GPUs that are not free."""
        wanted = {job.name: job.gpus for job in self.jobs}
        busy, holder = frozenset(self.busy), dict[int, str]()
        found: list[str] = []
        for name, gpus in solution.placed.items():
            if name not in wanted:
                found.append(f"placed: {name!r} is not a job of the instance")
                continue
            if len(gpus) != wanted[name]:
                found.append(f"placed: {name!r} has {len(gpus)} GPUs, needs {wanted[name]}")
            for gpu in gpus:
                if gpu >= self.cluster.gpus:
                    found.append(f"placed: {name!r} has GPU {gpu}, there are {self.cluster.gpus}")
                elif gpu in busy:
                    found.append(f"placed: {name!r} has GPU {gpu}, which is busy")
                elif gpu in holder:
                    found.append(f"placed: {name!r} has GPU {gpu}, which {holder[gpu]!r} has")
                holder.setdefault(gpu, name)
        return found

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs, GPUs and free GPUs."""
        return {"jobs": len(self.jobs), "GPUs": self.cluster.gpus, "free": self.free_gpus}

    def measures(self, solution: ConsolidationSolution) -> dict[str, Number]:
        """Return the numbers of placed jobs, idle GPUs, and machines that are entirely free."""
        held = sum(len(gpus) for gpus in solution.placed.values())
        return {
            "placed_jobs": len(solution.placed),
            "idle_gpus": self.free_gpus - held,
            "whole_machines": self.whole_machines(solution),
        }

    def candidates(self) -> Iterator[ConsolidationSolution]:
        """Yield every choice of jobs that fit, with every split of their GPUs over groups.

        The groups are those of the narrowest tier.
        """
        busy = frozenset(self.busy)
        groups = self.cluster.groups[self.tiers[0]]
        free = [[gpu for gpu in group.gpus if gpu not in busy] for group in groups]
        for counts in _choices([job.gpus for job in self.jobs], [len(gpus) for gpus in free]):
            begins = Counter[int]()
            placed: dict[str, list[int]] = {}
            for job, spread in zip(self.jobs, counts, strict=True):
                for group, count in enumerate(spread):
                    if count:
                        begin = begins[group]
                        placed.setdefault(job.name, []).extend(free[group][begin : begin + count])
                        begins[group] += count
            yield ConsolidationSolution(placed=placed)


def _choices(demands: Sequence[int], rooms: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every way to place any of the jobs on groups with the given numbers of free GPUs."""
    if not demands:
        yield ()
        return
    for spread in ((), *_spreads(demands[0], rooms)):
        left = [room - taken for room, taken in zip(rooms, spread, strict=True)] if spread else rooms
        yield from ((spread, *rest) for rest in _choices(demands[1:], left))


def _spreads(demand: int, rooms: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every way to spread `demand` GPUs over groups with the given numbers of free GPUs."""
    if not rooms:
        if demand == 0:
            yield ()
        return
    for here in range(min(demand, rooms[0]) + 1):
        yield from ((here, *rest) for rest in _spreads(demand - here, rooms[1:]))
