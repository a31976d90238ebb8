"""Policies: several policies on one workload side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from gsopt.cluster import Cluster
from gsopt.errors import one_line
from gsopt.job import Workload
from gsopt.method import name_of
from gsopt.scenario import CapacityChange, Overhead
from gsopt.schedule.fairness import FairTimes
from gsopt.schedule.figures import Record
from gsopt.simulation.placer import Placer, consolidated
from gsopt.simulation.policy import Policy
from gsopt.simulation.record import mean_jct_bound
from gsopt.simulation.run import replay, scenario_of
from gsopt.speed import Speed
from gsopt.studies.catalogue import find_policy
from gsopt.studies.tables import html_of, text_of

#: Seconds.
_DAY = 86_400


@dataclass(frozen=True, repr=False)
class PolicyComparison(Sequence[Record]):
    """The figures of several policies on one workload; prints as a table, in notebooks too.

    Attributes
    ----------
    rows
        The figures of each policy.
    failed
        What the other policies raised, by name, in one line each.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> [row.gap for row in compare_policies(workload, [fifo], cluster=1)]
    [0.0]
    """

    rows: tuple[Record, ...]
    failed: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.rows)

    def table(self) -> Table:
        """Give one line per policy; times in seconds."""
        table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
        for name in (
            "policy",
            "jobs",
            "mean JCT",
            "p99 JCT",
            "makespan",
            "queueing",
            "in use",
            "unfair",
            "preemptions",
        ):
            table.add_column(name, justify="left" if name == "policy" else "right")
        table.add_column("proven bound", justify="right")
        table.add_column("gap", justify="right")
        for row in self.rows:
            seconds = [row.mean_jct, row.p99_jct, row.makespan, row.mean_queueing]
            table.add_row(
                escape(row.policy),
                f"{row.completed:,}" if row.completed == row.jobs else f"{row.completed:,} of {row.jobs:,}",
                *map(_seconds, seconds),
                *("-" if share is None else f"{share:.1%}" for share in (row.utilisation, row.unfair_fraction)),
                f"{row.preemptions:,}",
                _seconds(row.lower_bound),
                "-" if row.gap is None else f"{row.gap:.1%}",
            )
        if self.failed:
            table.caption = "\n".join(escape(f"{name} failed: {line}") for name, line in self.failed.items())
            table.caption_justify = "left"
        return table

    def __str__(self) -> str:
        return text_of(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self.table())

    def to_frame(self) -> Any:
        """Give the figures as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame([{"policy": row.policy, **row.as_dict()} for row in self.rows])


def _seconds(value: float | None) -> str:
    """Write seconds; beyond a day a tenth of one says nothing."""
    return "-" if value is None else f"{value:,.{0 if value >= _DAY else 1}f}"


def compare_policies(
    workload: Workload,
    policies: Iterable[Policy | str],
    *,
    cluster: Cluster | int,
    speed: Speed | None = None,
    overhead: Overhead | Mapping[str, Overhead] | None = None,
    share_limit: int = 1,
    capacity_changes: Sequence[CapacityChange] = (),
    round_length: float | None = None,
    placer: Placer = consolidated,
) -> PolicyComparison:
    """Simulate a workload under several policies, all with their default options; as `simulate` otherwise.

    Policies are given as callables or by name. Use `functools.partial` to set a policy's options.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> from heuristics.policies import sjf
    >>> jobs = [Job(name=str(i), release_date=0, duration=3 - i, gpus=1) for i in range(3)]
    >>> [(row.policy, row.mean_jct) for row in compare_policies(Workload(jobs=jobs), ["fifo", sjf], cluster=1)]
    [('fifo', 4.666666666666667), ('sjf', 3.3333333333333335)]
    """
    scenario = scenario_of(
        workload,
        cluster,
        speed=speed,
        overhead=overhead,
        share_limit=share_limit,
        capacity_changes=capacity_changes,
    )
    run = partial(
        replay,
        scenario,
        round_length=round_length,
        placer=placer,
        bound=mean_jct_bound(scenario),
        fair_times=FairTimes.of(scenario.workload, scenario.cluster.gpus),
    )
    rows, failed = [], {}
    for policy in [find_policy(each) for each in policies]:
        try:
            rows.append(run(policy).metrics)
        except Exception as error:  # noqa: BLE001 - it may be anybody's policy; the other rows do not depend on it
            failed[name_of(policy)] = one_line(error)
    return PolicyComparison(tuple(rows), failed)
