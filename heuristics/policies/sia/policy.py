"""Sia: the configurations of all jobs by one integer program a minute."""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.method import MethodLike
from gsopt.core.method import run as run_method
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.configuration import AdaptiveJob, Configuration, ConfigurationSolution, Shape
from gsopt.simulation import Decider, State
from heuristics.policies.sia.configuring import Configuring
from heuristics.policies.sia.estimates import RESTART_TIMES, Batches, Estimated
from heuristics.policies.sia.nodes import NodePool

#: Any method of the decision `configuration`, or its name.
Solver = Callable[[Configuration], object] | str

_MOST_POWER, _MOST_PENALTY = 10, 1_000_000


def sia(
    state: State,
    *,
    interval: float = 60,
    power: float = -0.5,
    penalty: float = 1.1,
    growth: float | None = 2,
    most_gpus: int = 64,
    restart_time: float = 30,
    restart_times: Mapping[str, float] = RESTART_TIMES,
    batches: Batches = "user",
    solver: Solver = "exact",
) -> Decider:
    """Grant every job one configuration, or none, so that the powers of their goodputs add up best.

    Configurations are 1, 2, 4, ... GPUs of a node, a node, and several whole nodes, each of one kind of GPU.
    All jobs are decided together at every interval, as the decision `gsopt.problems.Configuration`: exactly, by
    dynamic programming. A job that keeps its configuration keeps its GPUs, unless others need whole nodes.

    - A job that adapts (`gsopt.scenario.scenario.Physics.applications`) knows the goodput that it has fitted to
      its own steps, and before it has worked only that it may have its smallest configuration, which counts 1
      on every kind. Of any other elastic job the menu is known.
    - Goodputs are divided by the least one of the job. In another configuration than its own they count a
      restart factor, max(t - n s, 0) / (t + s) for an age t, n restarts so far and s seconds of a restart; 1
      for a job younger than s.
    - A job may have at most twice the most GPUs that it has had.
    - A job whose GPUs are fixed chooses the kind only; on the slowest one it counts its number of GPUs.
    - A job that is restarting keeps its configuration.

    Source: Sia (SOSP 2023), section 3, and its authors' public simulator, from which rounding, cap, the seconds
    of restarts and all presets are. Key: the objective. Ties: fewest changes, then the jobs released first
    (`formulations.configuration.exact`). Preemptive at every interval; resizes; does not know durations.
    O(J C G) for J jobs, C configurations and G the product of the GPUs of all kinds.

    Six jobs on two nodes (`instances.scenarios.sia`) complete when they do in the authors' simulator, to the
    second, where its solver breaks ties as here. Ties matter: powers are rounded to hundredths, and sixteen
    ways to break them spread the mean JCT of these jobs from 5,637 to 6,043 s. Here it is 6,022 s, by the
    authors' two solvers 5,688 and 5,697 s; on 14 jobs on four nodes four ways differ by up to 2 %.

    Departures: in the authors' simulator nothing is lost where a job goes to other nodes in the same
    configuration (``restarts="shape"`` of a scenario), so it does not mind who stands where; here nodes are
    kept where they can be. A job whose menu has none of these configurations has those of its own numbers of
    GPUs, a rigid job its only one; what then fits no nodes takes GPUs that are left. Nodes of six GPUs also
    have a configuration of six. A plain cluster is one node.

    Parameters
    ----------
    interval
        Seconds between decisions, which are taken at its multiples.
    power
        Power of goodputs: the lower, the more the slowest jobs count; not 0.
    penalty
        What a job without GPUs costs, where one on its slowest configuration costs 1; above that, as else
        jobs would wait although GPUs are free.
    growth
        How many times the most GPUs that it has had a job may have; any number when None.
    most_gpus
        Most GPUs of a job.
    restart_time
        Seconds of a restart, for the restart factor.
    restart_times
        Those of jobs of some models, by model.
    batches
        What the largest batch of an adaptive job is taken to be: its ``user``'s, as in the authors' simulator,
        where jobs tune theirs beyond it nevertheless, or the largest of its ``model``.
    solver
        A method of `configuration`, or its name: ``exact``, ``milp`` or ``greedy``.

    Raises
    ------
    InvalidInput
        An option is out of its range.
    Unsupported
        A job runs on no number of GPUs of one kind.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.8), (4, 3.0)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 600), ("b", 300)]]
    >>> [round(time) for time in simulate(Workload(jobs=jobs), sia, cluster=4).completion_times]
    [312, 193]
    """
    sound = 0 < abs(number_of(power)) <= _MOST_POWER
    require(sound, "power", power, f"must be from -{_MOST_POWER} to {_MOST_POWER}, not 0")
    rule = f"must be above 1, the cost of the slowest configuration, and at most {_MOST_PENALTY:,}"
    require(1 < number_of(penalty) <= _MOST_PENALTY, "penalty", penalty, rule)
    require(growth is None or 1 < number_of(growth) < inf, "growth", growth, "must be above 1, or None")
    sound = isinstance(most_gpus, int) and number_of(most_gpus) >= 1
    require(sound, "most_gpus", most_gpus, "must be a whole number, at least 1")
    require_one_of("batches", batches, get_args(Batches))
    require(isinstance(restart_times, Mapping), "restart_times", restart_times, "must be seconds by model")
    times = {f"restart_times[{model!r}]": seconds for model, seconds in restart_times.items()}
    for name, seconds in {"restart_time": restart_time, **times}.items():
        sound = 0 <= number_of(seconds) < inf
        require(sound, name, seconds, "must be a finite number of seconds, at least 0")
    pool = NodePool(state.cluster)
    estimates = Estimated(
        pool,
        growth=growth,
        most_gpus=most_gpus,
        restart_time=float(restart_time),
        restart_times=dict(restart_times),
        batches=batches,
    )
    solve = partial(_solved, find_method("configuration", solver, field="solver"), float(power), float(penalty))
    return Configuring(state, pool, estimates, solve, interval=interval)


def _solved(
    method: MethodLike,
    power: float,
    penalty: float,
    gpus: Mapping[str, int],
    configurations: list[Shape],
    jobs: list[AdaptiveJob],
) -> ConfigurationSolution:
    problem = Configuration(gpus=gpus, configurations=configurations, jobs=jobs, power=power, penalty=penalty)
    solution = run_method(method, problem).solution
    assert solution is not None  # noqa: S101 - who has nothing breaks no rule
    return solution
