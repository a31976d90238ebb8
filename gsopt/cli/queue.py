"""``gsopt queue``: a command that bounds the start time of each waiting job of a trace."""

import json
from typing import Annotated

import typer

from gsopt.cli.arguments import ClusterFile, GpuCount, Json, Reader, Trace, complete, time_limit_option
from gsopt.cli.output import print_table
from gsopt.cli.traces import find_policies, read_scenario, read_setting
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.span import read_seconds
from gsopt.evaluation.brackets import wait_brackets
from gsopt.evaluation.tables import Column, lay_out
from gsopt.simulation.bracket import Bracket

_POLICIES = ("conservative_backfilling", "easy_backfilling")


def queue(
    trace: Trace,
    at: Annotated[str, typer.Option(help="time of the question after the first job, in seconds or such as 5h")],
    policy: Annotated[
        str,
        typer.Option(
            help="conservative_backfilling or easy_backfilling, with options such as easy_backfilling:depth=2",
            autocompletion=complete(lambda: _POLICIES),
        ),
    ] = _POLICIES[0],
    factor: Annotated[
        float | None,
        typer.Option(
            help="largest ratio of an estimate to the running time; 1 if exact; default: unknown",
        ),
    ] = None,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    time_limit: Annotated[float | None, time_limit_option("time limit, such as 30s; default: none")] = None,
    as_json: Json = False,
) -> None:
    """Bound the start time of each waiting job of a trace.

    The output shows the earliest and latest start of each job that waits at the given time. These limits are
    certain if no job runs longer than its estimate and the available GPUs do not change. With --factor, another
    condition is that no job runs for less than its estimate divided by the factor. Jobs released after the
    given time are ignored. The duration of a job without an estimate is used as its estimate.
    """
    (chosen,) = find_policies([policy], "--policy").values()
    scenario = read_scenario(trace, reader, read_setting(gpus=gpus, cluster=cluster))
    found = wait_brackets(scenario, chosen, at=_time(at), factor=factor, time_limit=time_limit)
    if as_json:
        typer.echo(json.dumps({name: bracket._asdict() for name, bracket in found.items()}))
    else:
        _print(found)


def _time(text: str) -> float:
    try:
        return read_seconds(text)
    except ValueError:
        raise InvalidInput("--at", shorten(text), "must be a time such as 18000 or 5h") from None


def _print(found: dict[str, Bracket]) -> None:
    if not found:
        typer.echo("no job waits")
        return
    latest = ["no bound" if each.latest is None else f"{each.latest:,.10g}" for each in found.values()]
    columns = [
        Column("job", list(found), right=False),
        Column("earliest (s)", [f"{each.earliest:,.10g}" for each in found.values()]),
        Column("latest (s)", latest),
    ]
    print_table(
        lay_out(columns, notes=["certain if no job runs longer than its estimate, and no GPUs come or go"])
    )
