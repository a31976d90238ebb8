"""Output: functions that print tables and listings, and write files."""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from gsopt.core.drawing import ENDINGS
from gsopt.core.errors import InvalidInput, escape
from gsopt.core.files import require_writable, write_text
from gsopt.evaluation.policies import PolicyComparison
from gsopt.schedule.figures import Record

#: Width of a page in characters.
_WIDTH = 80


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    r"""Print text with control characters other than line breaks escaped, as it may contain parts of a file."""
    typer.echo("\n".join(map(escape, text.split("\n"))), err=err, nl=nl)


def print_policies(figures: Sequence[Record], *, as_json: bool = False, one: bool = False) -> None:
    """Print the figures of policies as a table or as JSON.

    The JSON is an array or, if `one` is true, a single object.
    """
    if not as_json:
        print_table(PolicyComparison(tuple(figures)).table())
        return
    rows = [{"policy": row.policy, **row.as_dict()} for row in figures]
    typer.echo(json.dumps(rows[0] if one else rows, indent=1))


def list_entries(title: str, entries: dict[str, Any]) -> Table:
    """Return a table of entries, each with the first line of its docstring."""
    table = Table(title, "what it is", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name, entry in entries.items():
        table.add_row(name, (inspect.getdoc(entry) or "").partition("\n")[0])
    return table


def deliver(text: str, output: Path | None) -> None:
    """Write text to a file, or to standard output if `output` is None."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)


def require_picture(path: Path) -> None:
    """Raise `InvalidInput` if no picture can be written to the path, or if its extension is not supported."""
    require_writable(path)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidInput("", "", f"must end in {', '.join(ENDINGS)}", source=str(path))


def print_table(table: RenderableType) -> None:
    """Print a table on standard output."""
    new_console().print(table)


def new_console() -> Console:
    """Return a console on standard output, as wide as the terminal; 80 characters if there is none."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH)
