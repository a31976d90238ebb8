"""``gsopt simulate``: a trace under online policies."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gsopt import simulation
from gsopt.cli.arguments import ClusterFile, GpuCount, Json, Reader, Window
from gsopt.cli.exits import Exit
from gsopt.cli.output import print_policies
from gsopt.cli.traces import find_policies, read_scenario, replay_policies
from gsopt.errors import InvalidInput


class Picture(StrEnum):
    """Format of pictures."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


def simulate(
    trace: Annotated[str, typer.Argument(help="trace file or folder; without --reader a workload as JSON")],
    policy: Annotated[
        list[str] | None,
        typer.Option(help="policy, by name or as module:function; may be repeated; all when left out"),
    ] = None,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    window: Window = None,
    sample: Annotated[int | None, typer.Option(help="number of jobs to draw from the trace")] = None,
    seed: Annotated[int, typer.Option(help="seed of the draw, and of policies that draw at random")] = 0,
    round_length: Annotated[
        float | None, typer.Option(help="seconds between decisions; events if not given")
    ] = None,
    issues: Annotated[
        bool, typer.Option("--issues", help="list every row that was dropped or repaired")
    ] = False,
    plots: Annotated[
        Path | None,
        typer.Option(help="folder for Gantt charts with the queue, job charts, GPUs in use and JCT"),
    ] = None,
    plot_format: Annotated[Picture, typer.Option(help="format of the pictures")] = Picture.PNG,
    schedules: Annotated[Path | None, typer.Option(help="folder for the schedules, one CSV per policy")] = None,
    as_json: Json = False,
) -> None:
    """Replay a trace under online policies, beside a proven bound on every policy."""
    policies = find_policies(policy, "--policy", seed)
    scenario = read_scenario(
        trace, reader, gpus, cluster, window=window, sample=sample, seed=seed, list_issues=issues
    )
    replays = replay_policies(scenario, policies, round_length, record=bool(plots or schedules))
    figures = [replay.metrics for replay in replays]
    print_policies(figures, as_json=as_json, one=len(figures) == 1)
    _save_schedules(replays, schedules)
    _save_plots(replays, plots, plot_format)
    if len(replays) < len(policies):
        raise typer.Exit(Exit.FAILED)


def _save_schedules(replays: Sequence[simulation.Replay], folder: Path | None) -> None:
    if folder is None:
        return
    with _writing(folder):
        for replay in replays:
            if replay.schedule is not None:
                (folder / f"{replay.metrics.policy}.csv").write_text(replay.schedule.to_csv(), encoding="utf-8")


def _save_plots(replays: Sequence[simulation.Replay], folder: Path | None, picture: Picture) -> None:
    if folder is None:
        return
    from gsopt.simulation import plots

    with _writing(folder):
        plots.save(replays, folder, ending=f".{picture}")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise InvalidInput(str(folder), "", "", f"cannot be written: {error.strerror}") from None
