"""``gsopt cluster``: a command that shows, converts or draws a cluster from a file in any supported format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, complete
from gsopt.cli.output import require_picture, say
from gsopt.core.drawing import save
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import require_writable, to_json
from gsopt.evaluation.listing import need
from gsopt.scenario.cluster.formats import Format, draw, outline, read_cluster, write_cluster
from gsopt.schedule.foreign import read_schedule


def cluster(
    file: Annotated[
        Path, typer.Argument(help="file: JSON, GraphML, node-link JSON, topology.conf, topograph or NetQ")
    ],
    gpus: Annotated[int | None, typer.Option(help="GPUs of each machine, if the file does not say")] = None,
    levels: Annotated[
        str | None, typer.Option(help="levels of switches below the root, such as leaf,spine")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="file to write the cluster to")] = None,
    format: Annotated[  # noqa: A002 - what everybody calls it
        str,
        typer.Option(
            help="format of --output; default: by its extension", autocompletion=complete(lambda: Format)
        ),
    ] = "",
    picture: Annotated[Path | None, typer.Option("--draw", help="file for a picture: PNG, SVG or PDF")] = None,
    schedule: Annotated[Path | None, typer.Option(help="schedule whose jobs are in the picture")] = None,
    at: Annotated[
        float | None, typer.Option(help="time of the picture in the schedule, in seconds; default: 0")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show, convert or draw a cluster.

    The output shows the levels and the tree of the cluster.
    """
    _require("--format", format or None, "--output", output)
    _require("--schedule", schedule, "--draw", picture)
    _require("--at", at, "--schedule", schedule)
    if output is not None:
        require_writable(output)
    if picture is not None:
        need("matplotlib", "--draw")
        require_picture(picture)
    notes: list[str] = []
    found = read_cluster(file, gpus=gpus, levels=None if levels is None else levels.split(","), notes=notes)
    if output is not None:
        lost: list[str] = []
        write_cluster(found, output, format=format, notes=lost)
        notes += [f"{output}: {note}" for note in lost]
    if picture is not None:
        held = {} if schedule is None else _placements(schedule, at or 0.0)
        save(draw(found, held, title=file.name).figure, picture)
    for note in notes:
        say(note, err=True)
    say(to_json(found) if as_json else outline(found), nl=not as_json)


def _require(option: str, given: object, other: str, needed: object) -> None:
    """Raise `InvalidInput` if an option is given without another one that it needs."""
    if given is not None and needed is None:
        raise InvalidInput(option, shorten(str(given)), f"needs {other}")


def _placements(schedule: Path, time: float) -> dict[str, Sequence[int]]:
    """Return the GPUs of each job that runs at the given time; raise `InvalidInput` if one is unplaced."""
    runs = [run for run in read_schedule(schedule).segments if run.start <= time < run.end]
    for run in runs:
        if not run.placement:
            rule = "must say on which GPUs the job runs, for a picture"
            raise InvalidInput("placement", shorten(run.job), rule, source=str(schedule))
    return {run.job: run.placement for run in runs}
