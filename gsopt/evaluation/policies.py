"""Policies: the comparison of several policies on one workload."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.errors import kept_running, one_line
from gsopt.core.method import name_of
from gsopt.evaluation.catalogue import find_policy, free_name
from gsopt.evaluation.listing import Listing, need
from gsopt.evaluation.tables import Column, TimeUnit, common_unit, figure_column, in_unit, lay_out
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.fairness import FairTimes
from gsopt.schedule.figures import FIGURES, FigureKind, Record
from gsopt.simulation.placer import Placer, consolidated
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The name of the lower bound among the figures; it is the same for all policies.
_BOUND = "lower_bound"

_SHOWN = [each for each in FIGURES if each.rank and each.key != _BOUND]


@dataclass(frozen=True, repr=False)
class PolicyComparison(Listing[Record]):
    """The figures of several policies on one workload.

    A comparison prints as a table and is shown as one in notebooks.

    Attributes
    ----------
    rows
        The figures, one record per policy.
    failed
        One-line error messages of the policies that failed, keyed by policy name.
    load
        Offered load of the workload; see `gsopt.Scenario.offered_load`.
    """

    rows: tuple[Record, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    load: float | None = None

    def table(self) -> RenderableType:
        """Return a table with one line per policy, and the proven bound below."""
        return lay_out(self.columns(), notes=self.notes())

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        complete = all(row.completed == row.jobs for row in self.rows)  # else means are over different jobs
        columns = [Column("policy", [row.policy for row in self.rows], right=False)]
        if not complete:
            columns.append(Column("jobs", [f"{row.completed:,} of {row.jobs:,}" for row in self.rows]))
        unit = self._unit()
        for each in _SHOWN:
            best = complete and (each.kind is FigureKind.SECONDS or each.key == "gap")
            values = [getattr(row, each.key) for row in self.rows]
            column = figure_column(each.label, values, each.kind, unit=unit, rank=each.rank - 1, best=best)
            columns.append(column)
        return columns

    def _unit(self) -> TimeUnit:
        """Return the unit of all times in the table."""
        times = [each.key for each in _SHOWN if each.kind is FigureKind.SECONDS]
        return common_unit(getattr(row, key) for row in self.rows for key in times)

    def notes(self) -> list[str]:
        """Return notes on the load, on the bound and its proof, and on policies that failed."""
        bounds = [(row.lower_bound, row.proof) for row in self.rows if row.lower_bound is not None]
        lines = []
        if bounds:
            least, proof = min(bounds)
            by = f", proven by {proof}" if proof else ""
            load = "" if self.load is None else f"offered load {self.load:.3g}; "
            lines.append(f"{load}gap to the lower bound of {in_unit(least, self._unit())}{by}")
        return lines + [f"{name} failed: {line}" for name, line in self.failed.items()]

    def records(self) -> list[dict[str, Any]]:
        """Return all figures of every policy, as plain JSON types."""
        return [{"policy": row.policy, **row.as_dict()} for row in self.rows]

    def plot(self) -> "Axes":
        """Plot the mean job completion time of each policy, with the proven bound and the gap to it.

        Raises
        ------
        InvalidInput
            matplotlib is not installed.
        """
        need("matplotlib", "plot")
        from gsopt.evaluation.plots import mean_times

        bounds = [row.lower_bound for row in self.rows if row.lower_bound is not None]
        rows = [
            (row.policy, None if row.mean_jct is None else float(row.mean_jct), row.gap) for row in self.rows
        ]
        bound = float(min(bounds)) if bounds else None
        return mean_times(rows, bound, tuple(self.failed), self._unit()[1])


def compare_policies(
    given: Workload | Scenario,
    policies: Policy | str | Iterable[Policy | str],
    *,
    cluster: Cluster | int | str | None = None,
    round_length: float | None = None,
    placer: Placer = consolidated,
    bound_evaluations: int | None = None,
    time_limit: TimeLimit = None,
    on_row: Callable[[Record], Any] | None = None,
    **physics: Any,
) -> PolicyComparison:
    """Simulate a workload under several policies, and compare their figures.

    Policies are given as callables or by name, and run with their default options; to set other options, use
    `functools.partial`. The time limit applies to each policy separately. A policy that raises an error or
    exceeds the limit is listed in the attribute `failed` of the result, and the others still run. `on_row` is
    called with the figures of each policy as soon as they are known. `physics` may contain any fields of
    `gsopt.scenario.scenario.Physics`. All other parameters are those of `gsopt.simulate`.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from heuristics.policies import sjf
    >>> jobs = [Job(name=str(i), release_date=0, duration=3 - i, gpus=1) for i in range(3)]
    >>> [(row.policy, row.mean_jct) for row in compare_policies(Workload(jobs=jobs), ["fifo", sjf], cluster=1)]
    [('fifo', 4.666666666666667), ('sjf', 3.3333333333333335)]
    """
    time_limit = checked_time_limit(time_limit)
    scenario = Scenario.of(given, cluster, **physics)
    run = partial(
        replay,
        scenario,
        round_length=round_length,
        placer=placer,
        bound=mean_jct_bound(scenario, evaluations=bound_evaluations, round_length=round_length),
        fair_times=FairTimes.of(scenario),
    )
    named: dict[str, Policy] = {}
    for policy in [policies] if isinstance(policies, str) or callable(policies) else policies:
        found = find_policy(policy)
        named[free_name(name_of(found), named)] = found
    rows, failed = [], {}
    for name, each in named.items():
        try:
            with kept_running(name):
                row = replace(run(each, budget=Budget(time_limit=time_limit)).metrics, policy=name)
        except Exception as error:  # noqa: BLE001 - it may be anybody's policy; the other rows do not depend on it
            failed[name] = one_line(error)
            continue
        rows.append(row)
        if on_row is not None:
            on_row(row)
    return PolicyComparison(tuple(rows), failed, scenario.offered_load)
