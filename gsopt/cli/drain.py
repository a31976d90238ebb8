"""``gsopt drain``: a command that chooses which nodes of a running cluster to give back."""

import json
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, complete, time_limit_option
from gsopt.cli.exits import Exit
from gsopt.cli.snapshots import Among, Files, GpuResources, Levels, Now, SourceOption, counted, moment, read
from gsopt.core.errors import escape
from gsopt.core.problem import Number
from gsopt.core.result import plain
from gsopt.evaluation.tables import percent
from gsopt.scenario.cluster.formats.hostlist import compress
from gsopt.snapshots import Cost, Drain
from gsopt.snapshots import drain as drain_nodes
from gsopt.snapshots.draining import TIME_LIMIT

#: Maximum number of gangs and nodes listed by name; the others are only counted. The JSON output lists all.
_MOST = 10

_UNITS = {
    Cost.JOBS: "jobs",
    Cost.GPU_HOURS: "GPU-hours",
    Cost.PRIORITY: "priority",
}


def drain(
    files: Files,
    servers: Annotated[int, typer.Option(help="number of nodes to give back", min=0)],
    cost: Annotated[
        str,
        typer.Option(
            help="what a preempted job costs: jobs (1 each), gpu-hours since it started, or priority",
            autocompletion=complete(lambda: Cost),
        ),
    ] = Cost.JOBS.value,
    among: Among = None,
    time_limit: Annotated[
        float, time_limit_option("time for the proof in seconds, or such as 30s")
    ] = TIME_LIMIT,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    source: SourceOption = "",
    as_json: Json = False,
) -> None:
    """Choose the nodes to give back at the least preemption cost.

    The output lists the commands to type, the costs of the nodes that simple rules would choose, and the
    result. No command is run.
    """
    snapshot = read(files, source, levels, gpu_resources, now)
    found = drain_nodes(snapshot, servers, cost=cost, among=among or (), time_limit=time_limit)
    typer.echo(json.dumps(found.as_dict()) if as_json else _shown(found))
    raise typer.Exit(_exit_code(found))


def _exit_code(found: Drain) -> Exit:
    if found.result is None:
        return Exit.SOLUTION if found.possible else Exit.INFEASIBLE
    return Exit.NO_SOLUTION if found.solution is None else Exit.SOLUTION


def _shown(found: Drain) -> str:
    """Return the output text: the commands to type, the nodes to give back, and the cost."""
    if found.result is None or found.solution is None:
        return "\n".join([*_kept(found), _headline(found)])
    return "\n".join([*found.commands, "", *_kept(found), *_facts(found), _headline(found)])


def _headline(found: Drain) -> str:
    if found.result is None and found.possible:
        return "return 0 of 0 nodes: nothing is lost"
    if found.result is None:
        return f"{counted(found.asked, 'node')} cannot be returned: only {found.returnable:,} may be"
    if found.solution is None:
        return "no choice of nodes was found within the time limit"
    gap = found.result.gap
    if found.result.objective == found.result.bound:
        proof = "proven: no choice costs less"
    else:
        proof = f"at least {plain(found.result.bound)}" + ("" if gap is None else f", gap {percent(gap)}")
    lost = _lost(found, found.result.objective)
    return f"return {found.asked:,} of {counted(found.returnable, 'node')}: {lost} lost ({proof})"


def _lost(found: Drain, value: Number | None) -> str:
    """Return the cost of the lost work, with its unit."""
    unit = _UNITS[Cost(found.cost)]
    return counted(plain(value) or 0, "job") if found.cost == Cost.JOBS else f"{plain(value):,} {unit}"


def _facts(found: Drain) -> list[str]:
    lines = [f"nodes: {escape(compress(found.servers)) or '-'}"]
    named = [
        f"{gang.name} ({gang.kind}, {counted(gang.gpus, 'GPU')} on {counted(len(gang.nodes), 'node')})"
        for gang in found.preempted[:_MOST]
    ]
    named += (
        [f"and {len(found.preempted) - _MOST:,} more; --json lists all"] if len(found.preempted) > _MOST else []
    )
    lines.append(f"preempted: {escape(', '.join(named)) or '-'}")
    if found.cost == Cost.GPU_HOURS:
        lines.append(f"GPU-hours until {moment(found.snapshot.time)}")
    lines += [
        f"waits: {number:,} pods of the disruption budget {escape(name)} are evicted, {allowed:,} at a time"
        for name, (number, allowed) in found.waits.items()
    ]
    return lines + [f"{name}, one by one: {_lost(found, value)} lost" for name, value in found.rules.items()]


def _kept(found: Drain) -> list[str]:
    named = [f"{name} {reason}" for name, reason in list(found.kept.items())[:_MOST]]
    named += [f"and {len(found.kept) - _MOST:,} more; --json lists all"] if len(found.kept) > _MOST else []
    return [f"kept: {escape('; '.join(named))}"] if named else []
