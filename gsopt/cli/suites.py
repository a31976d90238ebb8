"""``gsopt suites``: commands that list, verify and extend the best known values of instances and traces."""

import json
from typing import Annotated, Any

import typer

from gsopt.cli.arguments import Json, complete_instance, time_limit_option
from gsopt.cli.exits import Exit
from gsopt.cli.group import Group
from gsopt.cli.output import new_console, print_table, say
from gsopt.cli.progress import show_progress
from gsopt.core.errors import InvalidInput


class _WithTable(Group):
    """The subcommands of ``suites``, of which ``table`` is the default."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, inserting the command ``table`` if no command is named."""
        named = {*self.commands, *self.get_help_option_names(ctx)}
        return super().parse_args(ctx, args if args and args[0] in named else ["table", *args])


app = typer.Typer(
    name="suites", cls=_WithTable, no_args_is_help=False, add_completion=False, rich_markup_mode=None
)

What = Annotated[
    list[str] | None,
    typer.Argument(help="decisions, suites and instances; all when left out", autocompletion=complete_instance),
]


@app.callback()
def options() -> None:
    """Show or recompute the best known values of instances."""


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
    """List the best known values of instances, or summarize all suites.

    A list shows the value, bound and gap of each instance, with the method and the date. The word ``table`` may
    be left out: gsopt suites reclaiming/production
    """
    from gsopt.studies.suites import Standing, best_known

    if csv + markdown + as_json > 1:
        raise InvalidInput("suites", "", "takes one of --csv, --markdown, --json")
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


@app.command()
def families(
    what: What = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="print Markdown")] = False,
    as_json: Json = False,
) -> None:
    """Run the heuristics on instances and summarize their gaps by suite."""
    from gsopt.studies.suites import families as summarise
    from gsopt.studies.suites.selection import select

    if markdown and as_json:
        raise InvalidInput("suites", "", "takes one of --markdown, --json")
    wanted = select(what or ())
    with show_progress() as progress:
        task = progress.add_task("", total=len(wanted))
        found = summarise(*wanted, on_instance=lambda name: progress.update(task, description=name, advance=1))
    if markdown:
        typer.echo(found.to_markdown(), nl=False)
    elif as_json:
        typer.echo(json.dumps(found.records(), indent=1))
    else:
        print_table(found.table())


@app.command()
def submit(
    name: Annotated[
        str,
        typer.Argument(
            help="an instance, a workload such as scenarios/philly-1, or a trace such as traces/crux",
            autocompletion=complete_instance,
        ),
    ],
    file: Annotated[str, typer.Argument(help="solution, schedule or certificate")],
    by: Annotated[str, typer.Option(help="who found it, and how")],
    trace: Annotated[
        str | None, typer.Option(help="folder of all traces, or file of this one; default: $GSOPT_DATA")
    ] = None,
) -> None:
    """Check a solution or certificate from elsewhere, and print a table entry if it is an improvement.

    The table lists the best known values. Propose the entry and the file in a pull request. If there is no
    improvement, the exit code is 1.
    """
    from gsopt.studies.suites import submit as checked

    found = checked(name, file, by=by, path=trace)
    say(f"{found.name}: {found.note}", err=True)
    if found.entry is None:
        raise typer.Exit(Exit.FAILED)
    typer.echo(json.dumps(found.entry))


@app.command()
def verify(
    what: What = None,
    time_limit: Annotated[float, time_limit_option("time per instance, such as 30s or 2min")] = 30.0,
    workers: Annotated[int | None, typer.Option(help="number of processes; default: one per CPU")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="write better values and bounds back to the files, with the date")
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge the stored solutions of instances and try to prove their bounds again.

    The exit code is 1 if any result contradicts the stored values, or if a method fails. A better value or
    bound is not a contradiction.
    """
    from gsopt.studies.suites import Verdict, record
    from gsopt.studies.suites import verify as recompute
    from gsopt.studies.suites.selection import select

    wanted = select(what or ())
    with show_progress() as progress:
        task = progress.add_task("", total=len(wanted))

        def show(verdict: Verdict) -> None:
            progress.update(task, description=f"{verdict.instance}: {verdict.outcome.value}")
            progress.advance(task)
            if update:
                record(verdict)

        found = recompute(*wanted, time_limit=time_limit, workers=workers, on_verdict=show)
    if as_json:
        typer.echo(json.dumps(found.records(), indent=1))
    else:
        print_table(found.table())
    if found.missing:
        rest = f"{found.missing:,} of {found.total:,} instances are left out"
        typer.echo(f"gsopt: interrupted; the verdicts above are complete, {rest}", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
    if any(row.outcome.is_wrong for row in found):
        raise typer.Exit(Exit.FAILED)
