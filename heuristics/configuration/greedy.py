"""Greedy: the change that gains most per GPU, until none gains anything."""

from heapq import heapify, heappop, heappush

from gsopt.grid import Exact, decimal
from gsopt.method import heuristic
from gsopt.problems.configuration import Configuration, ConfigurationSolution

#: Gain per GPU with its sign changed, number of the job, place of the configuration.
_Change = tuple[float, int, int]


@heuristic
def greedy(problem: Configuration) -> ConfigurationSolution:
    """From pinned jobs alone, make the change that gains most per further GPU until none gains anything.

    A change gives one job another configuration with more GPUs, of whatever type, that costs less. Of equal
    changes that of the first job is made, and of one job's that of the first configuration in the list.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: ours, the usual greedy of multiple-choice knapsacks, to see what the integer program of Sia gains.

    Complexity: O(J C^2 log(J C)) for J jobs of C configurations.

    Examples
    --------
    >>> from instances.configuration import growing_jobs
    >>> greedy(growing_jobs(nodes=2, jobs=3, seed=1)).solution.configurations
    {'j1': 1, 'j2': 1, 'j3': 0}
    """
    state = _State(problem)
    changes = [change for job in range(len(problem.jobs)) for change in state.changes(job)]
    heapify(changes)
    while changes:
        _, job, place = change = heappop(changes)
        if change not in state.changes(job):
            continue  # the job has changed since, or the GPUs are gone
        state.make(job, place)
        for further in state.changes(job):
            heappush(changes, further)
    named = zip(problem.jobs, state.places, strict=True)
    return ConfigurationSolution(configurations={job.name: place for job, place in named if place is not None})


class _State:
    """What jobs have, and the GPUs that are left of each type."""

    def __init__(self, problem: Configuration) -> None:
        self.problem = problem
        self.left = dict(problem.gpus)
        self.places: list[int | None] = [None] * len(problem.jobs)
        for number, job in enumerate(problem.jobs):
            if job.pinned and job.current is not None:
                self.make(number, job.current)

    def changes(self, job: int) -> list[_Change]:
        """List the changes of a job that gain something, as far as there are GPUs."""
        if self.problem.jobs[job].pinned:
            return []
        found: list[_Change] = []
        gpus, cost = self._gpus(self.places[job]), self._cost(job, self.places[job])
        for place, lower in self.problem.costs[job].items():
            more = self._gpus(place) - gpus
            if lower < cost and more > 0 and self._fits(job, place):
                found.append((-float((cost - lower) / more), job, place))
        return found

    def make(self, job: int, place: int) -> None:
        """Give a job another configuration."""
        before = self.places[job]
        if before is not None:
            self.left[self.problem.configurations[before].type] += self._gpus(before)
        self.left[self.problem.configurations[place].type] -= self._gpus(place)
        self.places[job] = place

    def _fits(self, job: int, place: int) -> bool:
        shape, before = self.problem.configurations[place], self.places[job]
        freed = (
            self._gpus(before)
            if before is not None and self.problem.configurations[before].type == shape.type
            else 0
        )
        return shape.gpus <= self.left[shape.type] + freed

    def _gpus(self, place: int | None) -> int:
        return 0 if place is None else self.problem.configurations[place].gpus

    def _cost(self, job: int, place: int | None) -> Exact:
        return decimal(self.problem.penalty) if place is None else self.problem.costs[job][place]
