"""``gsopt export``: the integer program of an instance, for any solver."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import InstanceArgument
from gsopt.cli.instances import read_instance
from gsopt.cli.output import say


def export(
    instance: InstanceArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="file: .mps or .lp")],
    method: Annotated[
        str | None, typer.Option(help="formulation, such as milp; the first that expresses it otherwise")
    ] = None,
) -> None:
    """Write the integer program of an instance as an MPS or LP file."""
    from gsopt.evaluation.export import export_model

    problem = read_instance(instance)
    form = export_model(problem, output, method)
    rows, columns = form.matrix.shape
    say(f"{output}: {rows:,} rows, {columns:,} columns")
