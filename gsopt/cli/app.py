"""App: the commands of ``gsopt``, each of which is imported on first use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gsopt.cli.exits import Interrupted
from gsopt.cli.group import Group
from gsopt.core.errors import kept_running

#: The commands, each with the first sentence of its help, so that they can be listed without importing them.
_COMMANDS = {
    "compare": "Compare methods with the optimum, or policies on a trace.",
    "solve": "Solve one instance and print the judged result.",
    "simulate": "Simulate policies on a trace and prove a lower bound.",
    "queue": "Bound the start time of each waiting job of a trace.",
    "check": "Judge a solution of an instance.",
    "judge": "Judge a schedule from any source against a proven bound.",
    "bound": "Certify a lower bound on the mean JCT for a trace.",
    "verify": "Check a certificate exactly and report what it proves.",
    "generate": "Generate an instance.",
    "export": "Write the integer program of an instance as MPS or LP.",
    "cluster": "Show, convert or draw a cluster.",
    "import": "Read a running cluster and write its open decisions as files.",
    "drain": "Choose the nodes to give back at the least preemption cost.",
    "admit": "Choose the jobs to evict or move so that a gang fits.",
    "defragment": "Choose the jobs to move so that whole nodes become free.",
    "why": "Explain why a gang does not fit, and what would help.",
    "pack": "Place the pending jobs, or report what is missing.",
    "interference": "Evaluate predictions of how jobs slow each other down.",
    "schema": "Print the JSON Schema of a decision's instance file.",
    "methods": "List the methods of a decision.",
    "demo": "Show how far heuristics are from the proven optimum.",
    "study": "Run a grid of instances, methods, parameters and seeds.",
    "worst": "Find the instance on which a method provably does worst.",
    "score": "Score a heuristic on a suite, relative to proven bounds.",
    "suites": "Show or recompute the best known values of instances.",
}

#: Locations of commands that are not a function in a module of the same name.
_PATHS = {
    "import": "importing:import_",
    "study": "study:app",
    "suites": "suites:app",
    **{name: f"admission:{name}" for name in ("admit", "defragment", "why")},
}

#: Current names of options, keyed by earlier names, which still work. Several options are now spelled as in
#: Python.
_EARLIER = {
    "out": "output",
    "overhead": "overheads",
    "capacity-change": "capacity-changes",
    "column": "columns",
    "trace-column": "trace-columns",
    "no-preemption": "no-preemptive",
}

_EXTRA = {"allow_extra_args": True, "ignore_unknown_options": True}
_SETTINGS = {"generate": _EXTRA, "worst": _EXTRA, "score": _EXTRA}


@contextmanager
def _interrupted() -> Iterator[None]:
    """Raise `Interrupted` in place of KeyboardInterrupt, for which typer would print no message."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None


class Commands(Group):
    """The group of gsopt's commands.

    A command ends with a one-line message if Ctrl-C is pressed, or if a method, a policy or other user code
    tries to end the program.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, help=line) for name, line in _COMMANDS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the command of the given name, or return None if there is no such command."""
        del ctx
        if cmd_name not in self.commands:
            return None
        found = resolve_name(f"gsopt.cli.{_PATHS.get(cmd_name, f'{cmd_name}:{cmd_name}')}")
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name, context_settings=_SETTINGS.get(cmd_name))(found)
        return typer.main.get_command(alone)

    def make_context(self, *given: Any, **options: Any) -> Any:
        """Parse the arguments; raise `Interrupted` on Ctrl-C."""
        with _interrupted():
            return super().make_context(*given, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; raise `Interrupted` on Ctrl-C."""
        with _interrupted(), kept_running("somebody's code"):
            return super().invoke(ctx)


app = typer.Typer(
    name="gsopt",
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"token_normalize_func": lambda name: _EARLIER.get(name, name)},
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
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run() -> int:
    """Run the command given on the command line, and return its exit code."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    return int(app(prog_name="gsopt", standalone_mode=False) or 0)
