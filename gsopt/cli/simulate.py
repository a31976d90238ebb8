"""``gsopt simulate``: a trace under online policies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gsopt import simulation
from gsopt.cli.arguments import (
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Json,
    Overheads,
    Physics,
    Reader,
    RoundLength,
    ShareLimit,
    Window,
)
from gsopt.cli.exits import Exit
from gsopt.cli.output import print_policies, require_package, save_figure
from gsopt.cli.traces import find_policies, read_scenario, read_setting, replay_policies
from gsopt.errors import escape
from gsopt.files import require_folder, write_text

#: Characters of a file's name, of which file systems allow little more.
_LONGEST_NAME = 200


def simulate(
    trace: Annotated[str, typer.Argument(help="trace file or folder; without --reader a workload as JSON")],
    policy: Annotated[
        list[str] | None,
        typer.Option(help="policy, such as srtf, tiresias:promote=2 or module:function; may be repeated"),
    ] = None,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    window: Window = None,
    sample: Annotated[int | None, typer.Option(help="number of jobs to draw from the trace")] = None,
    seed: Annotated[int, typer.Option(help="seed of the draw, and of policies that draw at random")] = 0,
    setting: Physics = None,
    overhead: Overheads = None,
    share_limit: ShareLimit = None,
    capacity_change: CapacityChanges = None,
    round_length: RoundLength = None,
    issues: Annotated[
        bool, typer.Option("--issues", help="list every row that was dropped or repaired")
    ] = False,
    plots: Annotated[Path | None, typer.Option(help="folder for Gantt chart, GPUs in use and JCT")] = None,
    schedules: Annotated[Path | None, typer.Option(help="folder for the schedules, one CSV per policy")] = None,
    as_json: Json = False,
) -> None:
    """Replay a trace under online policies, beside a proven bound on every policy."""
    policies = find_policies(policy, "--policy", seed)
    given = read_setting(
        setting,
        gpus=gpus,
        cluster=cluster,
        overheads=overhead,
        share_limit=share_limit,
        capacity_changes=capacity_change,
        round_length=round_length,
    )
    if plots is not None:
        require_package("matplotlib", "--plots")
    for folder in filter(None, (plots, schedules)):
        require_folder(folder)
    scenario = read_scenario(trace, reader, given, window=window, sample=sample, seed=seed, list_issues=issues)
    replays = replay_policies(scenario, policies, given.round_length, record=bool(plots or schedules))
    figures = [replay.metrics for replay in replays]
    print_policies(figures, as_json=as_json, one=len(figures) == 1)
    if schedules is not None:
        _save_schedules(replays, schedules)
    if plots is not None:
        _save_plots(replays, plots)
    if len(replays) < len(policies):
        raise typer.Exit(Exit.FAILED)


def _save_schedules(replays: Sequence[simulation.Replay], folder: Path) -> None:
    for replay in replays:
        if replay.schedule is not None:
            write_text(folder / f"{_file_name(replay)}.csv", replay.schedule.to_csv())


def _save_plots(replays: Sequence[simulation.Replay], folder: Path) -> None:
    from gsopt.simulation import plots

    for replay in replays:
        if replay.schedule is not None:
            for kind, draw in (("gantt", plots.gantt), ("gpus", plots.gpus_in_use)):
                save_figure(
                    draw(replay.schedule, replay.scenario).figure, folder / f"{kind}-{_file_name(replay)}.png"
                )
    save_figure(plots.jct_distribution(replays).figure, folder / "jct.png")


def _file_name(replay: simulation.Replay) -> str:
    """Name files after the policy; its options may hold any text."""
    return escape(replay.metrics.policy).replace("/", "_")[:_LONGEST_NAME]
