"""Blocks: groups of jobs that can finish before the next group is released and are solved separately.

A group of jobs costs at least as much together with other jobs as by itself. So the optima of the blocks add up
to a bound for the whole problem. Neighbouring blocks whose schedules overlap are merged and solved again, so
the final schedules can be joined. Times stay small within a block, so jobs that are far apart in time do not
reduce each other's precision.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import fsum

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import Run, Scheduling, SchedulingSolution
from gsopt.schedule.retiming import TaskStretch

Found = Result[SchedulingSolution]

#: Maximum number of jobs for which every possible block is solved separately.
_MOST_APART = 100


def by_blocks(
    problem: Scheduling, budget: Budget, solve: Callable[[Scheduling, Budget], Found], *, method: str
) -> Found:
    """Solve a problem block by block, and join the schedules."""
    blocks = list(blocks_of(problem))
    if len(blocks) == 1:
        return solve(problem, budget)
    return _Series(problem, budget, solve, method, blocks).solved()


def blocks_of(problem: Scheduling) -> Iterator[tuple[str, ...]]:
    """Yield the names of the jobs in each block, by release date.

    A block ends where all its jobs would be complete by the next release date, both if they run one after
    another at their highest speeds and, if there is a fairness constraint, under generalized processor sharing.
    The deadlines of a block therefore depend only on its own jobs. With more than a hundred jobs, a block ends
    only before a pause in which all jobs of the problem could run one after another, so that there are few
    blocks.
    """
    tasks = problem.tasks
    fair = problem.fair_times if problem.fairness is not None else [Fraction(0)] * len(tasks)
    block: list[str] = []
    busy, pause = Fraction(0), 0.0
    if len(tasks) > _MOST_APART:
        pause = fsum(float(task.height) for task in tasks)
    for task, end in zip(tasks, fair, strict=True):
        if block and busy + pause <= task.release:
            yield tuple(block)
            block = []
        busy = max(max(busy, Fraction(task.release)) + task.height, end)
        block.append(task.name)
    yield tuple(block)


class _Series:
    """The blocks, which are solved from the smallest to the largest, and their results so far."""

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
        self._released = {job.name: Fraction(decimal(job.release)) for job in problem.jobs}

    def solved(self) -> Found:
        """Solve all blocks, and return the result for the whole problem."""
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
        """Return a block as a problem whose first release date is 0."""
        names = set(block)
        jobs = [job for job in self.problem.jobs if job.name in names]
        first = min(decimal(job.release) for job in jobs)
        moved = tuple(job.model_copy(update={"release": float(decimal(job.release) - first)}) for job in jobs)
        return self.problem.model_copy(update={"jobs": moved, "about": None})

    def _budget(self, block: tuple[str, ...], seconds: float | None) -> Budget:
        """Return a block's part of the budget, without callbacks."""
        budget = self.budget if seconds is None else self.budget.within(seconds)
        start = None
        if self.budget.start is not None:
            first = self._first(block)
            names = set(block)
            own = [run for run in self.budget.start.runs if run.job in names]
            start = SchedulingSolution(
                runs=[
                    run.model_copy(update={"start": _since(first, run.start), "end": _since(first, run.end)})
                    for run in own
                ]
            )
        return replace(budget, start=start, on_incumbent=None, on_progress=None)

    def _first(self, block: tuple[str, ...]) -> Fraction:
        """Return the first release date of a block."""
        return min(self._released[name] for name in block)

    def _merge(self) -> None:
        """Merge blocks whose schedules overlap."""
        merged: list[tuple[str, ...]] = [self.blocks[0]]
        for block in self.blocks[1:]:
            overlaps = self._end(merged[-1]) > self._first(block)
            merged[-1:] = [(*merged[-1], *block)] if overlaps else [merged[-1], block]
        self.blocks = merged

    def _end(self, block: tuple[str, ...]) -> Fraction:
        """Return the time at which the schedule of a block ends.

        If it has no schedule, this is its first release date.
        """
        found = self.known.get(block)
        runs: Sequence[Run] = () if found is None or found.solution is None else found.solution.runs
        return self._first(block) + max((Fraction(decimal(run.end)) for run in runs), default=Fraction(0))

    def _result(self) -> Found:
        """Join the results of all blocks."""
        every = [(block, self.known[block]) for block in self.blocks]
        infeasible = next((found for _, found in every if found.status is Status.INFEASIBLE), None)
        solution = None
        if infeasible is None and all(found.solution is not None for _, found in every):
            runs = [run for block, found in every for run in self._moved(block, found)]
            solution = self.problem.made_of(runs)
        messages = [found.message for _, found in every] if infeasible is None else [infeasible.message]
        bounds = [len(block) * Fraction(found.bound or 0) for block, found in every]
        return Result.judged(
            self.problem,
            method=self.method,
            solution=solution,
            bound=None if infeasible is not None else float(sum(bounds) / len(self.problem.jobs)),
            infeasible=infeasible is not None,
            stopped_by=self.stopped_by,
            solver=next((found.solver for _, found in every if found.solver), ""),
            message=next((said for said in messages if said), ""),
            runtime=self.budget.runtime,
        )

    def _moved(self, block: tuple[str, ...], found: Found) -> list[TaskStretch]:
        """Return the stretches of a block on the clock of the whole problem."""
        shift = self._first(block) - self.problem.origin
        runs: Sequence[Run] = () if found.solution is None else found.solution.runs
        return [
            TaskStretch(run.job, decimal(run.start) + shift, decimal(run.end) + shift, run.gpus) for run in runs
        ]


def _since(first: Fraction, time: float | Fraction) -> Fraction:
    return max(Fraction(decimal(time)) - first, Fraction(0))
