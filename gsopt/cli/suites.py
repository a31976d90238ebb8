"""``gsopt suites``: what is known of the committed instances."""

import json
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gsopt.cli.arguments import Json, complete_instance
from gsopt.cli.output import new_console, print_table
from gsopt.errors import InvalidInput


class _WithTable(TyperGroup):
    """The commands below ``suites``, of which ``table`` need not be named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the command that was left out."""
        named = {*self.commands, *self.get_help_option_names(ctx)}
        return super().parse_args(ctx, args if args and args[0] in named else ["table", *args])


app = typer.Typer(name="suites", cls=_WithTable, no_args_is_help=False)

What = Annotated[
    list[str] | None,
    typer.Argument(help="decisions, suites and instances; all when left out", autocompletion=complete_instance),
]


@app.callback()
def options() -> None:
    """Show the best value and bound known of the committed instances, and recompute them."""


@app.command()
def table(
    what: What = None,
    challenges: Annotated[
        bool, typer.Option("--challenges", help="only instances whose optimum is not proven")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="print CSV, values in full")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="print Markdown")] = False,
    as_json: Json = False,
) -> None:
    """List value, bound and gap of instances, who found or proved them, and since when; or all suites.

    The word ``table`` may be left out: gsopt suites reclaiming/production.
    """
    from gsopt.suites import Standing, best_known

    if csv + markdown + as_json > 1:
        raise InvalidInput("", "suites", "", "takes one of --csv, --markdown, --json")
    found = best_known(*what or ())
    if challenges:
        found = found.having(Standing.CHALLENGE)
    if csv:
        typer.echo(found.to_csv(), nl=False)
    elif markdown:
        typer.echo(found.to_markdown(), nl=False)
    elif as_json:
        typer.echo(json.dumps(found.records(), indent=1))
    else:
        print_table(found.table(new_console().width) if what or challenges else found.summary())
