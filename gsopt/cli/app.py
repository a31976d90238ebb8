"""App: the commands of ``gsopt``, each from the file of its name."""

import typer

from gsopt.cli.check import check
from gsopt.cli.compare import compare
from gsopt.cli.demo import demo
from gsopt.cli.generate import generate
from gsopt.cli.judge import judge
from gsopt.cli.methods import methods
from gsopt.cli.schema import schema
from gsopt.cli.simulate import simulate
from gsopt.cli.solve import solve
from gsopt.cli.study import app as study

app = typer.Typer(
    name="gsopt",
    help="Exact models and published heuristics for GPU cluster scheduling, checked against each other.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command()(compare)
app.command()(solve)
app.command()(simulate)
app.command()(check)
app.command()(judge)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(generate)
app.command()(schema)
app.command()(methods)
app.command()(demo)
app.add_typer(study, name="study")
