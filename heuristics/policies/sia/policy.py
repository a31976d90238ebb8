"""Sia: a policy that chooses the configurations of all jobs jointly, by default every minute."""

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

#: A method of the decision `configuration`, or its name.
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
    """Choose a configuration of GPUs, or none, for every job, so as to optimize the sum of powers of goodputs.

    A configuration consists of GPUs of one kind: 1, 2, 4, ... GPUs of a node, one entire node, or several
    entire nodes. If a job can run in none of these, each number of GPUs on which it can run is a configuration.
    At every interval, the decision `gsopt.problems.Configuration` is solved for all jobs together. A job that
    keeps its configuration keeps its GPUs, unless it makes room for a larger job. A restarting job keeps its
    configuration. Goodputs are determined as follows:

    - A job's goodputs are divided by the smallest of them. For a rigid job, which chooses only its kind of GPU,
      they are then multiplied by its number of GPUs.
    - An elastic adaptive job (`gsopt.scenario.scenario.Physics.applications`) reports goodputs fitted to its
      own steps. At first, it may have only its smallest number of GPUs. On a new GPU type, its goodputs are
      those on another type, multiplied by the ratio of single-GPU speeds. The speeds of all other jobs are
      known.
    - If a job has a configuration, its goodputs in all others are multiplied by max(t - n s, 0) / (t + s).
      Here, t is its age, n its number of restarts, and s the duration of a restart. The factor is 1 while t
      (for a rigid job, the GPU-seconds that it has had so far) is below s.

    Source: Sia (SOSP 2023), section 3. The durations of restarts and all defaults are from its authors' public
    simulator. As there, powers of goodputs are rounded to two decimals and limited to 3,000. Key: the
    objective. Ties: as in `solver`. Preemptive at every interval; resizes; does not know durations. With
    ``exact``, usually O(J C G) per decision, for J jobs and C configurations, where G is the product of the
    numbers of GPUs over all kinds.

    Departures:

    - In the authors' simulator, moves within a configuration cost nothing (``restarts="shape"`` in a scenario)
      and are not avoided. Here, jobs keep their nodes if possible.
    - The number of GPUs of a node need not be a power of two. A plain cluster is treated as one node.

    Parameters
    ----------
    interval
        Time between decisions, in seconds; they are taken at its multiples.
    power
        Power of the goodputs, not 0; the lower it is, the more weight the slowest jobs have.
    penalty
        Cost of a job without GPUs, above 1. With a negative power, the slowest configuration of an elastic job
        costs 1, unless the job has to restart.
    growth
        Largest number of GPUs of an elastic job, as a multiple of the most that it has had so far; None for any
        number. The job may always have the fewest GPUs on which it can run.
    most_gpus
        Largest number of GPUs of a configuration. Jobs that can run in no configuration up to this size are not
        limited.
    restart_time
        Duration of a restart, in seconds.
    restart_times
        Durations of restarts, keyed by model, which replace `restart_time`.
    batches
        Largest batch size assumed for an adaptive job: the one that its ``user`` chose, as in the authors'
        simulator, or the limit of its ``model``.
    solver
        A method of `configuration`, or its name, such as ``exact``, ``milp`` or ``greedy``.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        A job cannot run on GPUs of a single kind, whatever their number.

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
