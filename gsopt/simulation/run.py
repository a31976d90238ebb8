"""Run: the simulation of a workload under a policy, and its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.drawing import time_unit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import name_of
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Physics, Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.bounds import MeanBound, known_bound, mean_jct_bound
from gsopt.schedule.fairness import FairTimes
from gsopt.schedule.figures import Record
from gsopt.simulation.engine import Engine
from gsopt.simulation.interval import require_interval
from gsopt.simulation.placer import Placer, consolidated
from gsopt.simulation.policy import IllegalDecision, Policy
from gsopt.simulation.record import record_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gsopt.schedule.bounds.prices import PriceBound


@dataclass(frozen=True, repr=False)
class Replay:
    """The result of one simulated run.

    Attributes
    ----------
    scenario
        The simulated scenario.
    metrics
        The record of the run, with figures such as the mean job completion time.
    completion_times
        Completion times of all jobs, indexed by job number, in seconds on the clock of the workload's release
        dates. Unless the run is exact, they are rounded to floats on this clock; `jct` is computed before this
        rounding. The entry of a job that did not complete is None.
    start_times
        Times at which the jobs first started, in the same form.
    schedule
        The schedule, in seconds on the same clock; None if it was not recorded. If the run is exact, all times
        are fractions or integers. Otherwise, fractions are used only for times that no float represents
        exactly, which can occur if the scenario's clock does not start at 0.
    decision_seconds
        Wall-clock duration of each decision in seconds; ignored when runs are compared for equality.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from heuristics.policies import fifo
    >>> job = Job(name="a", release_date=1, duration=2, gpus=1)
    >>> run = simulate(Workload(jobs=[job]), fifo, cluster=1, record=True)
    >>> run.jct, run.schedule.segments[0].end
    ((2.0,), 3.0)
    >>> run
    <Replay: 1 of 1 jobs complete, mean JCT 2 s, makespan 2 s>
    """

    scenario: Scenario
    metrics: Record
    completion_times: tuple[Any, ...]
    start_times: tuple[Any, ...]
    schedule: Schedule | None
    decision_seconds: tuple[float, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        """Return a short summary, because the full data would be as long as the workload."""
        found = self.metrics
        said = f"<Replay: {found.completed:,} of {found.jobs:,} jobs complete"
        if found.completed:
            said += f", mean JCT {_in_unit(found.mean_jct)}, makespan {_in_unit(found.makespan)}"
        return f"{said}>"

    @property
    def jct(self) -> tuple[Any, ...]:
        """Seconds from release to completion of each completed job, in order of job number."""
        return self.metrics.jct

    def plot(self, *, colour: str = "slowdown") -> "Figure":
        """Plot a Gantt chart of the run, with the number of waiting jobs over time below it.

        Parameters
        ----------
        colour
            What the colours of jobs mean, as in `gsopt.simulation.plots.gantt`.

        Raises
        ------
        InvalidInput
            The run was not recorded, `colour` is invalid (see `gantt`), or matplotlib is not installed.

        Examples
        --------
        >>> from gsopt.scenario.job import Job
        >>> from heuristics.policies import fifo
        >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
        >>> run = simulate(workload, fifo, cluster=1, record=True)
        >>> [axes.get_ylabel() for axes in run.plot().axes]
        ['GPU', 'jobs waiting']
        """
        from gsopt.simulation.plots.overview import overview

        if self.schedule is None:
            raise InvalidInput("plot", self.metrics.policy, "needs a recorded run: simulate with record=True")
        return overview(self.schedule, self.scenario, colour=colour, title=self.metrics.policy)


def _in_unit(seconds: Any) -> str:
    unit, name = time_unit(float(seconds))
    return f"{float(seconds) / unit:,.4g} {name}"


def simulate(
    given: Workload | Scenario,
    policy: Policy,
    /,
    *,
    cluster: Cluster | int | str | None = None,
    round_length: float | None = None,
    placer: Placer = consolidated,
    record: bool = False,
    exact: bool = False,
    bound: "bool | float | MeanBound | PriceBound" = True,
    bound_evaluations: int | None = None,
    time_limit: TimeLimit = None,
    **options: Any,
) -> Replay:
    """Simulate a workload on a cluster under a policy, event by event.

    Parameters
    ----------
    given
        A workload, or a whole scenario.
    policy
        The policy: a callable that returns a decider. `gsopt.simulate` also accepts the name of a policy from
        `heuristics.policies`, or ``package.module:function``.
    cluster
        The cluster on which a workload runs, its number of GPUs, or equal racks such as ``4x8x8``; None if
        `given` is a scenario.
    round_length
        Seconds between decisions, at least 1e-6. Decisions are made only at multiples of it on the scenario's
        clock. While no job waits or no job runs, rounds before the next event or requested wake are skipped. If
        None, a decision is made at every arrival, completion, change of the available GPUs, reclaim request and
        requested wake.
    placer
        Function that chooses the GPUs of a job if the policy grants only a number of GPUs.
    record
        Whether to record the schedule.
    exact
        Whether to compute with fractions instead of floats; not allowed if any job is adaptive.
    bound
        Whether to compute a lower bound on the mean job completion time of any policy with the same
        `round_length`, by `gsopt.schedule.bounds.mean_jct_bound`; or a bound that is already known.
    bound_evaluations
        The `evaluations` of `mean_jct_bound`.
    time_limit
        Wall-clock time in seconds, or a string such as ``30s``, after which the run is aborted. The time to
        compute the bound does not count. A policy is not interrupted while it computes an action.
    options
        If a workload is given, fields of `gsopt.scenario.scenario.Physics`, such as `overheads`. All other
        options are passed to the policy. If a policy's option has the name of a field or of a parameter above,
        set it with `functools.partial`.

    Raises
    ------
    InvalidInput
        The scenario or an argument is invalid, or an option does not exist.
    IllegalDecision
        A decision of the policy breaks a rule, or the run makes no progress (`gsopt.simulation.guard`).
    Contradiction
        The mean job completion time is below `bound`.
    TimeUp
        The time limit is reached before the run is complete.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from gsopt.scenario.scenario import Overhead
    >>> from heuristics.policies import las, srtf
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 1)]]
    >>> replay = simulate(Workload(jobs=jobs), srtf, cluster=1)
    >>> replay.completion_times, replay.metrics.gap
    ((5.0, 2.0), 0.0)
    >>> simulate(Workload(jobs=jobs), las, cluster=1, overheads=Overhead(start=1), quantum=2).completion_times
    (8.0, 3.0)
    """
    time_limit = checked_time_limit(time_limit)
    physics = {name: options.pop(name) for name in Physics.model_fields if name in options}
    _refuse_unknown(policy, options, "is neither a field of a scenario nor an option of")
    require_interval("round_length", round_length, or_none=True)
    scenario = Scenario.of(given, cluster, **physics)
    prove = partial(mean_jct_bound, evaluations=bound_evaluations, round_length=round_length)
    return replay(
        scenario,
        policy,
        round_length=round_length,
        placer=placer,
        record=record,
        exact=exact,
        bound=prove(scenario) if bound is True else None if bound is False else bound,
        budget=Budget(time_limit=time_limit),
        **options,
    )


def _refuse_unknown(policy: Policy, options: Mapping[str, Any], rule: str) -> None:
    try:
        parameters = signature(policy).parameters
    except ValueError:  # built into Python without a signature
        return
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    for name in options.keys() - parameters.keys():
        raise InvalidInput(name, shorten(options[name]), f"{rule} {name_of(policy)}")


def replay(
    scenario: Scenario,
    policy: Policy,
    *,
    round_length: float | None = None,
    placer: Placer = consolidated,
    record: bool = False,
    exact: bool = False,
    bound: "float | MeanBound | PriceBound | None" = None,
    fair_times: FairTimes | None = None,
    on_progress: Callable[[int], Any] | None = None,
    budget: Budget | None = None,
    **options: Any,
) -> Replay:
    """Run a policy on a scenario, and compare its mean job completion time with a known lower bound.

    `bound` is a proven bound, or None. `fair_times` are the finish times with which fairness is measured;
    if None, they are computed. `on_progress` is called from time to time with the number of completed jobs.
    The time limit of `budget` is checked at every event and action; when it is reached,
    `gsopt.core.errors.TimeUp` is raised. The other parameters are those of `simulate`.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from heuristics.policies import fifo
    >>> scenario = Scenario.of(Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)]), 1)
    >>> replay(scenario, fifo, round_length=60).metrics.mean_jct
    2.0
    """
    _refuse_unknown(policy, options, "is not an option of")
    require_interval("round_length", round_length, or_none=True)
    if exact:
        scenario.refuse_fractions()
    clock, own = scenario.clock, scenario.on_own_clock()
    engine = Engine(
        own,
        policy,
        options,
        round_length=round_length,
        record=record,
        exact=exact,
        placer=placer,
        budget=budget,
    )
    name = name_of(partial(policy, **options) if options else policy)
    try:
        engine.run(on_progress)
    except IllegalDecision as error:
        source = f"{name}, at {float(clock.instant(engine.now))} s"
        raise IllegalDecision(error.action, error.rule, source) from None
    if fair_times is None:
        fair_times = FairTimes.of(scenario, exact=exact)
    metrics = record_of(engine, name, known_bound(bound, scenario), fair_times, clock)
    return Replay(
        scenario=scenario,
        metrics=metrics,
        completion_times=metrics.completion_times,
        start_times=clock.all_nearest(engine.started),
        schedule=engine.schedule().timed(clock.instant) if record else None,
        decision_seconds=tuple(engine.decision_seconds),
    )
