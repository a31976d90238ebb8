"""Blocks: jobs that are complete before others are released, each block a problem with a clock of its own.

Whatever a part of the jobs costs alone, it costs at least among others. So the optima of any parts add up to a
bound of the whole, and schedules of parts that follow one another make a schedule of the whole. A job far away
then blurs nothing, however far it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from gsopt.budget import Budget
from gsopt.grid import decimal
from gsopt.problems.scheduling import Run, Scheduling, SchedulingSolution
from gsopt.result import Result, StoppedBy
from gsopt.schedule.retiming import Stretch

Found = Result[SchedulingSolution]


def by_blocks(
    problem: Scheduling, budget: Budget, solve: Callable[[Scheduling, Budget], Found], *, method: str
) -> Found:
    """Solve block by block, and put the schedules one after the other.

    Parameters
    ----------
    problem
        The problem.
    budget
        What all blocks may use together.
    solve
        Solves a problem that is one block.
    method
        Name of the method.
    """
    blocks = list(blocks_of(problem))
    if len(blocks) == 1:
        return solve(problem, budget)
    return _Series(problem, budget, solve, method, blocks).solved()


def blocks_of(problem: Scheduling) -> Iterator[tuple[str, ...]]:
    """Give the names of the jobs of each block, by release date.

    A block ends where all its jobs would be complete one after the other, each at its fastest, before the next
    release date, and under the fair share too, so that its deadlines are its own.

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> dates = [("a", 0), ("b", 1), ("c", 9)]
    >>> jobs = [ElasticJob(name=name, release=date, work=4, rates={1: 1.0}) for name, date in dates]
    >>> list(blocks_of(Scheduling(gpus=1, jobs=jobs)))
    [('a', 'b'), ('c',)]
    """
    tasks = problem.tasks
    fair = problem.fair_times if problem.fairness is not None else [Fraction(0)] * len(tasks)
    block: list[str] = []
    busy = Fraction(0)
    for task, end in zip(tasks, fair, strict=True):
        if block and busy <= task.release:
            yield tuple(block)
            block = []
        busy = max(max(busy, Fraction(task.release)) + task.height, end)
        block.append(task.name)
    yield tuple(block)


class _Series:
    """Blocks that are solved, the small ones first, and what is known of each."""

    def __init__(
        self,
        problem: Scheduling,
        budget: Budget,
        solve: Callable[[Scheduling, Budget], Found],
        method: str,
        blocks: Sequence[tuple[str, ...]],
    ) -> None:
        self.problem, self.budget, self.solve, self.method = problem, budget, solve, method
        self.blocks = list(blocks)
        self.known: dict[tuple[str, ...], Found] = {}
        self.stopped_by = StoppedBy.FINISHED

    def solved(self) -> Found:
        """Solve all blocks."""
        while (block := self._next()) is not None:
            part = self._part(block)
            left, waiting = self.budget.left(), [each for each in self.blocks if each not in self.known]
            share = None if left is None else left * len(block) / sum(map(len, waiting))
            is_last = self.stopped_by is StoppedBy.INTERRUPT
            found = self.solve(part, self._budget(block, 0.0 if is_last else share))
            self.known[block] = found
            if self.stopped_by is StoppedBy.FINISHED or found.stopped_by is StoppedBy.INTERRUPT:
                self.stopped_by = found.stopped_by
            self._merge()
            if len(self.known) == len(self.blocks) and self.budget.on_incumbent is not None:
                result = self._result()
                if result.solution is not None and self.budget.on_incumbent(result):
                    self.stopped_by = StoppedBy.INTERRUPT
        return self._result()

    def _next(self) -> tuple[str, ...] | None:
        waiting = [block for block in self.blocks if block not in self.known]
        return min(waiting, key=len, default=None)

    def _part(self, block: tuple[str, ...]) -> Scheduling:
        """Give a block as a problem, with release dates from its first one on."""
        names = set(block)
        jobs = [job for job in self.problem.jobs if job.name in names]
        first = min(decimal(job.release) for job in jobs)
        moved = tuple(job.model_copy(update={"release": float(decimal(job.release) - first)}) for job in jobs)
        return self.problem.model_copy(update={"jobs": moved, "about": None})

    def _budget(self, block: tuple[str, ...], seconds: float | None) -> Budget:
        """Give a block's part of the budget; whoever follows the whole is told of the whole only."""
        budget = self.budget if seconds is None else self.budget.within(seconds)
        start = None
        if self.budget.start is not None:
            first = self._first(block)
            own = [run for run in self.budget.start.runs if run.job in set(block)]
            start = SchedulingSolution(
                runs=[
                    run.model_copy(update={"start": _since(first, run.start), "end": _since(first, run.end)})
                    for run in own
                ]
            )
        return replace(budget, start=start, on_incumbent=None, on_progress=None)

    def _first(self, block: tuple[str, ...]) -> Fraction:
        """Give the first release date of a block."""
        return Fraction(min(decimal(job.release) for job in self.problem.jobs if job.name in set(block)))

    def _merge(self) -> None:
        """Make one block of two whose schedules overlap."""
        for block, following in pairwise(self.blocks):
            found = self.known.get(block)
            if found is None or found.solution is None:
                continue
            last = max(Fraction(decimal(run.end)) for run in found.solution.runs)
            if last > self._first(following) - self._first(block):
                place = self.blocks.index(block)
                self.blocks[place : place + 2] = [(*block, *following)]
                return self._merge()

    def _result(self) -> Found:
        """Put together what is known."""
        every = [(block, self.known[block]) for block in self.blocks]
        infeasible = next((found for _, found in every if found.status == "infeasible"), None)
        solution = None
        if infeasible is None and all(found.solution is not None for _, found in every):
            runs = [run for block, found in every for run in self._moved(block, found)]
            solution = self.problem.made_of(runs)
        bounds = [len(block) * Fraction(found.bound or 0) for block, found in every]
        return Result.judged(
            self.problem,
            method=self.method,
            solution=solution,
            bound=None if infeasible is not None else float(sum(bounds) / len(self.problem.jobs)),
            infeasible=infeasible is not None,
            stopped_by=self.stopped_by,
            solver=next((found.solver for _, found in every if found.solver), ""),
            message=next((found.message for _, found in [("", infeasible), *every] if found and found.message), ""),
            runtime=self.budget.runtime,
        )

    def _moved(self, block: tuple[str, ...], found: Found) -> list[Stretch]:
        """Give the runs of a block on the clock of the whole."""
        shift = self._first(block) - self.problem.origin
        runs: Sequence[Run] = () if found.solution is None else found.solution.runs
        return [
            Stretch(run.job, decimal(run.start) + shift, decimal(run.end) + shift, run.gpus) for run in runs
        ]


def _since(first: Fraction, time: float | Fraction) -> Fraction:
    return max(Fraction(decimal(time)) - first, Fraction(0))
