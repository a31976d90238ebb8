"""``gsopt worst``: a command that finds the instance on which a method is farthest from the optimum."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import Json
from gsopt.cli.exits import Exit
from gsopt.cli.generate import read_texts
from gsopt.cli.options import read_value
from gsopt.cli.output import list_entries, print_table, say
from gsopt.cli.progress import show_progress
from gsopt.core.files import require_writable, write
from gsopt.evaluation import catalogue


def worst(
    context: typer.Context,
    method: Annotated[str | None, typer.Argument(help="method or policy, or module:function")] = None,
    space: Annotated[str | None, typer.Argument(help="space of instances; without it they are listed")] = None,
    search: Annotated[str | None, typer.Option(help="search for that long instead of trying all")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="number of searches")] = 1,
    folder: Annotated[Path | None, typer.Option(help="folder that keeps findings, to continue later")] = None,
    workers: Annotated[int | None, typer.Option(help="number of processes; one per CPU otherwise")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler, as in study run")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="file for the worst instance")] = None,
    as_json: Json = False,
) -> None:
    """Find the instance on which a method provably does worst.

    With --search, only some instances are tried, so others may be worse.

    Options of a space come after its name: gsopt worst srtf scheduling/rigid --jobs 3 --gpus 3 -o worst.json
    """
    from gsopt.studies.worst import worst as find

    known = catalogue.spaces()
    if method is None or space is None:
        print_table(list_entries("space", known))
        return
    if output is not None:
        require_writable(output)
    options = {name: read_value(text) for name, text in read_texts(context.args).items()}
    with show_progress("left") as bar:
        task = bar.add_task(method, total=None, left="")
        found = find(
            method,
            space,
            search=search,
            seeds=range(seeds),
            folder=folder,
            workers=workers,
            scheduler=scheduler,
            on_progress=lambda now: bar.update(task, completed=now.finished, total=now.total),
            **options,
        )
    if output is not None and found.problem is not None:
        write(found.problem, output)
    say(json.dumps(found.as_dict(), indent=1) if as_json else str(found))
    if found.interrupted:
        typer.echo("gsopt: interrupted; the instances above are those that were tried", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
