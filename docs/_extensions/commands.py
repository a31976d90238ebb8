"""Commands: a page for each command of gsopt, with its arguments and options, out of the command itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from docstrings import escape
from pages import block, title, write
from sphinx.application import Sphinx
from typer.core import TyperGroup

from gsopt.cli.app import app as gsopt

_INTRODUCTION = """
What each command does and takes, as its ``--help`` says it too.

.. toctree::
"""


def pages() -> dict[str, str]:
    """Return the page of each command, and the list of all."""
    root = typer.main.get_command(gsopt)
    commands = {name: page(f"gsopt {name}", command) for name, command in below(root).items()}
    listed = "".join(f"   gsopt {name} <{name}>\n" for name in commands)
    return {
        "index.rst": f"{title('The command line')}\n{_INTRODUCTION}\n{listed}",
        **{f"{name}.rst": text for name, text in commands.items()},
    }


def below(command: Any) -> dict[str, Any]:
    """Return the commands of a group."""
    if not isinstance(command, TyperGroup):
        return {}
    context = typer.Context(command)
    return {name: command.get_command(context, name) for name in command.commands}


def page(name: str, command: Any) -> str:
    """Return the page of a command, with those below it."""
    parts = [title(name), *describe(name, command)]
    for word, each in below(command).items():
        heading = f"{name} {word}"
        parts += [f"{heading}\n{'-' * len(heading)}", *describe(heading, each)]
    return "\n\n".join(parts) + "\n"


def describe(name: str, command: Any) -> Iterator[str]:
    """Yield usage, meaning and parameters of a command."""
    context = typer.Context(command, info_name=name)
    words = " ".join(command.collect_usage_pieces(context))
    yield f".. code-block:: text\n\n   {name} {words}"
    yield escape(command.help or "")
    yield f".. program:: {name}"
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record:
            used, meaning = record
            yield f".. option:: {used}\n\n{block(escape(meaning))}"


def write_pages(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for them."""
    write(Path(app.srcdir) / "commands", pages())


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when the builder is there."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
