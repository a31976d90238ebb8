"""Pollux: a policy that reallocates all GPUs every minute to maximize a power mean of speed-ups."""

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

#: The lowest exponent of the power mean, as in the decision.
_LOWEST_POWER = -10

#: Largest number of candidates, and of generations: a thousand times the published ones.
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
    blind: bool = False,
    seed: int = 0,
) -> Decider:
    """Divide the GPUs among all jobs every minute, to maximize a power mean of the jobs' speed-ups.

    At every interval, the decision `gsopt.problems.goodput.Goodput` is solved. An adaptive job tunes its batch
    size itself. From a model that is fitted to its own measurements, it predicts its goodput, i.e. its speed of
    training, on any set of GPUs. Its speed-up is its goodput relative to that on a fair share of the GPUs. If a
    job would have to restart, its speed-up is discounted. The discount is larger for younger jobs and for jobs
    with more restarts. A job may have at most twice as many GPUs as it has ever had or, if that is more, the
    fewest on which it can run.

    Comparisons include the policy only if it is named by its path, ``heuristics.policies.pollux:pollux``.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' simulator where the text is silent. Key: the mean,
    over all jobs, of (f S / g + 0.001) to the power p (for the symbols, see the decision). Ties: the first
    solution found. Preempts, resizes and moves at every interval; does not know durations. Cost per decision:
    that of `heuristics.goodput.genetic` or of the exact method.

    As in the simulator, the fair share is the number of GPUs divided by the number of jobs, rounded up; these
    GPUs are assumed to be on one node. Until a job has measured anything, its speed counts as proportional to
    its number of GPUs. Every start of a job, and every change of its number of GPUs on any node, is a restart.
    A job's first start is discounted, but not included in its number of restarts.
    `tests/benchmarks/bench_pollux.py` compares the policy with the simulator.

    A job that is not adaptive has its given speeds. If the search returns a number of GPUs that a job may not
    have, the job gets the next lower allowed number.

    Parameters
    ----------
    exact
        Whether decisions are solved to proven optimality instead of by the published search. This may take
        several seconds on nodes of eight GPUs. Set this with `functools.partial`, because `gsopt.simulate` has
        another option of this name.
    solver
        The exact method, or its name.
    limit
        Seconds after which an exact decision ends with the better of its best solution so far and that of the
        greedy method; None for no limit.
    interval
        Time between decisions, in seconds.
    population, generations
        Number of candidates of the search, at least 2, and number of generations, at least 1.
    power
        Exponent p of the power mean, an integer from -10 to -1.
    restart_time
        Duration of a restart, in seconds, that the decision assumes.
    most_gpus, most_nodes
        Largest number of GPUs, and of nodes, that a job may have.
    blind
        Whether GPUs of several types are divided as if they were alike, as in the comparison of Sia (SOSP 2023)
        and its authors' simulator. Larger machines count as several nodes of the smallest size. A job gets no
        more GPUs than there are of the rarest type. If its GPUs are of several types, it keeps only those of
        the most frequent type. If types tie, the last one in the cluster wins; in the simulator, the more
        powerful one.
    seed
        Seed of the search.

    Raises
    ------
    InvalidInput
        An option is out of range, GPUs differ in type or memory and the policy is not `blind`, or a job needs
        more GPUs than `most_gpus` or, if the policy is `blind`, than there are of the rarest type.
    Unsupported
        The policy is `blind`, and no mode of a job suits the GPUs of the first machine, which stand for all
        GPUs.

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
    if blind and state.cluster.machines:
        most_gpus = min([most_gpus, *(state.cluster.room(kind) for kind in state.cluster.gpu_types)])
    return Adapting(
        state,
        divide,
        interval=interval,
        caps=Caps(gpus=most_gpus, nodes=most_nodes),
        power=power,
        restart_time=restart_time,
        blind=blind,
    )


def _solve(
    problem: Goodput, *, method: MethodLike, fallback: MethodLike, limit: float | None
) -> GoodputSolution:
    """Solve a decision, to optimality or up to a time limit, with a result no worse than the fallback's."""
    found: Result[GoodputSolution] | None
    found = run(method, problem, **({} if limit is None else {"time_limit": limit}))
    if found.status is not Status.OPTIMAL:
        found = better_of(problem, run(fallback, problem), found)
    return found.solution if found and found.solution else GoodputSolution(gpus={})


class _Search:
    """The published search, which continues from the candidates of the previous decision."""

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
        """Return the candidates of the previous decision, reduced to the jobs that are present now."""
        count, _, nodes = self._front.shape
        if nodes != table.current.shape[1]:  # machines have come or gone
            return table.current[None][:0]
        kept = np.zeros((count, *table.current.shape), dtype=np.int64)
        places = {name: place for place, name in enumerate(self._names)}
        for place, name in enumerate(names):
            if name in places:
                kept[:, place] = self._front[:, places[name]]
        return kept
