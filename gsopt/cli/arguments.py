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
Window = Annotated[str | None, typer.Option(help="part of the trace, such as 30d:31d or 0:3600")]
