"""Judge: anybody's schedule, with what is proven of every schedule beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gsopt.clock import clock_error
from gsopt.cluster import Cluster
from gsopt.errors import Contradiction, InvalidInput, shorten
from gsopt.job import Workload
from gsopt.problem import Problem
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import plain, relative_gap
from gsopt.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.foreign import read_schedule
from gsopt.schedule.judge import Verdict
from gsopt.schedule.judge import judge as judge_segments
from gsopt.simulation.metrics import mean_jct_bound
from gsopt.simulation.run import scenario_of

#: The figures that are shown, with what they are called.
_FIGURES = {
    "mean_jct": "mean job completion time (s)",
    "p99_jct": "99th percentile of job completion times (s)",
    "makespan": "makespan (s)",
    "mean_queueing": "mean time without GPUs (s)",
    "utilisation": "GPUs in use",
    "unfair_fraction": "unfair fraction",
    "worst_fairness": "worst finish-time fairness",
    "preemptions": "preemptions",
    "resizes": "resizes",
}

#: Broken rules that are shown of many.
_SHOWN = 10


@dataclass(frozen=True, repr=False)
class Judgement(Verdict):
    """What the judge found, beside a proven bound; prints as a list of figures.

    Attributes
    ----------
    bound
        Mean job completion time that no schedule goes below; None where there is none, or a rule is broken.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> from gsopt.schedule import Segment
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> found = judge(Schedule((Segment("a", 1, 3, 1),)), workload, cluster=2)
    >>> found.legal, found.mean_jct, found.bound, found.worst_fairness
    (True, 3.0, 2.0, 3.0)
    """

    bound: float | None = None

    @property
    def legal(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations

    @property
    def gap(self) -> float | None:
        """How much worse the mean job completion time is than the best possible, at most."""
        return None if self.bound is None else relative_gap(self.mean_jct, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Give the figures as plain JSON types."""
        figures = {name: plain(getattr(self, name)) for name in _FIGURES}
        done = sum(time is not None for time in self.completion_times)
        return {
            "legal": self.legal,
            "violations": list(self.violations),
            "jobs": len(self.completion_times),
            "completed": done,
            **figures,
            "bound": self.bound,
            "gap": self.gap,
        }

    def __str__(self) -> str:
        lines = [f"violation: {line}" for line in self.violations[:_SHOWN]]
        if len(self.violations) > _SHOWN:
            lines.append(f"and {len(self.violations) - _SHOWN:,} more violations")
        done = sum(time is not None for time in self.completion_times)
        counted = f"{done:,} of {len(self.completion_times):,} jobs complete"
        lines.append(f"{'legal' if self.legal else 'not legal'}, {counted}")
        shown: dict[str, Any] = {label: getattr(self, name) for name, label in _FIGURES.items()}
        shown |= {"proven bound on the mean (s)": self.bound, "gap to it": self.gap}
        width = max(map(len, shown))
        return "\n".join([*lines, *(f"  {label:<{width}}  {_shown(value)}" for label, value in shown.items())])

    __repr__ = __str__


def judge(
    schedule: Any,
    given: Scenario | Scheduling | Workload,
    *,
    cluster: Cluster | int | None = None,
    columns: Mapping[str, str] | None = None,
    time_unit: str = "s",
    origin: Any = 0,
    preemptive: bool = True,
    exact: bool = False,
    complete: bool = True,
) -> Judgement:
    """Judge anybody's schedule: broken rules, figures, and the distance to what no schedule can beat.

    Parameters
    ----------
    schedule
        A `Schedule`, a solution of `Scheduling`, a CSV or JSON file, a data frame, or rows as mappings.
    given
        What was to be scheduled: a scenario, a problem, or a workload, whose `cluster` is then given too.
    cluster
        The GPUs of a workload, or their number.
    columns, time_unit, origin, preemptive
        How a file or data frame is to be read, see `gsopt.read_schedule`.
    exact
        Compute in fractions and excuse no rounding.
    complete
        Whether every job has to complete.

    Raises
    ------
    InvalidInput
        The schedule cannot be read, or what is given is nothing that is scheduled over time.
    Contradiction
        A legal schedule is better than the proven bound: one of the two is wrong.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 2)]]
    >>> runs = [("a", 0, 4, 1.0), ("b", 4, 6, 1.0)]
    >>> rows = [dict(zip(("job_id", "start", "end", "gpus"), run)) for run in runs]
    >>> found = judge(rows, Workload(jobs=jobs), cluster=1, columns={"job_id": "job"})
    >>> found.violations, found.mean_jct, found.bound
    ((), 5.0, 4.0)
    >>> judge(rows[:1], Workload(jobs=jobs), cluster=1, columns={"job_id": "job"}).violations
    ("job 'b' does not complete: 0.0 s of 2.0 s of work are done",)
    """
    scenario = _scenario(given, cluster)
    if isinstance(schedule, SchedulingSolution):
        schedule = schedule.schedule
    if not isinstance(schedule, Schedule):
        schedule = read_schedule(
            schedule, columns=columns, time_unit=time_unit, origin=origin, preemptive=preemptive
        )
    verdict = judge_segments(schedule, scenario, exact=exact, complete=complete)
    found = {field.name: getattr(verdict, field.name) for field in fields(verdict)}
    if isinstance(given, Scheduling) and not verdict.violations and given.fairness is not None:
        found["violations"] = tuple(given.violations(SchedulingSolution.of(schedule)))
    bound = None
    if not found["violations"] and verdict.jct and None not in verdict.completion_times:
        bound = _bound(scenario, verdict)
    return Judgement(**found, bound=bound)


def _scenario(given: Any, cluster: Cluster | int | None) -> Scenario:
    if isinstance(given, Workload):
        if cluster is None:
            raise InvalidInput("", "cluster", "", "is required: the GPUs, or their number")
        return scenario_of(given, cluster)
    if cluster is not None:
        raise InvalidInput("", "cluster", shorten(cluster), "belongs to a workload; what is given has one")
    if isinstance(given, Scheduling):
        return given.scenario
    if isinstance(given, Scenario):
        return given
    rule = "must be a scenario, a scheduling problem, or a workload with its cluster"
    if isinstance(given, Problem):
        rule += "; problem.violations(solution) judges solutions of other decisions"
    raise InvalidInput("", "given", f"a {type(given).__name__}", rule)


def _bound(scenario: Scenario, verdict: Verdict) -> float | None:
    """Bound the mean job completion time; what the judge excuses may bring a schedule a little below it."""
    bound, mean = mean_jct_bound(scenario), verdict.mean_jct
    if bound is None or bound <= mean:
        return bound
    ends = zip(verdict.completion_times, verdict.jct, strict=True)
    if bound - mean > sum(clock_error(end, span) for end, span in ends):
        raise Contradiction(f"the mean job completion time {plain(mean)} is below the proven bound {bound}")
    return float(mean)


def _shown(value: Any) -> str:
    simple = plain(value)
    if simple is None:
        return "-"
    return f"{simple:,}" if isinstance(simple, int) else f"{simple:,.6g}"
