"""Judge: the function that checks a schedule from any source and compares it with a proven bound."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from rich.console import RenderableType

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.clock import clock_error
from gsopt.core.problem import Problem
from gsopt.evaluation.listing import Tabular
from gsopt.evaluation.tables import Column, figure_list, lay_out, percent
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.foreign import read_schedule
from gsopt.schedule.judge import ScheduleVerdict
from gsopt.schedule.judge import judge as judge_segments

#: Maximum number of broken rules shown below the table.
_SHOWN = 10


@dataclass(frozen=True, kw_only=True, repr=False)
class Judgement(ScheduleVerdict, Tabular):
    """The findings of the judge on one schedule.

    If the schedule is legal and completes every job, they include a proven bound.

    A judgement prints as a list of figures followed by the verdict.
    """

    @property
    def legal(self) -> bool:
        """Whether the schedule breaks no rule."""
        return not self.violations

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict, the broken rules and all figures as plain JSON types."""
        return {"legal": self.legal, "violations": list(self.violations), **super().as_dict()}

    def table(self) -> RenderableType:
        """Return a table with one line per figure."""
        return lay_out(self.columns(), notes=self.notes())

    def columns(self) -> list[Column]:
        """Return two columns: the names of the figures, and their values."""
        return figure_list(self)

    def notes(self) -> list[str]:
        """Return the first few broken rules and the verdict."""
        lines = [f"violation: {line}" for line in self.violations[:_SHOWN]]
        if len(self.violations) > _SHOWN:
            lines.append(f"and {len(self.violations) - _SHOWN:,} more violations")
        counted = f"{self.completed:,} of {self.jobs:,} jobs complete"
        by = f", gap {percent(self.gap)} to the bound proven by {self.proof}" if self.gap is not None else ""
        broken = "" if self.legal else f", {len(self.violations):,} violations"
        return [*lines, f"{'legal' if self.legal else 'not legal'}, {counted}{broken}{by}"]

    def records(self) -> list[dict[str, Any]]:
        """Return one row with the verdict, all figures and the number of violations, as plain JSON types."""
        return [{**self.as_dict(), "violations": len(self.violations)}]

    def __str__(self) -> str:
        names, values = (column.cells for column in self.columns())
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {value}" for name, value in zip(names, values, strict=True)]
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__


def judge(
    schedule: Any,
    given: Scenario | Scheduling | Workload,
    *,
    cluster: Cluster | int | str | None = None,
    columns: Mapping[str, str] | None = None,
    time_unit: str = "s",
    origin: Any = 0,
    preemptive: bool = True,
    exact: bool = False,
    complete: bool = True,
    **physics: Any,
) -> Judgement:
    """Judge a schedule from any source: find its broken rules, its figures, and its gap to a proven bound.

    The bound is on the mean job completion time. The gap to it is computed only if no rule is broken and every
    job completes.

    Parameters
    ----------
    schedule
        A `Schedule`, a solution of `Scheduling`, a CSV or JSON file, a data frame, or rows as mappings.
    given
        The input that was scheduled: a scenario, a scheduling problem, or a workload together with `cluster`.
    cluster
        The cluster of a workload, its number of GPUs, or equal racks such as ``4x8x8``.
    columns, time_unit, origin, preemptive
        Options for reading a file, data frame or rows; see `gsopt.read_schedule`.
    exact
        Whether to compute in exact fractions, without any tolerance for rounding errors.
    complete
        Whether a job that does not complete breaks a rule.
    physics
        For a workload, any fields of `gsopt.scenario.scenario.Physics`, such as `overheads`.

    Raises
    ------
    InvalidInput
        The schedule cannot be read, or `given` is none of the inputs listed above.
    Contradiction
        A legal schedule is better than the proven bound, so one of the two is wrong.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 2)]]
    >>> runs = [("a", 0, 4, 1.0), ("b", 4, 6, 1.0)]
    >>> rows = [dict(zip(("job_id", "start", "end", "gpus"), run)) for run in runs]
    >>> found = judge(rows, Workload(jobs=jobs), cluster=1, columns={"job_id": "job"})
    >>> found.violations, found.mean_jct, found.bound
    ((), 5.0, 4.0)
    >>> judge(rows[:1], Workload(jobs=jobs), cluster=1, columns={"job_id": "job"}).violations
    ("job 'b' does not complete: 0.0 s of 2.0 s of work are done",)
    """
    scenario = _scenario(given, cluster, physics)
    if isinstance(schedule, SchedulingSolution):
        schedule = schedule.schedule
    if not isinstance(schedule, Schedule):
        schedule = read_schedule(
            schedule, columns=columns, time_unit=time_unit, origin=origin, preemptive=preemptive
        )
    verdict = judge_segments(schedule, scenario, exact=exact, complete=complete)
    found = {field.name: getattr(verdict, field.name) for field in fields(verdict)}
    problem = given if isinstance(given, Scheduling) and not verdict.violations else None
    if problem is not None and (problem.fairness is not None or not problem.preemptive):
        found["violations"] = tuple(problem.violations(SchedulingSolution.of(schedule)))
    judgement = Judgement(**found)
    if judgement.violations:
        return judgement
    ends = zip((verdict.completion_times[job] for job in verdict.done), verdict.jct, strict=True)
    excused = sum(clock_error(end, span) for end, span in ends)
    bound = mean_jct_bound(scenario)
    return judgement if bound is None else judgement.held_against(bound.mean_jct, excused, proof=bound.proof)


def _scenario(given: Any, cluster: Cluster | int | str | None, physics: Mapping[str, Any]) -> Scenario:
    if isinstance(given, Scheduling):
        return Scenario.of(given.scenario, cluster, **physics)
    if not isinstance(given, Problem) and isinstance(getattr(given, "workload", given), Workload):
        return Scenario.of(given, cluster, **physics)
    rule = "must be a scenario, a scheduling problem, or a workload with its cluster"
    if isinstance(given, Problem):
        rule += "; problem.violations(solution) judges solutions of other decisions"
    raise InvalidInput("given", f"a {type(given).__name__}", rule)
