"""``gsopt export``: a command that writes the integer program of an instance to a file for any solver."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import InstanceArgument
from gsopt.cli.instances import read_instance
from gsopt.cli.output import say


def export(
    instance: InstanceArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="file, which ends in .mps or .lp")],
    method: Annotated[
        str | None,
        typer.Option(help="a formulation, such as milp; default: the first that expresses the instance"),
    ] = None,
) -> None:
    """Write the integer program of an instance as MPS or LP."""
    from gsopt.evaluation.export import export_model

    problem = read_instance(instance)
    form = export_model(problem, output, method)
    rows, columns = form.matrix.shape
    say(f"{output}: {rows:,} rows, {columns:,} columns")
