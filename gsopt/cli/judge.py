"""``gsopt judge``: a command that judges a schedule from any source and compares it with a proven bound."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gsopt.cli.arguments import (
    Busiest,
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Json,
    Overheads,
    Reader,
    SettingOption,
    ShareLimit,
    Window,
)
from gsopt.cli.exits import Exit
from gsopt.cli.instances import read_instance
from gsopt.cli.output import say
from gsopt.cli.traces import option_of, read_scenario, read_setting
from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation.judge import judge as judge_schedule
from gsopt.problems.scheduling import Scheduling
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.foreign import read_schedule, read_workload


def judge(
    schedule: Annotated[str, typer.Argument(help="CSV or JSON file: when each job ran, and on how many GPUs")],
    trace: Annotated[str | None, typer.Option(help="trace, workload as JSON, or CSV file of the jobs")] = None,
    problem: Annotated[
        str | None, typer.Option(help="instead of --trace: a scheduling instance, by file or name")
    ] = None,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    setting: SettingOption = None,
    overheads: Overheads = None,
    share_limit: ShareLimit = None,
    capacity_changes: CapacityChanges = None,
    window: Window = None,
    busiest: Busiest = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="a column of the schedule and our name, such as job_id=job; may be repeated"),
    ] = None,
    trace_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="a column of a CSV trace and our name, such as submitted=release_date; may be repeated"
        ),
    ] = None,
    time_unit: Annotated[str, typer.Option(help="unit of times in CSV files: ms, s, min, h or d")] = "s",
    origin: Annotated[str, typer.Option(help="time or timestamp in CSV files that is second 0")] = "0",
    preemptive: Annotated[
        bool, typer.Option("--preemptive/--no-preemptive", help="whether jobs may be interrupted")
    ] = True,
    as_json: Json = False,
) -> None:
    """Judge a schedule from any source against a proven bound.

    Pass the jobs as --trace with --gpus, --cluster or --setting, or as --problem. The output shows the figures,
    the broken rules and the verdict.
    """
    given: Scenario | Scheduling
    physics: dict[str, Any] = {
        "gpus": gpus,
        "cluster": cluster,
        "overheads": overheads,
        "share_limit": share_limit,
        "capacity_changes": capacity_changes,
    }
    if problem is not None:
        beside = {
            "trace": trace,
            "reader": reader,
            "window": window,
            "busiest": busiest,
            "setting": setting,
            **physics,
        }
        given = _problem(problem, beside)
    elif trace is None:
        raise InvalidInput("--trace", "", "give either a trace, or a scheduling instance by --problem")
    elif reader is None and Path(trace).suffix.lower() == ".csv":
        ours, surroundings = _columns("--trace-columns", trace_columns), read_setting(setting, **physics)
        workload = read_workload(trace, columns=ours, time_unit=time_unit, origin=origin)
        given = surroundings.scenario(workload)
    else:
        given = read_scenario(trace, reader, read_setting(setting, **physics), window=window, busiest=busiest)
    found = judge_schedule(
        read_schedule(
            schedule,
            columns=_columns("--columns", columns),
            time_unit=time_unit,
            origin=origin,
            preemptive=preemptive,
        ),
        given,
    )
    say(json.dumps(found.as_dict()) if as_json else str(found))
    if not found.legal:
        raise typer.Exit(Exit.FAILED)


def _problem(name: str, beside: Mapping[str, object]) -> Scheduling:
    for key, value in beside.items():
        if value is not None:
            raise InvalidInput(option_of(key), shorten(str(value)), "must not be given together with --problem")
    instance = read_instance(name)
    if not isinstance(instance, Scheduling):
        rule = "must be an instance of scheduling; gsopt check judges solutions of other decisions"
        raise InvalidInput("--problem", shorten(name), rule)
    return instance


def _columns(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """Parse pairs of column names, written as ``theirs=ours``."""
    found: dict[str, str] = {}
    for text in given or ():
        theirs, equals, ours = text.rpartition("=")
        if not equals:
            raise InvalidInput(option, shorten(text), "must be their name and ours, such as job_id=job")
        found[theirs] = ours
    return found
