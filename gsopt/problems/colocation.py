"""Colocation: which waiting jobs share GPUs with which running jobs, and in which modes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gsopt.core.numbers.grid import Exact, decimal, exact_total
from gsopt.core.problem import PRINTABLE, Frozen, Gpus, Name, Number, Problem, Sense
from gsopt.performance.colocation import Pair, SubBatch
from gsopt.problems.names import Named
from gsopt.scenario.job import DEFAULT_MODE, Bytes, Seconds, Slowdown

Model = Annotated[str, Field(max_length=200, pattern=PRINTABLE)]


class Running(Frozen):
    """A running job that does not yet share its GPUs.

    Attributes
    ----------
    seconds
        Remaining running time at full speed, in seconds.
    model
        Name of the model that the job trains, which is used to look up slowdowns.
    memory
        Bytes of memory that the job uses on each GPU.

    Examples
    --------
    >>> Running(name="a", gpus=4, seconds=3600, model="bert").memory
    0
    """

    name: Name
    gpus: Gpus
    seconds: Seconds
    model: Model = ""
    memory: Bytes = 0


class Mode(Frozen):
    """A mode: one way to run a job in sub-batches, with gradient accumulation.

    Attributes
    ----------
    slowdown
        Iteration time divided by that with the whole batch, both measured without sharing GPUs; at least 1
        (Castor, Equation 3).
    memory
        Bytes of memory that the job uses on each GPU.

    Examples
    --------
    >>> Mode(name="half", slowdown=1.1, memory=6 * 2**30).slowdown
    1.1
    """

    name: Name
    slowdown: Slowdown
    memory: Bytes


class Pending(Frozen):
    """A waiting job.

    Attributes
    ----------
    seconds
        Running time in seconds if the job runs alone with its whole batch.
    model, memory
        As in `Running`. Here, `memory` is what the job uses with its whole batch.
    modes
        Ways to run the job in sub-batches. The whole batch is an implicit mode with an empty name.

    Examples
    --------
    >>> halves = Mode(name="half", slowdown=1.1, memory=6 * 2**30)
    >>> Pending(name="b", gpus=2, seconds=600, memory=10 * 2**30, modes=[halves]).modes[0].name
    'half'
    """

    name: Name
    gpus: Gpus
    seconds: Seconds
    model: Model = ""
    memory: Bytes = 0
    modes: Named[Mode] = ()


class Share(Frozen):
    """The running job whose GPUs a waiting job shares, and the mode in which the waiting job runs."""

    running: str
    mode: str = DEFAULT_MODE


class ColocationSolution(Frozen):
    """The started jobs, keyed by name, each with the running job that it joins and with its own mode.

    Jobs that are left out keep waiting.
    """

    shares: Mapping[str, Share]


class Colocation(Problem[ColocationSolution]):
    """The problem of pairing waiting jobs with running jobs on shared GPUs to save the most completion time.

    A waiting job may join one running job that has at least as many GPUs as the waiting job needs. Each job has
    at most one partner, and the memory of each shared GPU must hold both jobs. The waiting job may run in
    sub-batches from start to end (`Mode`), which takes longer but may need less memory. Until the first of the
    two jobs completes, each slows the other down.

    The time saved by a pair is its total completion time without sharing, minus that with sharing. It may be
    negative. Without sharing, the waiting job is assumed to start when the running job completes, with its
    whole batch.

    Floats are read as decimals: 0.1 is exactly 1/10.

    Source: Castor, sections 3 and 5.1. The paper lets a job share the GPUs of several running jobs; here, of
    only one. The paper decides about one job at a time (Algorithms 1 and 2); here, about all waiting jobs at
    once. `gsopt.problems.sharing.Sharing` is the corresponding problem over time.

    Attributes
    ----------
    running, pending
        The running and the waiting jobs. Names are unique within each list.
    interference
        ``interference[a][b]`` is the slowdown of model a when it shares a GPU with model b.
    default_interference
        Slowdown for pairs of models that are not listed.
    memory
        Bytes of memory of each GPU; None to ignore memory.

    Examples
    --------
    >>> problem = Colocation(
    ...     running=[Running(name="a", gpus=4, seconds=400, model="x")],
    ...     pending=[Pending(name="b", gpus=2, seconds=100, model="y")],
    ...     interference={"x": {"y": 2.0}, "y": {"x": 2.0}},
    ... )
    >>> together = ColocationSolution(shares={"b": Share(running="a")})
    >>> problem.objective(together), problem.violations(together)
    (200, [])
    """

    word: ClassVar[str] = "colocation"
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    solution_type: ClassVar[type[Frozen]] = ColocationSolution

    problem: Literal["colocation"] = "colocation"
    running: Named[Running]
    pending: Named[Pending]
    interference: Mapping[Name, Mapping[Name, Slowdown]] = Field(default_factory=dict)
    default_interference: Slowdown = 1.0
    memory: Bytes | None = None

    @property
    def unit(self) -> str:
        """Unit of the objective: seconds of completion time saved, summed over all pairs."""
        return "seconds of completion time saved"

    def slowdown(self, model: str, beside: str) -> Exact:
        """Return the factor by which a model's running time grows when it shares a GPU with another model."""
        return decimal(self.interference.get(model, {}).get(beside, self.default_interference))

    def objective(self, solution: ColocationSolution) -> Exact:
        """Return the total completion time that the pairs save, in seconds."""
        running = {job.name: job for job in self.running}
        pending = {job.name: job for job in self.pending}
        return exact_total(
            self._saved(running[share.running], pending[name], share.mode)
            for name, share in solution.shares.items()
        )

    def _saved(self, running: Running, pending: Pending, mode: str) -> Fraction:
        """Return the completion time that one pair saves, in seconds."""
        divided = {each.name: each.slowdown for each in pending.modes}
        left, whole = decimal(running.seconds), decimal(pending.seconds)
        new = whole * decimal(divided.get(mode, 1))
        slowdowns = self.slowdown(running.model, pending.model), self.slowdown(pending.model, running.model)
        works = tuple(zip((left, new), slowdowns, strict=True))
        both = min(work * slowdown for work, slowdown in works)
        ends = (both + work - Fraction(both) / slowdown for work, slowdown in works)
        return 2 * left + whole - sum(ends, Fraction(0))

    def violations(self, solution: ColocationSolution) -> list[str]:
        """Return a message for each broken rule, such as a second partner or too little memory."""
        running = {job.name: job for job in self.running}
        pending = {job.name: job for job in self.pending}
        found: list[str] = []
        for name, share in solution.shares.items():
            if name not in pending:
                found.append(f"shares: {name!r} is not a pending job of the instance")
            elif share.running not in running:
                found.append(f"shares: {name!r} is with {share.running!r}, which is not a running job")
            else:
                found += self._misfits(pending[name], running[share.running], share.mode)
        partners = Counter(share.running for share in solution.shares.values())
        found += [f"shares: {name!r} has {count} partners" for name, count in partners.items() if count > 1]
        return found

    def _misfits(self, job: Pending, beside: Running, mode: str) -> Iterator[str]:
        """Yield the reasons why a waiting job does not fit on a running job's GPUs."""
        memories = {DEFAULT_MODE: job.memory, **{each.name: each.memory for each in job.modes}}
        if mode not in memories:
            yield f"shares: {job.name!r} has no mode {mode!r}"
            return
        if job.gpus > beside.gpus:
            yield f"shares: {job.name!r} needs {job.gpus} GPUs, {beside.name!r} has {beside.gpus}"
        used = memories[mode] + beside.memory
        if self.memory is not None and used > self.memory:
            yield f"shares: {job.name!r} and {beside.name!r} use {used} bytes, a GPU has {self.memory}"

    def offered(self, running: Running, pending: Pending) -> Sequence[SubBatch]:
        """Return the modes in which a waiting job fits on a running job's GPUs.

        Examples
        --------
        >>> beside = Running(name="a", gpus=4, seconds=400, memory=5)
        >>> modes = [Mode(name="half", slowdown=1.1, memory=3)]
        >>> job = Pending(name="b", gpus=2, seconds=100, memory=4, modes=modes)
        >>> problem = Colocation(running=[beside], pending=[job], memory=8)
        >>> [(each.name, each.pair.seconds) for each in problem.offered(beside, job)]
        [('half', Fraction(110, 1))]
        """
        if pending.gpus > running.gpus:
            return []
        left = None if self.memory is None else self.memory - running.memory
        whole = decimal(pending.seconds)
        modes = [(DEFAULT_MODE, whole, pending.memory)]
        modes += [(mode.name, whole * decimal(mode.slowdown), mode.memory) for mode in pending.modes]
        return [
            SubBatch(
                name=name,
                pair=Pair(
                    remaining=decimal(running.seconds),
                    seconds=seconds,
                    slowdown_running=self.slowdown(running.model, pending.model),
                    slowdown_new=self.slowdown(pending.model, running.model),
                    seconds_whole=whole,
                ),
                memory=memory,
            )
            for name, seconds, memory in modes
            if left is None or memory <= left
        ]

    def headline(self) -> dict[str, int | float | str]:
        """Return the number of running jobs and the number of waiting jobs."""
        return {"running": len(self.running), "pending": len(self.pending)}

    def measures(self, solution: ColocationSolution) -> dict[str, Number]:
        """Return the numbers of pairs, of shared GPUs, and of waiting jobs that start in sub-batches."""
        gpus = {job.name: job.gpus for job in self.pending}
        return {
            "pairs": len(solution.shares),
            "shared_gpus": sum(gpus[name] for name in solution.shares),
            "divided_batches": sum(share.mode != DEFAULT_MODE for share in solution.shares.values()),
        }

    def candidates(self) -> Iterator[ColocationSolution]:
        """Yield every solution in which no two jobs join the same running job, even infeasible ones."""
        yield from (ColocationSolution(shares=shares) for shares in self._shares(0, frozenset()))

    def _shares(self, index: int, taken: frozenset[str]) -> Iterator[dict[str, Share]]:
        """Yield every choice for the waiting jobs from `index` onwards, with partners that are not taken."""
        if index == len(self.pending):
            yield {}
            return
        yield from self._shares(index + 1, taken)
        job = self.pending[index]
        for beside in self.running:
            if beside.name not in taken:
                rest = list(self._shares(index + 1, taken | {beside.name}))
                for mode in (DEFAULT_MODE, *(each.name for each in job.modes)):
                    share = Share(running=beside.name, mode=mode)
                    yield from ({job.name: share, **others} for others in rest)
