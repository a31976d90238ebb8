"""Exact: depth-first search over starts at events, on GPUs that are told apart by who holds them."""

from fractions import Fraction

from formulations.sharing.best import Best
from formulations.sharing.jobs import Jobs, Units, arrays_of
from gsopt.budget import Budget
from gsopt.compiled import is_ready, twin
from gsopt.grid import Exact
from gsopt.method import exact_method
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import Run
from gsopt.result import Result, StoppedBy
from gsopt.tolerances import SPAN_ERROR

#: Jobs up to which there is a search: rows of their pairs take some megabytes.
_MOST_JOBS = 64

#: Nodes of the first steps, without a compiler, and of each further step.
_FIRST_NODES, _NODES = 600, 100_000

#: Places of the table of states; 24 bytes each.
_FEW_PLACES, _PLACES = 2**12, 2**21

#: What is proven, by when jobs may start.
_MODELS = {
    "events": "Model E: starts at arrivals and ends",
    "any": "Model C: starts at any time; the schedule has starts at events, the bound is that of areas",
}


@exact_method(unused=["backend", "log"])
def exact(problem: Sharing, budget: Budget) -> Result[SharingSolution]:
    """Prove the best schedule of starts at events by branch and bound; for starts at any time, bracket it.

    Sets: jobs j; at each event the classes of GPUs, that nobody holds or that one job holds alone.
    Parameters: p_j seconds and G_j GPUs of a job, r_j its release; xi_jk its slowdown beside job k.
    Variables: at each event which pending jobs start, and how many GPUs of each class each of them takes.
    Objective: the sum of the ends.
    Constraints: a job starts once, after its release, on G_j GPUs, none of which has two users already, and
    runs on them until it ends; its speed is 1 / max(1, xi_jk) over its partners k.
    Size: a node for each start and each event, some thousand to some millions for 8 jobs.

    The search (`formulations.sharing.search`) starts from the best schedule known, bounds by areas
    (`formulations.sharing.areas`), and goes through what follows from a state only once. It is compiled where
    numba is installed and there is time for that. Up to 8 jobs take a second or two.

    With starts at any time, what the search finds is a schedule and no more; the bound is that of the areas, as
    the best start may lie between two events. The message says which of the two models it is.

    Source: the model is that of Castor, Eq. 6-13, without slots; the search is our own.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]]
    >>> result = exact(Sharing(gpus=1, jobs=jobs, default_interference=2.0))
    >>> result.status, result.objective, result.message
    (<Status.OPTIMAL: 'optimal'>, 3, 'Model E: starts at arrivals and ends')
    """
    best = Best(problem, budget, "exact")
    try:
        best.take(in_turn(problem))
        if len(problem.jobs) <= _MOST_JOBS and not best.finished:
            _Search(best).run()
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, message=_MODELS[problem.starts])


def in_turn(problem: Sharing) -> SharingSolution:
    """Let the jobs run one after the other, in the order of their release dates.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=2, gpus=1) for n in "ab"]
    >>> [run.start for run in in_turn(Sharing(gpus=1, jobs=jobs)).runs]
    [0.0, 2.0]
    """
    now, runs = problem.origin, []
    for job in sorted(range(len(problem.jobs)), key=lambda job: problem.releases[job]):
        now = max(now, problem.releases[job])
        given = problem.jobs[job]
        runs.append(Run(job=given.name, start=float(now), gpus=tuple(range(given.gpus))))
        now += problem.durations[job]
    return SharingSolution(runs=runs)


class _Search:
    """The search, step by step: plain first, compiled when it goes on."""

    def __init__(self, best: Best) -> None:
        from formulations.sharing import lower, search, stack, table

        self.best, self.kernel, self.new_table = best, search, table.new_table
        self.jobs: Jobs
        self.units: Units
        self.jobs, self.units = arrays_of(best.problem)
        self.stack = stack.new_stack(self.jobs)
        self.root = twin(lower.lower)(self.jobs, self.stack, 0)
        self.found = search.nothing_found(self.jobs, self._total(best.value))

    def run(self) -> None:
        """Search until all is searched or there is a reason to stop."""
        self.best.raise_bound(self._mean(self.root))
        step, table = twin(self.kernel.search), self.new_table(_FEW_PLACES)
        nodes = _FIRST_NODES
        while not self.best.finished:
            known = self.found.value[0]
            step(self.jobs, self.stack, table, self.found, nodes)
            if self.found.value[0] < known:
                self._take()
            if self.stack.depth[0] < 0:
                if self.best.problem.starts == "events":
                    self.best.raise_bound(self._mean(float(self.found.value[0])))
                return
            if nodes == _FIRST_NODES and is_ready(self.kernel.__name__, "search", self.best.budget.left()):
                step, table, nodes = self.kernel.search, self.new_table(_PLACES), _NODES

    def _take(self) -> None:
        from formulations.sharing.layout import laid_out

        self.best.take(laid_out(self.best.problem, self.units, self.found))

    def _total(self, mean: Exact | None) -> float:
        """Give the sum of the ends of a schedule, in the kernel's units."""
        if mean is None:
            raise AssertionError  # there is one from the beginning
        problem = self.best.problem
        late = sum(release - self.units.origin for release in problem.releases)
        return float((mean * len(problem.jobs) + late) / self.units.unit)

    def _mean(self, total: float) -> Fraction:
        """Give the mean that no schedule is below whose ends have no smaller sum, but for rounding."""
        problem = self.best.problem
        late = sum(release - self.units.origin for release in problem.releases)
        return (Fraction(total * (1 - SPAN_ERROR)) * self.units.unit - late) / len(problem.jobs)
