"""``gsopt import``: a command that turns the output of a cluster's scheduler into instance files."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, complete
from gsopt.cli.snapshots import Among, Files, GpuResources, Levels, Now, counted, moment, read
from gsopt.core.errors import InvalidInput, escape
from gsopt.core.files import require_writable, to_json, write
from gsopt.snapshots import Cost, Snapshot, Source


def import_(
    source: Annotated[str, typer.Argument(help="kubernetes or slurm", autocompletion=complete(lambda: Source))],
    files: Files,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="file for the snapshot")] = None,
    cluster: Annotated[
        Path | None, typer.Option(help="file for the cluster: nodes with GPUs, and switches")
    ] = None,
    reclaiming: Annotated[
        Path | None, typer.Option(help="file for the decision on which nodes to give back; needs --servers")
    ] = None,
    placement: Annotated[
        Path | None, typer.Option(help="file for the decision on where to place the pending jobs")
    ] = None,
    servers: Annotated[int | None, typer.Option(help="number of nodes to give back", min=0)] = None,
    cost: Annotated[
        str,
        typer.Option(
            help="what preempting a job costs, as in gsopt drain",
            autocompletion=complete(lambda: Cost),
        ),
    ] = Cost.JOBS.value,
    among: Among = None,
    now: Now = None,
    levels: Levels = None,
    gpu_resources: GpuResources = None,
    as_json: Json = False,
) -> None:
    """Read a running cluster and write its open decisions as files."""
    if (reclaiming is None) != (servers is None):
        raise InvalidInput("--reclaiming", "", "needs --servers, and vice versa")
    for path in (output, cluster, reclaiming, placement):
        if path is not None:
            require_writable(path)
    snapshot = read(files, source, levels, gpu_resources, now)
    if output is not None:
        write(snapshot, output)
    if cluster is not None:
        write(snapshot.cluster, cluster)
    if reclaiming is not None and servers is not None:
        write(snapshot.reclaiming(servers, cost=cost, among=among or ()), reclaiming)
    if placement is not None:
        write(snapshot.placement(), placement)
    typer.echo(to_json(snapshot) if as_json else _shown(snapshot), nl=not as_json)


def _shown(snapshot: Snapshot) -> str:
    """Return an overview of a snapshot: its nodes, GPUs, network, and running and pending jobs."""
    types = ", ".join(
        f"{number:,} {kind or 'of a type nobody tells'}" for kind, number in snapshot.gpus.items()
    )
    kept, running, pending = snapshot.kept(), snapshot.running, snapshot.pending
    parts = sum(len(gang.standing) for gang in running)
    waiting = sum(part.count * gang.copies for gang in pending for part in gang.waiting)
    network = snapshot.network
    held = round(sum(gang.gpus for gang in running), 6)
    with_gpus = sum(node.gpus > 0 for node in snapshot.nodes)
    lines = [
        f"{snapshot.source} at {moment(snapshot.time)}",
        f"nodes    {len(snapshot.nodes):,}, {with_gpus:,} of them with GPUs",
        f"GPUs     {snapshot.gpus.total():,}" + (f": {types}" if types else ""),
        f"network  {', '.join(network.levels) if network else '-'}",
        f"running  {counted(len(running), 'job')} on {counted(held, 'GPU')}, {counted(parts, 'part')}",
        f"pending  {counted(sum(gang.copies for gang in pending), 'job')}, {counted(waiting, 'part')}",
        f"kept     {counted(len(kept), 'node')} that must not be returned",
    ]
    return "\n".join(map(escape, lines))
