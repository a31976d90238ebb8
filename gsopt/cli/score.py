"""``gsopt score``: a command that rates a heuristic by a single number."""

import json
from typing import Annotated

import typer

from gsopt.cli.arguments import Json
from gsopt.cli.exits import Exit
from gsopt.cli.generate import read_texts
from gsopt.cli.options import read_value
from gsopt.cli.output import print_table, say
from gsopt.core.errors import InvalidInput, shorten


def score(
    context: typer.Context,
    method: Annotated[str, typer.Argument(help="method, module:function, or file.py:function")],
    suite: Annotated[list[str], typer.Option(help="suite, instance or generator")],
    limit: Annotated[str, typer.Option(help="processor time for each instance, such as 1s")] = "1s",
    memory: Annotated[int, typer.Option(help="megabytes for each instance")] = 2048,
    workers: Annotated[int, typer.Option(help="number of processes")] = 1,
    fresh: Annotated[int, typer.Option(help="seed of the instances that a generator draws")] = 0,
    count: Annotated[int, typer.Option(help="number of instances that a generator draws")] = 20,
    as_json: Json = False,
) -> None:
    """Score a heuristic on a suite, relative to proven bounds.

    The score is the mean of bound / value, or of value / bound when maximizing. A score of 1 means that every
    instance is solved to optimality. An instance on which the method fails, takes too long or needs too much
    memory counts as 0. Instances without a proven bound are left out.
    The options of a generator come after all other options:
    gsopt score mine.py:rule --suite reclaiming/churn --fresh 7 --servers 60
    """
    from gsopt.studies.score import score as run

    if memory < 1:
        raise InvalidInput("--memory", shorten(memory), "must be at least 1")
    if len(suite) > 1:
        raise InvalidInput("--suite", ", ".join(suite), "must be given once")
    options = {name: read_value(text) for name, text in read_texts(context.args).items()}
    found = run(
        method,
        suite[0],
        limit=limit,
        memory=memory * 2**20,
        workers=workers,
        fresh=fresh,
        count=count,
        **options,
    )
    if as_json:
        say(json.dumps(found.as_dict(), indent=1))
    else:
        print_table(found.table())
    if found.interrupted:
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
