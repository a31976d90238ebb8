"""``gsopt simulate``: a command that simulates online policies on a trace."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gsopt import simulation
from gsopt.cli.arguments import (
    BoundEvaluations,
    Busiest,
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Json,
    Overheads,
    Policies,
    Reader,
    RoundLength,
    SettingOption,
    ShareLimit,
    Trace,
    Window,
    time_limit_option,
)
from gsopt.cli.exits import Exit
from gsopt.cli.output import print_policies
from gsopt.cli.traces import find_policies, read_scenario, read_setting, replay_policies
from gsopt.core.drawing import Picture
from gsopt.core.files import file_name, require_folder, write_text
from gsopt.evaluation.listing import need


def simulate(
    trace: Trace,
    policy: Policies = None,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    window: Window = None,
    busiest: Busiest = None,
    sample: Annotated[int | None, typer.Option(help="number of jobs to draw from the trace")] = None,
    seed: Annotated[int, typer.Option(help="seed of the sample, and of policies that draw at random")] = 0,
    setting: SettingOption = None,
    overheads: Overheads = None,
    share_limit: ShareLimit = None,
    capacity_changes: CapacityChanges = None,
    round_length: RoundLength = None,
    bound_evaluations: BoundEvaluations = None,
    time_limit: Annotated[
        float | None, time_limit_option("time per policy, such as 30s or 2min; default: none")
    ] = None,
    issues: Annotated[
        bool, typer.Option("--issues", help="list every dropped or repaired row of the trace")
    ] = False,
    plots: Annotated[
        Path | None,
        typer.Option(help="folder for pictures: Gantt charts, queues, jobs, GPUs in use and JCT"),
    ] = None,
    plot_format: Annotated[Picture, typer.Option(help="format of the pictures")] = Picture.PNG,
    schedules: Annotated[Path | None, typer.Option(help="folder for the schedules, one CSV per policy")] = None,
    as_json: Json = False,
) -> None:
    """Simulate policies on a trace and prove a lower bound.

    No policy can have a mean job completion time below the bound.
    """
    policies = find_policies(policy, "--policy", seed)
    given = read_setting(
        setting,
        gpus=gpus,
        cluster=cluster,
        overheads=overheads,
        share_limit=share_limit,
        capacity_changes=capacity_changes,
        round_length=round_length,
    )
    if plots is not None:
        need("matplotlib", "--plots")
    for folder in filter(None, (plots, schedules)):
        require_folder(folder)
    scenario = read_scenario(
        trace, reader, given, window=window, busiest=busiest, sample=sample, seed=seed, list_issues=issues
    )
    replays = replay_policies(
        scenario,
        policies,
        given.round_length,
        bound_evaluations=bound_evaluations,
        record=bool(plots or schedules),
        time_limit=time_limit,
    )
    figures = [replay.metrics for replay in replays]
    print_policies(figures, as_json=as_json, one=len(figures) == 1)
    if schedules is not None:
        _save_schedules(replays, schedules)
    if plots is not None:
        from gsopt.simulation.plots import save

        save(replays, plots, ending=f".{plot_format}")
    if len(replays) < len(policies):
        raise typer.Exit(Exit.FAILED)


def _save_schedules(replays: Sequence[simulation.Replay], folder: Path) -> None:
    for replay in replays:
        if replay.schedule is not None:
            write_text(folder / f"{file_name(replay.metrics.policy)}.csv", replay.schedule.to_csv())
