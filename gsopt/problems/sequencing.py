"""Sequencing: which GPU runs each single-GPU job, and in which order."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, permutations, product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import shorten
from gsopt.core.numbers.grid import Exact, Number, decimal, exact_total, step
from gsopt.core.problem import Frozen, Many, Name, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.scenario.job import Seconds


class Machine(Frozen):
    """A machine: a single GPU, which runs one job at a time.

    Attributes
    ----------
    gpu_type
        Type of the GPU, which determines the durations of jobs.
    available
        Seconds until the GPU is free.

    Examples
    --------
    >>> Machine(name="m0", gpu_type="v100").available
    0.0
    """

    name: Name
    gpu_type: Name
    available: Seconds = 0.0


class UnitJob(Frozen):
    """A job that needs exactly one GPU.

    Attributes
    ----------
    seconds
        Duration in seconds, keyed by GPU type. The job cannot run on types that are left out.

    Examples
    --------
    >>> UnitJob(name="a", seconds={"v100": 60.0, "k80": 240.0}).seconds["k80"]
    240.0
    """

    name: Name
    seconds: Mapping[Name, Seconds]


class Sequences(Frozen):
    """The names of the jobs on each machine, in running order, keyed by machine name.

    Machines that are left out run no jobs.
    """

    order: Mapping[str, Many[str]]


class Sequencing(Problem[Sequences]):
    """The problem of running single-GPU jobs on GPUs of several types at minimum total completion time.

    Each job runs once, on a machine of a type for which its duration is given. Once a machine is free, it runs
    its jobs one after another, without gaps or interruptions. The objective is the total completion time,
    counted from now. Counting from the arrival of each job would only change the objective by a constant.

    Floats are read as decimals (0.1 is exactly 1/10), and seconds are added without rounding.

    Source: AlloX (EuroSys 2020), section 4.2; W. Horn, Minimizing average flow time with parallel machines
    (1973).

    Attributes
    ----------
    machines
        The machines.
    jobs
        The jobs, all of which are ready to run now.

    Examples
    --------
    >>> problem = Sequencing(
    ...     machines=[Machine(name="m0", gpu_type="v100"), Machine(name="m1", gpu_type="k80", available=5.0)],
    ...     jobs=[
    ...         UnitJob(name="a", seconds={"v100": 10.0, "k80": 20.0}),
    ...         UnitJob(name="b", seconds={"v100": 30.0, "k80": 40.0}),
    ...     ],
    ... )
    >>> one_by_one, beside = Sequences(order={"m0": ["a", "b"]}), Sequences(order={"m0": ["a"], "m1": ["b"]})
    >>> problem.objective(one_by_one), problem.objective(beside)
    (50, 55)
    """

    word: ClassVar[str] = "sequencing"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = Sequences

    problem: Literal["sequencing"] = "sequencing"
    machines: Annotated[Named[Machine], Field(min_length=1)]
    jobs: Named[UnitJob]

    @model_validator(mode="after")
    def _every_job_runs_somewhere(self) -> "Sequencing":
        types = {machine.gpu_type for machine in self.machines}
        for index, job in enumerate(self.jobs):
            if not types & job.seconds.keys():
                rule = "must name a type of which there is a machine"
                raise RuleBroken(f"jobs[{index}].seconds", shorten(dict(job.seconds)), rule)
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective: seconds of completion time, summed over all jobs."""
        return "seconds of completion time"

    @property
    def step(self) -> Fraction | None:
        """Greatest common divisor of the durations and the times until machines are free; None if all are 0."""
        taken = (seconds for job in self.jobs for seconds in job.seconds.values())
        return step(decimal(each) for each in (*taken, *(machine.available for machine in self.machines)))

    # The judge

    @cached_property
    def _machines(self) -> Mapping[str, Machine]:
        return {machine.name: machine for machine in self.machines}

    @cached_property
    def _jobs(self) -> Mapping[str, UnitJob]:
        return {job.name: job for job in self.jobs}

    def completions(self, solution: Sequences) -> dict[str, Exact]:
        """Return the completion time of each job, in seconds from now, keyed by job name."""
        found: dict[str, Exact] = {}
        for name, jobs in solution.order.items():
            machine = self._machines[name]
            taken = (decimal(self._jobs[job].seconds[machine.gpu_type]) for job in jobs)
            _, *ends = accumulate(taken, initial=decimal(machine.available))
            found.update(zip(jobs, ends, strict=True))
        return found

    def objective(self, solution: Sequences) -> Exact:
        """Return the total completion time, in seconds."""
        return exact_total(self.completions(solution).values())

    def violations(self, solution: Sequences) -> list[str]:
        """Return a message for each unknown name and for each job that does not run exactly once.

        If there are none, return a message for each job on a machine of a type on which it cannot run.
        """
        found = [
            f"order: {name!r} is not a machine of the instance"
            for name in solution.order
            if name not in self._machines
        ]
        runs = Counter(job for jobs in solution.order.values() for job in jobs)
        found += [f"order: {job!r} is not a job of the instance" for job in runs if job not in self._jobs]
        found += [
            f"order: {job!r} runs {runs[job]} times, must run once" for job in self._jobs if runs[job] != 1
        ]
        return found or list(self._misplaced(solution))

    def _misplaced(self, solution: Sequences) -> Iterator[str]:
        for name, jobs in solution.order.items():
            kind = self._machines[name].gpu_type
            for job in jobs:
                if kind not in self._jobs[job].seconds:
                    yield f"order: {job!r} does not run on {kind!r}, the type of {name!r}"

    # Around it

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs, machines and GPU types."""
        types = {machine.gpu_type for machine in self.machines}
        return {"jobs": len(self.jobs), "machines": len(self.machines), "types": len(types)}

    def measures(self, solution: Sequences) -> dict[str, Number]:
        """Return the mean completion time, the makespan, and the number of machines that run no jobs."""
        ends = list(self.completions(solution).values())
        used = sum(bool(jobs) for jobs in solution.order.values())
        return {
            "mean_completion": float(exact_total(ends)) / max(len(ends), 1),
            "makespan": max(ends, default=0),
            "idle_machines": len(self.machines) - used,
        }

    def candidates(self) -> Iterator[Sequences]:
        """Yield every assignment of jobs to machines, with every order on each machine."""
        cuts = list(combinations(range(len(self.jobs) + len(self.machines) - 1), len(self.machines) - 1))
        for jobs, cut in product(permutations(self._jobs), cuts):
            starts = [0, *(place - index for index, place in enumerate(cut))]
            ends = [*starts[1:], len(jobs)]
            yield Sequences(
                order={
                    machine.name: jobs[start:end]
                    for machine, start, end in zip(self.machines, starts, ends, strict=True)
                    if start < end
                }
            )
