"""Best: the best schedule and bound for a sharing problem and for its independent parts."""

from fractions import Fraction

from formulations.common.best import Best
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, whole
from gsopt.core.result import StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution


class BestSharing(Best[Sharing, SharingSolution]):
    """The best schedule and bound. The initial bound assumes that every job runs alone from its release on."""

    def __init__(self, problem: Sharing, budget: Budget, method: str) -> None:
        super().__init__(problem, budget, method, bound=_alone(problem))


class IndependentPart:
    """A part of a problem whose jobs overlap with no others in any schedule that matters.

    Schedules matter if they are at least as good as the known one.
    """

    def __init__(self, parts: "Parts", problem: Sharing, solution: SharingSolution) -> None:
        self.problem, self.solution, self._parts = problem, solution, parts
        self.value = problem.objective(solution)
        self.bound: Exact = _alone(problem)

    @property
    def finished(self) -> StoppedBy | None:
        """The reason to stop now, or None if the method should continue."""
        return StoppedBy.FINISHED if self.value == self.bound else self._parts.best.finished

    def left(self) -> float | None:
        """Return the remaining time in seconds, or None if there is no limit."""
        return self._parts.best.budget.left()

    def take(self, solution: SharingSolution) -> bool:
        """Keep a schedule if it is better than the best one so far, and return whether it was kept."""
        value = self.problem.objective(solution)
        if value >= self.value:
            return False
        self.solution, self.value = solution, value
        self._parts.take()
        return True

    def raise_bound(self, bound: Exact) -> None:
        """Keep a bound on all schedules of the part if it is the best bound so far."""
        if bound > self.bound:
            self.bound = whole(Fraction(bound))
            self._parts.raise_bound()


class Parts:
    """The parts of a problem that a known schedule shows to be independent.

    The delay of a job is the time from its earliest possible end to its end. In a schedule at least as good as
    the known one, no job has a longer delay than all jobs together in the known one. If, even with this delay,
    all earlier jobs have ended by the release of a job, this job and all later ones do not depend on them.
    """

    def __init__(self, best: BestSharing) -> None:
        self.best = best
        self.every = [
            IndependentPart(self, part, _restricted(best.known, part))
            for part in _parted(best.problem, best.known_value)
        ]

    def take(self) -> None:
        """Combine the best schedules of the parts, and keep the result if it is the best so far."""
        self.best.take(SharingSolution(runs=[run for part in self.every for run in part.solution.runs]))

    def raise_bound(self) -> None:
        """Raise the bound of the whole problem to the one that follows from the bounds of the parts."""
        total = sum(part.bound * len(part.problem.jobs) for part in self.every)
        self.best.raise_bound(Fraction(total) / len(self.best.problem.jobs))


def _alone(problem: Sharing) -> Fraction:
    return Fraction(sum(problem.durations)) / len(problem.jobs)


def _parted(problem: Sharing, value: Exact) -> list[Sharing]:
    """Split a problem before each release by which all earlier jobs have ended in every schedule that matters.

    Only schedules whose value is at most the given one matter.
    """
    delayed = (value - _alone(problem)) * len(problem.jobs)
    order = sorted(range(len(problem.jobs)), key=lambda job: problem.releases[job])
    groups: list[list[int]] = []
    over: Exact = problem.origin
    for job in order:
        if not groups or over <= problem.releases[job]:
            groups.append([])
        groups[-1].append(job)
        over = max(over, problem.releases[job] + problem.durations[job] + delayed)
    if len(groups) == 1:
        return [problem]
    return [
        problem.model_copy(update={"jobs": tuple(problem.jobs[job] for job in sorted(group)), "about": None})
        for group in groups
    ]


def _restricted(solution: SharingSolution, part: Sharing) -> SharingSolution:
    names = {job.name for job in part.jobs}
    return SharingSolution(runs=[run for run in solution.runs if run.job in names])
