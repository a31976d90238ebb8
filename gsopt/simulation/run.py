"""Replay: simulate a workload under a policy."""

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
from gsopt.simulation.policy import Policy
from gsopt.simulation.record import record_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gsopt.schedule.bounds.prices import PriceBound


@dataclass(frozen=True, repr=False)
class Replay:
    """One simulated run.

    Attributes
    ----------
    scenario
        What was given.
    metrics
        What ran by the simulator's own books, with the figures.
    completion_times
        Of every job by number, in seconds on the clock of the workload; None for a job that did not complete.
        They are rounded to floats, unlike `jct`.
    start_times
        First start of every job, likewise.
    schedule
        What ran when, in seconds on the clock of the workload; None unless recorded. A time is a fraction where
        no float says it, as late dates can be.
    decision_seconds
        How long each decision took on the wall; what runs are compared by leaves it out.

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
        """Return a short summary, as the full data would be a line as long as the workload."""
        found = self.metrics
        said = f"<Replay: {found.completed:,} of {found.jobs:,} jobs complete"
        if found.completed:
            said += f", mean JCT {_in_unit(found.mean_jct)}, makespan {_in_unit(found.makespan)}"
        return f"{said}>"

    @property
    def jct(self) -> tuple[Any, ...]:
        """Job completion times of the completed jobs, by number."""
        return self.metrics.jct

    def plot(self, *, colour: str = "slowdown") -> "Figure":
        """Draw what ran when, GPU by GPU, with the queue below it.

        Parameters
        ----------
        colour
            What the colours of jobs mean, as in `gsopt.simulation.plots.gantt`.

        Raises
        ------
        InvalidInput
            The run was not recorded, or matplotlib is not installed.

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
    cluster: Cluster | int | None = None,
    round_length: float | None = None,
    placer: Placer = consolidated,
    record: bool = False,
    exact: bool = False,
    bound: "bool | float | MeanBound | PriceBound" = True,
    time_limit: TimeLimit = None,
    **options: Any,
) -> Replay:
    """Simulate a workload on a cluster under a policy, event by event.

    Parameters
    ----------
    given
        The jobs, or a whole scenario.
    policy
        What decides: any callable that makes a decider; for `gsopt.simulate` also a name of
        `heuristics.policies`, or ``package.module:function``.
    cluster
        The GPUs of a workload, or their number.
    round_length
        Seconds between decisions, at least 1e-6, the first of them where the clock of the scenario begins; at
        every event when None. Rounds before the next event or wake are skipped while every job runs or none
        does.
    placer
        Where jobs go when the policy gives numbers of GPUs only.
    record
        Whether to keep the schedule.
    exact
        Whether to compute in fractions instead of floats.
    bound
        Whether to bound the mean job completion time of every policy with these rounds
        (`gsopt.schedule.bounds.mean_jct_bound`), or a bound that is known.
    time_limit
        Seconds on the wall after which the run is given up, or text such as ``30s``; the bound, which is
        computed before, takes none of them. A decision that goes on is not cut short.
    options
        Beside a workload every field of `gsopt.scenario.scenario.Physics`, such as `overheads`, `share_limit`
        and `capacity_changes`; all others are the policy's own options. Where the two share a name, give the
        policy's by `functools.partial`.

    Raises
    ------
    InvalidInput
        The scenario breaks a rule, such as a job that fits in no way, or there is no such option.
    IllegalDecision
        The policy decides what the rules forbid, or makes no progress (`gsopt.simulation.guard`).
    TimeUp
        The time limit is over before the run.

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
    _refuse_unknown(policy, options)
    require_interval("round_length", round_length, or_none=True)
    scenario = Scenario.of(given, cluster, **physics)
    proven = mean_jct_bound(scenario, round_length=round_length) if bound is True else None
    return replay(
        scenario,
        policy,
        round_length=round_length,
        placer=placer,
        record=record,
        exact=exact,
        bound=proven if bound is True else None if bound is False else bound,
        budget=Budget(time_limit=time_limit),
        **options,
    )


def _refuse_unknown(policy: Policy, options: Mapping[str, Any]) -> None:
    try:
        parameters = signature(policy).parameters
    except ValueError:  # built into Python without a signature
        return
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    for name in options.keys() - parameters.keys():
        rule = f"is no field of a scenario, and no option of {name_of(policy)}"
        raise InvalidInput(name, shorten(options[name]), rule)


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
    """Run a policy on a scenario, where `bound` is a proven bound on the mean job completion time, if known.

    `fair_times` are those of the references of fairness, computed when None. `on_progress` is called with the
    number of completed jobs, now and then. The time limit of a `budget` is looked at at every event, action and
    decision; `gsopt.core.errors.TimeUp` is raised when it is over. The other parameters are those of
    `simulate`.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from heuristics.policies import fifo
    >>> scenario = Scenario.of(Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)]), 1)
    >>> replay(scenario, fifo, round_length=60).metrics.mean_jct
    2.0
    """
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
    engine.run(on_progress)
    if fair_times is None:
        fair_times = FairTimes.of(scenario, exact=exact)
    name = name_of(partial(policy, **options) if options else policy)
    metrics = record_of(engine, name, known_bound(bound, scenario), fair_times, clock)
    return Replay(
        scenario=scenario,
        metrics=metrics,
        completion_times=metrics.completion_times,
        start_times=clock.all_nearest(engine.started),
        schedule=engine.schedule().timed(clock.instant) if record else None,
        decision_seconds=tuple(engine.decision_seconds),
    )
