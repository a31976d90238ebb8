"""Snapshots: options and functions that commands use to read a snapshot of a running cluster."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import complete
from gsopt.core.errors import InvalidInput, escape, shorten
from gsopt.snapshots import Snapshot, Source, read_snapshot
from gsopt.snapshots.field import Field

Files = Annotated[
    list[Path],
    typer.Argument(
        help="output of kubectl get -o json or -o yaml, or of scontrol, squeue and sinfo with --json, and "
        "topology.conf; or a snapshot"
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        help="a network level and its node label, such as rack=example.com/rack, in place of all built-in "
        "labels; may be repeated, the outermost first",
    ),
]
GpuResources = Annotated[
    list[str] | None,
    typer.Option("--gpu-resource", help="a resource that counts whole GPUs; may be repeated"),
]
Now = Annotated[
    str | None,
    typer.Option(help="time of the files, such as 2026-01-31T12:00:00Z; default: the latest time in them"),
]
Among = Annotated[
    list[str] | None,
    typer.Option(
        help="label (KEY or KEY=VALUE) or partition of the nodes that may be returned; may be repeated"
    ),
]
SourceOption = Annotated[
    str,
    typer.Option(
        "--source",
        help="kubernetes or slurm; default: as in the files",
        autocompletion=complete(lambda: Source),
    ),
]


def read(
    files: Sequence[Path],
    source: str = "",
    levels: Sequence[str] | None = None,
    gpu_resources: Sequence[str] | None = None,
    now: str | None = None,
) -> Snapshot:
    """Read a snapshot of a cluster, and report ignored items on standard error."""
    notes: list[str] = []
    found = read_snapshot(
        *files,
        source=source,
        levels=None if levels is None else dict(map(_level, levels)),
        gpu_resources=gpu_resources or (),
        time=None if now is None else Field("--now", now).time(),
        notes=notes,
    )
    for note in notes:
        typer.echo(escape(note), err=True)
    return found


def counted(number: float, word: str) -> str:
    """Return a count with its noun in the singular or plural."""
    return f"{number:,.10g} {word}" if number == 1 else f"{number:,.10g} {word}s"


def moment(time: float | None) -> str:
    """Format a Unix timestamp like ``2026-01-31T12:00:00Z``, or return ``unknown`` for None."""
    return "unknown" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _level(text: str) -> tuple[str, str]:
    level, _, label = text.partition("=")
    if not level or not label:
        rule = "must be a level and a label, such as rack=example.com/rack"
        raise InvalidInput("--level", shorten(text), rule)
    return level, label
