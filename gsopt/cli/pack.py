"""``gsopt pack``: a command that places the pending jobs of a running cluster, or shows what they lack."""

import json
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, time_limit_option
from gsopt.cli.exits import Exit
from gsopt.cli.snapshots import Files, GpuResources, Levels, Now, SourceOption, counted, read
from gsopt.core.errors import escape
from gsopt.core.result import plain
from gsopt.snapshots import Pack
from gsopt.snapshots import pack as pack_pending
from gsopt.snapshots.packing import TIME_LIMIT

#: Maximum number of gangs listed by name; the others are only counted. The JSON output lists all gangs.
_MOST = 10


def pack(
    files: Files,
    time_limit: Annotated[
        float, time_limit_option("time for the search in seconds, or such as 30s")
    ] = TIME_LIMIT,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Place the pending jobs, or report what is missing.

    The output lists the nodes of each placed job, what the other jobs lack, and the number of jobs that can be
    placed. No command is run.
    """
    found = pack_pending(read(files, source, levels, gpu_resources, now), time_limit=time_limit)
    typer.echo(json.dumps(found.as_dict()) if as_json else "\n".join(map(escape, _shown(found))))
    raise typer.Exit(_exit_code(found))


def _exit_code(found: Pack) -> Exit:
    if found.fits:
        return Exit.SOLUTION
    return Exit.INFEASIBLE if found.proven else Exit.NO_SOLUTION


def _shown(found: Pack) -> list[str]:
    """Return the output lines: the nodes of placed jobs, the resources that other jobs lack, and a summary."""
    return [*_placed(found), *_missing(found), *_summary(found)]


def _placed(found: Pack) -> list[str]:
    places: dict[str, dict[str, None]] = {}
    for spot in found.spots:
        places.setdefault(spot.gang, {})[spot.node] = None
    lines = [f"  {gang}: {', '.join(nodes)}" for gang, nodes in list(places.items())[:_MOST]]
    return lines + ([f"  and {len(places) - _MOST:,} more; --json lists all"] if len(places) > _MOST else [])


def _summary(found: Pack) -> list[str]:
    lines = []
    if found.fits and found.result is not None:
        value, bound = plain(found.result.objective), plain(found.result.bound)
        least = "" if value == bound or bound is None else f", at least {bound:,}"
        lines.append(f"nodes in use: {value:,}{least}")
    if found.more is not None:
        more = found.more
        held = "all of these" if more.gangs == len(found.missing or {}) else f"{more.gangs:,} of these"
        nodes = counted(more.number, "node")
        at_most = "" if more.proven else "at most "
        lines.append(f"{at_most}{nodes} more, like {more.like} and empty, would hold {held}")
    unfit = " (proven: not all)" if found.proven else " (it is not proven that not all can be)"
    proof = "" if found.fits else unfit
    return [*lines, f"{found.placed:,} of {counted(found.waiting, 'job')} can be placed{proof}"]


def _missing(found: Pack) -> list[str]:
    missing = found.missing or {}
    lines = [f"missing: {gang} {reason}" for gang, reason in list(missing.items())[:_MOST]]
    return lines + (
        [f"missing: {len(missing) - _MOST:,} more; --json lists all"] if len(missing) > _MOST else []
    )
