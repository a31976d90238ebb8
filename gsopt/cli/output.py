"""Output: tables, listings and files."""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from gsopt.errors import InvalidInput
from gsopt.schedule.figures import Record
from gsopt.studies.policies import PolicyComparison


def print_policies(figures: Sequence[Record], *, as_json: bool = False, one: bool = False) -> None:
    """Print a table, or JSON: an array, or the object alone when there is to be one."""
    if not as_json:
        print_table(PolicyComparison(tuple(figures)).table())
        return
    rows = [{"policy": row.policy, **row.as_dict()} for row in figures]
    typer.echo(json.dumps(rows[0] if one else rows, indent=1))


def list_entries(title: str, entries: dict[str, Any]) -> Table:
    """List what a package exports, each with the first line of its documentation."""
    table = Table(title, "what it is", box=box.SIMPLE_HEAD)
    for name, entry in entries.items():
        table.add_row(name, (inspect.getdoc(entry) or "").partition("\n")[0])
    return table


def deliver(text: str, output: Path | None) -> None:
    """Write text to a file, or to standard output."""
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(str(output), "", "", f"cannot be written: {error.strerror}") from None


def print_table(table: Table) -> None:
    """Print a table on standard output."""
    console = Console()
    console = console if console.is_terminal else Console(width=170)
    console.print(table)
