"""Snapshots: instances taken from a workload that is replayed on a cluster."""

from collections.abc import Iterable
from typing import get_args

from gsopt.core.errors import InvalidInput, require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.reclaiming import Job, Reclaiming
from gsopt.scenario.job import Workload
from instances.arguments import at_least
from instances.reclaiming.layout import eight_gpu_servers, named
from instances.reclaiming.replay import ServerReplay
from instances.reclaiming.workers import Mode


def snapshots(
    workload: Workload,
    *,
    servers: int = 520,
    demand: int = 60,
    times: Iterable[float] | None = None,
    count: int = 5,
    mode: Mode = "packed",
    seed: int = 0,
) -> list[Reclaiming]:
    """Replay a workload on eight-GPU servers, and return instances at several times, in ascending order.

    `ServerReplay` explains how jobs wait and are placed, and `churn` explains the modes. Times are in seconds
    on the clock of the workload's release dates. If `times` is None, `count` times are spaced evenly between
    the first and the last release date. The `source` of an instance states how many jobs wait at that time, and
    how many were left out because they are larger than the cluster.

    Raises
    ------
    InvalidInput
        An argument is out of range, or the workload has no jobs and no times are given.
    """
    at_least(1, servers=servers, count=count)
    require(0 <= demand <= servers, "demand", demand, f"must be between 0 and the {servers} servers")
    require_one_of("mode", mode, get_args(Mode))
    replay = ServerReplay(workload, servers, mode, seed)
    taken: list[Reclaiming] = []
    for number, time in enumerate(_evenly(workload, count) if times is None else sorted(times), start=1):
        replay.advance(time)
        taken.append(
            Reclaiming(
                name=f"{workload.name or 'snapshot'}-{number}",
                about=About(source=_source(workload, replay, servers, mode, time), seed=seed),
                demand=demand,
                servers=eight_gpu_servers(servers),
                jobs=tuple(
                    Job(name=name, workers=named(placement)) for name, placement in replay.running.items()
                ),
            )
        )
    return taken


def _evenly(workload: Workload, count: int) -> list[float]:
    if not workload.jobs:
        raise InvalidInput("workload", workload.name, "must have jobs, or times must be given")
    first, last = workload.jobs[0].release_date, workload.jobs[-1].release_date
    return [first + (last - first) * part / (count + 1) for part in range(1, count + 1)]


def _source(workload: Workload, replay: ServerReplay, servers: int, mode: Mode, time: float) -> str:
    where = f"replayed on {servers} servers by best fit, mode {mode}, at {time:.0f} s"
    queue = f"{replay.waiting} jobs waiting, {len(replay.left_out)} larger than the cluster left out"
    return f"{workload.source or workload.name}; {where}; {queue}"
