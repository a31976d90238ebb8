"""Policies: several policies on one workload side by side."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rich.console import RenderableType

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.errors import kept_running, one_line
from gsopt.core.method import name_of
from gsopt.evaluation.catalogue import find_policy
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.tables import Column, lay_out, written
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.fairness import FairTimes
from gsopt.schedule.figures import FIGURES, FigureKind, Record
from gsopt.simulation.placer import Placer, consolidated
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import replay

#: A figure that is the same for all policies.
_BOUND = "lower_bound"


@dataclass(frozen=True, repr=False)
class PolicyComparison(Listing[Record]):
    """The figures of several policies on one workload; prints as a table, in notebooks too.

    Attributes
    ----------
    rows
        The figures of each policy.
    failed
        What the other policies raised, by name, in one line each.
    load
        The load that the workload offers; see `gsopt.Scenario.offered_load`.
    """

    rows: tuple[Record, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    load: float | None = None

    def table(self) -> RenderableType:
        """Return one line per policy, with the figures that are usual; the proven bound stands below."""
        shown = [each for each in FIGURES if each.rank and each.key != _BOUND]
        columns = [Column("policy", [row.policy for row in self.rows], right=False)]
        if any(row.completed < row.jobs for row in self.rows):
            columns.append(Column("jobs", [f"{row.completed:,} of {row.jobs:,}" for row in self.rows]))
        columns += [
            Column(
                each.label,
                [written(getattr(row, each.key), each.kind) for row in self.rows],
                rank=each.rank - 1,
            )
            for each in shown
        ]
        return lay_out(columns, notes=self._notes())

    def _notes(self) -> Iterator[str]:
        bounds = [(row.lower_bound, row.proof) for row in self.rows if row.lower_bound is not None]
        if bounds:
            least, proof = min(bounds)
            by = f", proven by {proof}" if proof else ""
            seconds = written(least, FigureKind.SECONDS)
            load = "" if self.load is None else f"; offered load {self.load:.3g}"
            yield f"times in s{load}; gap to the lower bound of {seconds} s{by}"
        for name, line in self.failed.items():
            yield f"{name} failed: {line}"

    def records(self) -> list[dict[str, Any]]:
        """Return every figure of every policy, as plain JSON types."""
        return [{"policy": row.policy, **row.as_dict()} for row in self.rows]


def compare_policies(
    given: Workload | Scenario,
    policies: Iterable[Policy | str],
    *,
    cluster: Cluster | int | None = None,
    round_length: float | None = None,
    placer: Placer = consolidated,
    time_limit: TimeLimit = None,
    **physics: Any,
) -> PolicyComparison:
    """Simulate a workload under several policies, all with their default options; as `simulate` otherwise.

    Policies are given as callables or by name. Use `functools.partial` to set a policy's options. Each has the
    time limit for itself. `physics` is any field of `gsopt.scenario.scenario.Physics`.

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
        bound=mean_jct_bound(scenario, round_length=round_length),
        fair_times=FairTimes.of(scenario),
    )
    rows, failed = [], {}
    for policy in [find_policy(each) for each in policies]:
        try:
            with kept_running(name_of(policy)):
                rows.append(run(policy, budget=Budget(time_limit=time_limit)).metrics)
        except Exception as error:  # noqa: BLE001 - it may be anybody's policy; the other rows do not depend on it
            failed[name_of(policy)] = one_line(error)
    return PolicyComparison(tuple(rows), failed, scenario.offered_load)
