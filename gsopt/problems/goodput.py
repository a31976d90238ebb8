"""Goodput: how many GPUs each adaptive job gets on every node, where every change requires a restart."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import shorten
from gsopt.core.numbers.grid import Exact, decimal, exact_total, whole
from gsopt.core.numbers.tolerances import SPEEDUP
from gsopt.core.problem import Frozen, Gpus, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named

#: Number of GPUs of a job on one node.
Count = Annotated[int, Field(ge=0, le=1_000_000)]

#: Goodput on given GPUs, divided by the goodput on the fair share.
Speedup = Annotated[float, Field(ge=0, le=1e12)]

#: A duration in seconds.
Seconds = Annotated[float, Field(ge=0, le=1e12)]


class GoodputJob(Frozen):
    """An adaptive job, which adjusts its training to its number of GPUs.

    Attributes
    ----------
    name
        Name of the job.
    speedups
        Goodputs divided by the goodput on the job's fair share, one row per number of nodes. The first row is
        for one node with 1, 2, ... GPUs, the second for two nodes with 2, 3, ... GPUs, and so on. The job
        cannot run on combinations that are not listed.
    current
        Current number of GPUs on each node; empty if the job has no GPUs.
    age
        Time since the job was submitted, in seconds.
    restarts
        Number of times that the job has restarted so far.
    max_gpus
        Maximum number of GPUs of the job; None if there is no limit.

    Examples
    --------
    >>> job = GoodputJob(name="a", speedups=[[1.0, 1.8], [1.5]], current=[1, 1], age=90, restarts=1)
    >>> job.speedup(1, 2), job.speedup(2, 2), job.speedup(2, 3)
    (1.8, 1.5, None)
    """

    name: Name
    speedups: Many[Many[Speedup]]
    current: Many[Count] = ()
    age: Seconds = 0.0
    restarts: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    max_gpus: Gpus | None = None

    def speedup(self, nodes: int, gpus: int) -> float | None:
        """Return the job's speed-up on the given numbers of nodes and GPUs.

        The speed-up is 0 without GPUs, and None if the job cannot run on this combination.
        """
        if not gpus:
            return 0.0
        row = self.speedups[nodes - 1] if 0 < nodes <= len(self.speedups) else ()
        fits = self.max_gpus is None or gpus <= self.max_gpus
        return row[gpus - nodes] if fits and 0 <= gpus - nodes < len(row) else None


class GoodputSolution(Frozen):
    """The number of GPUs of each job on every node, keyed by job name.

    Jobs that are left out have no GPUs.
    """

    gpus: Mapping[Name, Many[Count]]


class Goodput(Problem[GoodputSolution]):
    """The problem of dividing GPUs among adaptive jobs to maximize the power mean of their speed-ups.

    A job with speed-up S costs (f S / g + c)**p, where p is negative and g is the mean number of GPUs per node.
    The mean cost of all jobs is minimized, which maximizes the power mean (``fitness`` in `measures`). A job
    without GPUs costs c**p, by default 1,000. If a job keeps its number of GPUs on every node, f is 1.
    Otherwise, it restarts, and f = max(t - r d, 0) / (t + d). Here, t is its age in seconds, r its number of
    restarts so far, and d the duration of a restart.

    At most one job on each node may span several nodes. A job can run only on numbers of nodes and GPUs for
    which `speedups` has a value, and on at most `max_gpus` GPUs.

    Source: Pollux (OSDI 2021), section 4.2, Equations 9-11. The defaults, and the rule that every start and
    every change of GPUs is a restart, are those of the authors' simulator.

    Attributes
    ----------
    nodes
        Number of GPUs of each node.
    jobs
        All jobs, whether or not they currently have GPUs.
    power
        Power p of the mean. The lower it is, the more weight the slowest jobs have.
    restart_time
        Duration d of a restart, in seconds.
    floor
        Constant c.

    Examples
    --------
    >>> problem = Goodput(
    ...     nodes=[2, 2],
    ...     jobs=[
    ...         GoodputJob(name="a", speedups=[[0.5, 1.0], [0.9, 1.2]], current=[2, 0], age=300),
    ...         GoodputJob(name="b", speedups=[[0.6, 1.0], [0.8]], age=60),
    ...     ],
    ... )
    >>> solution = GoodputSolution(gpus={"a": [2, 0], "b": [0, 2]})
    >>> problem.violations(solution), round(float(problem.objective(solution)), 6)
    ([], 2.493517)
    >>> round(problem.measures(solution)["fitness"], 6)
    0.40104
    """

    word: ClassVar[str] = "goodput"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = GoodputSolution

    problem: Literal["goodput"] = "goodput"
    nodes: Annotated[Many[Gpus], Field(max_length=10_000)]
    jobs: Named[GoodputJob]
    power: Annotated[int, Field(ge=-10, le=-1)] = -1
    restart_time: Seconds = 30.0
    floor: Annotated[float, Field(ge=1e-9, le=1)] = 1e-3

    @model_validator(mode="after")
    def _rules_hold(self) -> "Goodput":
        for index, job in enumerate(self.jobs):
            if job.current and len(job.current) != len(self.nodes):
                rule = f"must name the GPUs on each of the {len(self.nodes)} nodes, or be empty"
                raise RuleBroken(f"jobs[{index}].current", list(job.current[:9]), rule)
        for index, (gpus, held) in enumerate(zip(self.nodes, self._held, strict=True)):
            if held > gpus:
                raise RuleBroken(
                    f"nodes[{index}]", gpus, f"must be at least the {held} GPUs that jobs have there"
                )
        return self

    @property
    def _held(self) -> list[int]:
        running = [job.current for job in self.jobs if job.current]
        return [sum(counts) for counts in zip(*running, strict=True)] if running else [0] * len(self.nodes)

    @property
    def unit(self) -> str:
        """Unit of the objective: the speed-up to the power p, averaged over all jobs."""
        return f"mean speed-up to the power {self.power}"

    def resolution(self, value: Number) -> Exact:
        """Return the difference up to which values are considered equal: a billionth of the given value."""
        return whole(abs(Fraction(value)) * Fraction(SPEEDUP))

    # What a job may have, and counts

    @cached_property
    def total(self) -> int:
        """Total number of GPUs in the cluster."""
        return sum(self.nodes)

    @cached_property
    def currents(self) -> tuple[tuple[int, ...], ...]:
        """Current number of GPUs of each job on each node: one tuple per job, in job order."""
        none = (0,) * len(self.nodes)
        return tuple(tuple(job.current) or none for job in self.jobs)

    @cached_property
    def factors(self) -> tuple[Exact, ...]:
        """Factors by which a restart multiplies the speed-ups of jobs: one per job, in job order."""
        return tuple(self._factor(job) for job in self.jobs)

    def _factor(self, job: GoodputJob) -> Exact:
        age, delay = Fraction(decimal(job.age)), decimal(self.restart_time)
        return whole(max(age - job.restarts * delay, Fraction(0)) / (age + delay)) if delay else 1

    def cost(self, place: int, nodes: int, gpus: int, *, restarts: bool = True) -> Exact:
        """Return the cost of the job with index `place` on the given numbers of nodes and GPUs.

        The job must be able to run on them. `restarts` tells whether it has to restart to do so.

        Examples
        --------
        >>> problem = Goodput(nodes=[2], jobs=[GoodputJob(name="a", speedups=[[1.0]], age=60)], floor=0.5)
        >>> problem.cost(0, 1, 1), problem.cost(0, 1, 1, restarts=False), problem.cost(0, 0, 0)
        (Fraction(6, 5), 1, 2)
        """
        factor = self.factors[place] if restarts else 1
        scaled = Fraction(0)
        if gpus:
            speedup = decimal(self.jobs[place].speedup(nodes, gpus) or 0.0)
            scaled = Fraction(factor * speedup) * len(self.nodes) / self.total
        return whole((scaled + decimal(self.floor)) ** self.power)

    # The judge

    def vectors(self, solution: GoodputSolution) -> list[tuple[int, ...]]:
        """Return the number of GPUs of each job on each node: one tuple per job, in job order."""
        none = (0,) * len(self.nodes)
        return [tuple(solution.gpus.get(job.name, none)) for job in self.jobs]

    def objective(self, solution: GoodputSolution) -> Exact:
        """Return the mean cost of all jobs."""
        counted = [
            self.cost(place, sum(map(bool, gpus)), sum(gpus), restarts=gpus != self.currents[place])
            for place, gpus in enumerate(self.vectors(solution))
        ]
        return whole(Fraction(_total(counted)) / len(counted)) if counted else 0

    def violations(self, solution: GoodputSolution) -> list[str]:
        """Return a message for each broken rule about jobs, GPU counts, overfull nodes, or multi-node jobs.

        If jobs are unknown, or lists have the wrong length, the other rules are not checked.
        """
        names = {job.name for job in self.jobs}
        found = [f"gpus: {name!r} is not a job of the instance" for name in solution.gpus if name not in names]
        rule = f"must name the GPUs on each of the {len(self.nodes)} nodes"
        found += [
            f"gpus: {name!r} has {shorten(list(gpus))}, {rule}"
            for name, gpus in solution.gpus.items()
            if len(gpus) != len(self.nodes)
        ]
        if found:
            return found
        vectors = self.vectors(solution)
        return [*self._impossible(vectors), *self._crowded(vectors)]

    def _impossible(self, vectors: Sequence[Sequence[int]]) -> Iterator[str]:
        for job, gpus in zip(self.jobs, vectors, strict=True):
            used, total = sum(map(bool, gpus)), sum(gpus)
            if job.max_gpus is not None and total > job.max_gpus:
                yield f"gpus: {job.name!r} has {total} GPUs, may have {job.max_gpus}"
            elif job.speedup(used, total) is None:
                yield f"gpus: {job.name!r} has {total} GPUs on {used} nodes, on which it does not run"

    def _crowded(self, vectors: Sequence[Sequence[int]]) -> Iterator[str]:
        wide = [gpus for gpus in vectors if sum(map(bool, gpus)) > 1]
        for node, gpus in enumerate(self.nodes):
            held = sum(counts[node] for counts in vectors)
            if held > gpus:
                yield f"gpus: {held} GPUs of node {node} are used, it has {gpus}"
            parts = sum(counts[node] > 0 for counts in wide)
            if parts > 1:
                yield f"gpus: node {node} holds parts of {parts} jobs on several nodes, may hold one"

    # Around it

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs, nodes and GPUs."""
        return {"jobs": len(self.jobs), "nodes": len(self.nodes), "gpus": self.total}

    def measures(self, solution: GoodputSolution) -> dict[str, Number]:
        """Return the fitness, and the numbers of waiting jobs, restarts (including starts), and idle GPUs."""
        vectors = self.vectors(solution)
        moved = Counter(
            "restarts" if any(gpus) else "stops"
            for gpus, before in zip(vectors, self.currents, strict=True)
            if gpus != before
        )
        return {
            "fitness": float(self.objective(solution)) ** (1 / self.power) if vectors else 0.0,
            "waiting_jobs": sum(not any(gpus) for gpus in vectors),
            "restarts": moved["restarts"],
            "idle_gpus": self.total - sum(map(sum, vectors)),
        }

    def candidates(self) -> Iterator[GoodputSolution]:
        """Yield every division of the nodes' GPUs in which each job has no GPUs, or GPUs on which it can run.

        In some of these, a node hosts several multi-node jobs, which is infeasible.
        """
        for vectors in self._continued([], list(self.nodes)):
            yield GoodputSolution(
                gpus={job.name: gpus for job, gpus in zip(self.jobs, vectors, strict=True) if any(gpus)}
            )

    def _continued(self, chosen: list[tuple[int, ...]], free: list[int]) -> Iterator[list[tuple[int, ...]]]:
        if len(chosen) == len(self.jobs):
            yield chosen
            return
        job = self.jobs[len(chosen)]
        for gpus in product(*(range(left + 1) for left in free)):
            if job.speedup(sum(map(bool, gpus)), sum(gpus)) is not None:
                left = [before - count for before, count in zip(free, gpus, strict=True)]
                yield from self._continued([*chosen, gpus], left)


def _total(values: Sequence[Exact]) -> Exact:
    """Add fractions in pairs, as in a binary tree, because their denominators have few common factors."""
    if len(values) <= 1:
        return exact_total(values)
    half = len(values) // 2
    return _total(values[:half]) + _total(values[half:])
