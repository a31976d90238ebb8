"""Arguments: those that several commands have, each with its one line of help."""

from pathlib import Path
from typing import Annotated

import typer

InstanceArgument = Annotated[str, typer.Argument(help="instance file, or the name of a committed instance")]
TimeLimit = Annotated[float | None, typer.Option(help="seconds per method and instance")]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Word = Annotated[str, typer.Argument(help="a decision, such as reclaiming")]
Reader = Annotated[str | None, typer.Option(help="format of the trace, such as philly or swf")]
GpuCount = Annotated[int | None, typer.Option(help="number of GPUs of a plain cluster")]
ClusterFile = Annotated[Path | None, typer.Option(help="cluster file, instead of --gpus")]
Physics = Annotated[
    Path | None, typer.Option("--setting", help="file of cluster, speed, overheads and more, as in a study")
]
Overheads = Annotated[
    list[str] | None,
    typer.Option("--overhead", help="seconds lost, such as start=4,stop=2 or bert:resize=73; may be repeated"),
]
ShareLimit = Annotated[int | None, typer.Option(help="number of jobs that may hold one GPU at a time")]
CapacityChanges = Annotated[
    list[str] | None,
    typer.Option("--capacity-change", help="GPUs from a time on, such as 2h=48; may be repeated"),
]
RoundLength = Annotated[float | None, typer.Option(help="seconds between decisions; events if not given")]
Window = Annotated[str | None, typer.Option(help="part of the trace, such as 30d:31d or 0:3600")]
