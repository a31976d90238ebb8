"""App: the commands of ``gsopt``, each from the file of its name."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gsopt.cli.check import check
from gsopt.cli.cluster import cluster
from gsopt.cli.compare import compare
from gsopt.cli.demo import demo
from gsopt.cli.drain import drain
from gsopt.cli.exits import Interrupted
from gsopt.cli.export import export
from gsopt.cli.generate import generate
from gsopt.cli.importing import import_
from gsopt.cli.interference import interference
from gsopt.cli.judge import judge
from gsopt.cli.methods import methods
from gsopt.cli.output import show_help
from gsopt.cli.pack import pack
from gsopt.cli.schema import schema
from gsopt.cli.simulate import simulate
from gsopt.cli.solve import solve
from gsopt.cli.study import app as study
from gsopt.cli.suites import app as suites
from gsopt.core.errors import kept_running


class Commands(TyperGroup):
    """The commands; Ctrl-C in one of them ends in one line, and so does what somebody's code does there."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen."""
        try:
            with kept_running("somebody's code"):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


app = typer.Typer(
    name="gsopt",
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gsopt {version('gsopt')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Exact models and published heuristics for GPU cluster scheduling, checked against each other."""
    show_help(context)


app.command()(compare)
app.command()(solve)
app.command()(simulate)
app.command()(check)
app.command()(judge)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(generate)
app.command()(export)
app.command()(cluster)
app.command("import")(import_)
app.command()(drain)
app.command()(pack)
app.command()(interference)
app.command()(schema)
app.command()(methods)
app.command()(demo)
app.add_typer(study, name="study")
app.add_typer(suites, name="suites")


def run() -> int:
    """Run the command that the arguments of the process name, and give its exit code."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    return int(app(prog_name="gsopt", standalone_mode=False) or 0)
