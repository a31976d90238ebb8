"""``gsopt admit``, ``defragment`` and ``why``: commands that find out how to make room on a running cluster."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, complete, time_limit_option
from gsopt.cli.exits import Exit
from gsopt.cli.snapshots import Files, GpuResources, Levels, Now, SourceOption, counted, read
from gsopt.core.errors import escape
from gsopt.core.result import plain
from gsopt.evaluation.tables import percent
from gsopt.scenario.cluster.formats.hostlist import compress
from gsopt.snapshots import Admit, Change, Cost, Gang, Request, Why
from gsopt.snapshots import admit as admit_gang
from gsopt.snapshots import defragment as defragment_nodes
from gsopt.snapshots import why as explain
from gsopt.snapshots.admitting import TIME_LIMIT

#: Maximum number of gangs listed by name; the others are only counted. The JSON output lists all gangs.
_MOST = 10

GangOption = Annotated[
    str, typer.Option("--gang", help="a waiting gang, or a size such as 16x8: 16 workers with 8 GPUs each")
]
Within = Annotated[str, typer.Option(help="network level that must hold all workers, such as rack")]
Slices = Annotated[str, typer.Option(help="workers of a slice and its level, such as 4:rack")]
GpuType = Annotated[str, typer.Option(help="type of GPU that a gang given by its size needs")]
Priority = Annotated[int | None, typer.Option(help="priority; only gangs below are evicted")]
CostOption = Annotated[
    str,
    typer.Option(
        help="cost of stopping a job: jobs (1 each), gpu-hours since it started, or priority",
        autocompletion=complete(lambda: Cost),
    ),
]
Protect = Annotated[list[str] | None, typer.Option(help="gang that must stay; may be repeated")]
Limit = Annotated[float, time_limit_option("time for the proof in seconds, or such as 30s")]


def admit(
    files: Files,
    gang: GangOption,
    within: Within = "",
    slices: Slices = "",
    gpu_type: GpuType = "",
    priority: Priority = None,
    cost: CostOption = Cost.JOBS.value,
    moves: Annotated[
        float | None,
        typer.Option(
            min=0, max=1000, help="cost of moving a job, as a part of evicting it; no moves otherwise"
        ),
    ] = None,
    protect: Protect = None,
    time_limit: Limit = TIME_LIMIT,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Choose the jobs to evict or move so that a gang fits.

    The output lists the commands that stop these jobs, the new nodes of the moved jobs, the nodes of the gang,
    and the cost. No command is run.
    """
    snapshot = read(files, source, levels, gpu_resources, now)
    request = Request(gang, within, slices, gpu_type, priority)
    found = admit_gang(
        snapshot, request, cost=cost, move_cost=moves, protect=protect or (), time_limit=time_limit
    )
    _deliver(found, f"admit {gang}", as_json=as_json)


def defragment(
    files: Files,
    free: Annotated[int, typer.Option(help="number of nodes whose GPUs are to be free", min=1)],
    within: Within = "",
    gpus: Annotated[
        int | None, typer.Option(min=1, help="GPUs of such a node; those of the largest otherwise")
    ] = None,
    gpu_type: Annotated[str, typer.Option(help="type of their GPUs; any otherwise")] = "",
    cost: CostOption = Cost.JOBS.value,
    protect: Protect = None,
    time_limit: Limit = TIME_LIMIT,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Choose the jobs to move so that whole nodes become free.

    The output lists the commands that stop these jobs, their new nodes, the free nodes, and the cost. No
    command is run.
    """
    snapshot = read(files, source, levels, gpu_resources, now)
    found = defragment_nodes(
        snapshot,
        free,
        within=within,
        gpus=gpus,
        gpu_type=gpu_type,
        cost=cost,
        protect=protect or (),
        time_limit=time_limit,
    )
    _deliver(found, f"free {counted(free, 'node')}", as_json=as_json)


def why(
    files: Files,
    gang: GangOption,
    within: Within = "",
    slices: Slices = "",
    gpu_type: GpuType = "",
    priority: Priority = None,
    time_limit: Limit = TIME_LIMIT,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Explain why a gang does not fit, and what would help.

    Each kind of change is tried by itself: moving jobs, evicting jobs, opening closed nodes, allowing a wider
    network level, and starting fewer workers. The output shows the smallest change of each kind that was found
    to make the gang fit.
    """
    snapshot = read(files, source, levels, gpu_resources, now)
    found = explain(snapshot, Request(gang, within, slices, gpu_type, priority), time_limit=time_limit)
    typer.echo(json.dumps(found.as_dict()) if as_json else "\n".join(map(escape, _reasons(found))))
    if not found.fits:
        raise typer.Exit(Exit.INFEASIBLE if found.changes[0].helps is False else Exit.NO_SOLUTION)


def _deliver(found: Admit, what: str, *, as_json: bool) -> None:
    typer.echo(json.dumps(found.as_dict()) if as_json else "\n".join(_shown(found, what)))
    if found.possible is not True:
        raise typer.Exit(Exit.NO_SOLUTION if found.possible is None else Exit.INFEASIBLE)


def _shown(found: Admit, what: str) -> list[str]:
    """Return the output lines: the commands to type, the stopped gangs, the nodes of the gang, and the cost."""
    if found.possible is not True:
        said = found.problem.obstacle or found.result.message
        reason = f": {escape(said)} (proven)" if found.possible is False else ", but there may be one"
        return [f"{escape(what)}: no way was found{reason}"]
    lines = [*found.commands, ""] if found.commands else []
    lines += _listed("evicted", found.evicted, lambda _: "")
    lines += _listed("moved", found.moved, lambda gang: f" to {compress([*found.moves[gang.name]])}")
    lines.append(f"nodes: {escape(compress(found.nodes))}")
    if not (found.evicted or found.moved):
        return [*lines, f"{escape(what)}: possible without a change"]
    return [*lines, f"{escape(what)}: {_costs(found)} ({_proof(found)})"]


def _costs(found: Admit) -> str:
    gangs = [(found.evicted, "evicted"), (found.moved, "moved")]
    told = [f"{counted(len(some), 'job')} {verb}" for some, verb in gangs if some]
    cost = "" if found.cost == Cost.JOBS else f", cost {plain(found.result.objective):,}"
    return " and ".join(told) + cost


def _proof(found: Admit) -> str:
    if found.result.objective == found.result.bound:
        return "proven: no choice costs less"
    gap = found.result.gap
    return f"at least {plain(found.result.bound)}" + ("" if gap is None else f", gap {percent(gap)}")


def _listed(verb: str, gangs: Sequence[Gang], more: Callable[[Gang], str]) -> list[str]:
    """Return one line for each of the first few gangs, and one line that counts the others."""
    lines = []
    for gang in gangs[:_MOST]:
        size = f"{counted(gang.gpus, 'GPU')} on {counted(len(gang.nodes), 'node')}"
        lines.append(escape(f"{verb}: {gang.name} ({gang.kind}, {size}){more(gang)}"))
    rest = len(gangs) - _MOST
    return lines + ([f"{verb}: {rest:,} more; --json lists all"] if rest > 0 else [])


def _reasons(found: Why) -> list[str]:
    gang = found.request.gang
    if found.fits:
        return [f"{gang}: fits as it is"]
    lines = [f"{gang}: does not fit: {found.obstacle}"] if found.obstacle else []
    lines += [f"{gang}: {_said(change)}" for change in found.changes[1:]]
    if found.hopeless:
        return [*lines, f"{gang}: none of these changes helps (proven)"]
    first = next(iter(found.helpful), None)
    mildest = "" if first is None else f"; the mildest change is {_what(first)}"
    return [*lines, f"{gang}: does not fit{mildest}"]


_TOLD = {
    "moves": ("moving {}", "job"),
    "evictions": ("evicting {} of lower priority", "job"),
    "preemptions": ("evicting {} of any priority", "job"),
    "nodes": ("opening {}", "closed node"),
    "workers": ("starting with {}", "fewer worker"),
}


def _what(change: Change) -> str:
    """Return a phrase that describes a change."""
    if change.kind == "level":
        return f"spreading out within one {change.names[0]}" if change.helps else "a wider level"
    text, word = _TOLD[change.kind]
    return text.format(counted(change.size, word) if change.helps else f"{word}s")


def _said(change: Change) -> str:
    """Return a sentence that says whether a change helps."""
    what = _what(change)
    if not change.helps:
        return f"{what}: does not help" if change.helps is False else f"{what}: may help, not proven"
    least = " (proven: no fewer)" if change.least and change.kind != "level" else ""
    names = f": {', '.join(change.names[:_MOST])}" if change.kind not in ("level", "workers") else ""
    more = f" and {len(change.names) - _MOST:,} more" if len(change.names) > _MOST else ""
    return f"{what} helps{least}{names}{more}"
