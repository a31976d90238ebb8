"""Traces that the command line names, and their replays."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError
from rich.progress import (
    Progress,
    TaskID,
)

from gsopt import simulation
from gsopt.cli.exits import Exit
from gsopt.cli.output import print_policies
from gsopt.cli.progress import show_progress
from gsopt.cluster import Cluster
from gsopt.errors import GsoptError, InvalidInput, one_line, shorten
from gsopt.files import read_data
from gsopt.job import Workload
from gsopt.method import accepts
from gsopt.scenario import Scenario
from gsopt.schedule.fairness import FairTimes
from gsopt.studies import catalogue
from gsopt.studies.window import window as read_window


def read_scenario(
    trace: str,
    reader: str | None,
    gpus: int | None,
    cluster: Path | None,
    *,
    window: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    list_issues: bool = False,
) -> Scenario:
    """Read a trace with its reader, or a workload file, onto the cluster that is asked for."""
    machines = _cluster(gpus, cluster)
    selection = {"window": None if window is None else read_window(window, "--window"), "sample": sample}
    workload = _workload(trace, reader, selection, machines.gpus, seed, list_issues=list_issues)
    return simulation.scenario_of(workload, machines)


def _cluster(gpus: int | None, file: Path | None) -> Cluster:
    if file is not None and gpus is None:
        return read_data(Cluster, file)
    if gpus is None or file is not None:
        raise InvalidInput("", "--gpus", "", "give either the number of GPUs or a --cluster file")
    try:
        return Cluster.plain(gpus)
    except ValidationError:
        raise InvalidInput("", "--gpus", str(gpus), "must be a number of GPUs from 1 to 10,000,000") from None


def _workload(
    trace: str,
    reader: str | None,
    selection: dict[str, Any],
    max_gpus: int,
    seed: int,
    *,
    list_issues: bool,
) -> Workload:
    if reader is None:
        for option, value in selection.items():
            if value is not None:
                raise InvalidInput("", f"--{option}", "", "selects from a trace, whose --reader is not given")
        return read_data(Workload, trace)
    known = catalogue.trace_readers()
    if reader not in known:
        raise InvalidInput("", "--reader", shorten(reader), f"must be one of {', '.join(known)}")
    reading = known[reader](trace, **selection, max_gpus=max_gpus, seed=seed)
    if reading.issues:
        counts = f"{len(reading.dropped):,} rows dropped, {len(reading.repaired):,} repaired"
        typer.echo(f"{trace}: {counts}" + ("" if list_issues else "; --issues lists them"), err=True)
    for issue in reading.issues if list_issues else ():
        typer.echo(str(issue), err=True)
    workload: Workload = reading.workload
    return workload


def find_policies(chosen: Sequence[str] | None, option: str, seed: int = 0) -> dict[str, simulation.Policy]:
    """Find policies by name, all when none is named; a seed other than 0 is given to those that draw."""
    policies = {name: catalogue.find_policy(name, field=option) for name in chosen or catalogue.policies()}
    drawing = [name for name in policies if seed and accepts(policies[name], "seed")]
    return policies | {name: partial(policies[name], seed=seed) for name in drawing}


def replay_policies(
    scenario: Scenario,
    policies: dict[str, simulation.Policy],
    round_length: float | None = None,
    *,
    record: bool = False,
) -> list[simulation.Replay]:
    """Simulate policies one by one, with progress; at Ctrl-C the finished ones are printed.

    One of several that raises an error is said on standard error and left out.
    """
    bound = simulation.mean_jct_bound(scenario)
    fair_times = FairTimes.of(scenario.workload, scenario.cluster.gpus)
    jobs = len(scenario.workload.jobs)
    found: list[simulation.Replay] = []
    try:
        with show_progress() as progress:
            for name, policy in policies.items():
                task = progress.add_task(name, total=jobs)
                try:
                    found.append(
                        simulation.replay(
                            scenario,
                            policy,
                            round_length=round_length,
                            record=record,
                            bound=bound,
                            fair_times=fair_times,
                            on_progress=partial(_show_completed, progress, task),
                        )
                    )
                except Exception as error:
                    if len(policies) == 1 and isinstance(error, GsoptError):
                        raise
                    typer.echo(f"gsopt: {name} failed: {one_line(error)}", err=True)
                progress.update(task, completed=jobs)
    except KeyboardInterrupt:
        print_policies([replay.metrics for replay in found])
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED) from None
    return found


def _show_completed(progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done)
