"""Pollux: adaptive jobs share all GPUs anew every minute, so that the power mean of their speed-ups is best."""

from functools import partial
from math import inf

import numpy as np

from gsopt.core.budget import Budget
from gsopt.core.errors import number_of, require
from gsopt.core.method import MethodLike, run
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import find_method
from gsopt.evaluation.solve import better_of
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.simulation import Decider, State
from heuristics.goodput.gangs import with_gangs
from heuristics.goodput.search import search
from heuristics.goodput.table import Counts, SpeedupTable
from heuristics.policies.pollux.adapting import Adapting, Divide
from heuristics.policies.pollux.outlook import Caps

#: The lowest power of the mean, as in the decision.
_LOWEST_POWER = -10

#: Most candidates, and generations, of the search: a thousand times the published ones.
_MOST_CANDIDATES = 100_000


def pollux(
    state: State,
    *,
    exact: bool = False,
    solver: MethodLike | str = "exact",
    limit: float | None = None,
    interval: float = 60.0,
    population: int = 100,
    generations: int = 100,
    power: int = -1,
    restart_time: float = 30.0,
    most_gpus: int = 64,
    most_nodes: int = 16,
    seed: int = 0,
) -> Decider:
    """Take the decision `gsopt.problems.goodput.Goodput` every minute, for all jobs together.

    An adaptive job reports how fast it expects to be on any GPUs, by a model fitted to its own steps and the
    noise of its gradients, and tunes its batch itself. Its speed-up is its goodput relative to that on a fair
    share of the GPUs. A job that would have to restart counts less, the more so the younger it is and the more
    often it has restarted. A job may have twice the GPUs that it has ever had.

    Comparisons include it only if it is named: ``heuristics.policies.pollux:pollux``. GPUs must be alike.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' simulator for what the text leaves open. Key: the
    mean of (f S / g + 0.001) to the power p over all jobs, see the decision. Ties: what the search finds first,
    which favours jobs with the least GPU time so far. Preempts, resizes and moves at every interval. Does not
    know durations. Cost: as `heuristics.goodput.genetic`, 0.4 s for 160 jobs on 64 GPUs; the exact method takes
    a tenth of that.

    Readings of the authors' simulator, which all count:

    - The fair share is the GPUs divided by the jobs, rounded up, and counts as GPUs of one node however many
      they are.
    - A job that has not measured anything yet is as fast as it has GPUs.
    - The search begins with those candidates of the last one that no other surpassed in both goals.
    - A job that starts or moves restarts, but its first start is not counted among its restarts. One that has
      only just arrived counts as if it did not run, so it may have to wait for the next interval.

    Of a job that is not adaptive the menu is the model, which it knows from the beginning: it may start on the
    fewest GPUs on which it runs, and where the search gives it a number on which it does not run, it has the
    next lower one. The search is begun with one more candidate, in which such jobs that need several GPUs start
    on idle ones.

    On the five workloads of the authors (1 to 4 and 6, `instances.scenarios.pollux`) the mean job completion
    time is 1.5 % below theirs to 0.2 % above, on a cluster of 64 GPUs (`tests/benchmarks/bench_pollux.py`);
    with exact decisions it is up to 2.1 % below. A decision takes 0.14 s at the median, exactly
    0.006 s; on nodes of eight GPUs (newTrace of Sia) exactly 0.1 s, and up to some seconds, see `limit`.

    Parameters
    ----------
    exact
        Whether the decision is solved to the optimum, instead of by the published search.
    solver
        The method that solves it then, or its name.
    limit
        Seconds after which the best solution of an exact decision is taken, proven or not, that of the greedy
        method at least; None for no limit.
    interval
        Seconds between decisions.
    population, generations
        Candidates of the search, and how often as many are bred: once at least, or no job would start.
    power
        Power p of the mean, from -10 to -1.
    restart_time
        Seconds of a restart, as the decision reckons with it.
    most_gpus, most_nodes
        Most GPUs and nodes of a job.
    seed
        Seed of the search.

    Raises
    ------
    InvalidInput
        An option is out of its range, the cluster has GPUs of several kinds, or a job needs more GPUs than it
        may have.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.9), (3, 2.7), (4, 3.4)]
    >>> jobs = [Job(name=n, release_date=0, duration=150, gpus=1, menu=menu) for n in "ab"]
    >>> run = simulate(Workload(jobs=jobs), pollux, cluster=Cluster.uniform(machines=1, gpus=4), record=True)
    >>> [(each.job, each.start, each.gpus) for each in run.schedule.segments]
    [('a', 0.0, 1), ('b', 0.0, 1), ('a', 60.0, 2), ('b', 60.0, 2)]
    """
    sound = 0 <= number_of(restart_time) < inf
    require(sound, "restart_time", restart_time, "must be a number of seconds, at least 0")
    rule = f"must be a whole number from {_LOWEST_POWER} to -1"
    require(isinstance(power, int) and _LOWEST_POWER <= number_of(power) <= -1, "power", power, rule)
    for name, value, lowest in (("population", population, 2), ("generations", generations, 1)):
        rule = f"must be a whole number from {lowest} to {_MOST_CANDIDATES:,}"
        require(isinstance(value, int) and lowest <= number_of(value) <= _MOST_CANDIDATES, name, value, rule)
    for name, value, lowest in (("most_gpus", most_gpus, 1), ("most_nodes", most_nodes, 1), ("seed", seed, 0)):
        rule = f"must be a whole number, at least {lowest}"
        require(isinstance(value, int) and number_of(value) >= lowest, name, value, rule)
    sound = limit is None or 0 < number_of(limit) < inf
    require(sound, "limit", limit, "must be a positive, finite number of seconds")
    draws = np.random.default_rng(seed)
    divide: Divide = _Search(population, generations, most_nodes, draws)
    if exact:
        method, fallback = find_method("goodput", solver, field="solver"), find_method("goodput", "greedy")
        divide = partial(_solve, method=method, fallback=fallback, limit=limit)
    caps = Caps(gpus=most_gpus, nodes=most_nodes)
    return Adapting(state, divide, interval=interval, caps=caps, power=power, restart_time=restart_time)


def _solve(
    problem: Goodput, *, method: MethodLike, fallback: MethodLike, limit: float | None
) -> GoodputSolution:
    """Solve a decision to the optimum, or until a limit, and then no worse than by the fallback."""
    found: Result[GoodputSolution] | None
    found = run(method, problem, **({} if limit is None else {"time_limit": limit}))
    if found.status is not Status.OPTIMAL:
        found = better_of(problem, run(fallback, problem), found)
    return found.solution if found and found.solution else GoodputSolution(gpus={})


class _Search:
    """The published search, which goes on from where it ended last time."""

    def __init__(self, population: int, generations: int, most_nodes: int, random: np.random.Generator) -> None:
        self._population, self._generations, self._most_nodes = population, generations, most_nodes
        self._random = random
        self._names: list[str] = []
        self._front: Counts = np.zeros((0, 0, 0), dtype=np.int64)

    def __call__(self, problem: Goodput) -> GoodputSolution:
        table = SpeedupTable.of(problem)
        names = [job.name for job in problem.jobs]
        self._front = search(
            table,
            np.concatenate([self._kept(names, table), table.current[None], with_gangs(table)[None]]),
            self._random,
            population=self._population,
            generations=self._generations,
            most_nodes=self._most_nodes,
            budget=Budget(),
        )
        self._names = names
        return table.solution(self._front[0])

    def _kept(self, names: list[str], table: SpeedupTable) -> Counts:
        """Return the candidates of the last time, for the jobs that are present now."""
        count, _, nodes = self._front.shape
        if nodes != table.current.shape[1]:  # machines have come or gone
            return table.current[None][:0]
        kept = np.zeros((count, *table.current.shape), dtype=np.int64)
        places = {name: place for place, name in enumerate(self._names)}
        for place, name in enumerate(names):
            if name in places:
                kept[:, place] = self._front[:, places[name]]
        return kept
