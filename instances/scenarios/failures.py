"""Failures: jobs that train LLMs on machines that leave without notice and come back."""

from pathlib import Path

from gsopt.core.errors import require
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import LATEST
from gsopt.scenario.scenario import Overhead, Scenario
from instances.arguments import at_least
from instances.outages import Outages, merged, outage_events, random_outages
from instances.traces.crux import GPUS, crux, crux_cluster
from instances.traces.faults import drawn_outages, server_outages
from instances.workloads.distributions import CRUX
from instances.workloads.poisson import poisson

#: Mean days from a server's repair to its next fault, and of a repair: 582 outages of 400 servers in 349 days.
#: Measured on the trace of InfiniteHBD.
UPTIME, DOWNTIME = 234.3, 5.55

#: Seconds to restart a job, for example to load a checkpoint onto all of its GPUs.
RESTART = 300.0

_DAY = 86_400

#: Nodes of a generated rack, as many as most racks of Lingjun have.
_RACK = 8

#: Maximum number of nodes, and maximum rate of faults.
_MOST_NODES, _MOST_RATE = 10_000, 1_000

#: Assumptions where the data say nothing, for printing with results.
ASSUMPTIONS = (
    "The jobs and the faults are of different clusters: Alibaba's Lingjun, and one of the paper InfiniteHBD.",
    "A fault takes the whole node, and every job on it returns to the queue.",
    "Writing a checkpoint takes no time.",
)


def failures(
    path: str | Path | None = None,
    *,
    nodes: int = 128,
    jobs: int | None = None,
    load: float = 0.8,
    days: float = 60.0,
    rate: int = 1,
    checkpoint_interval: float = 3600.0,
    restart: float = RESTART,
    seed: int = 0,
) -> Scenario:
    """Create a scenario of an LLM cluster whose nodes of eight GPUs fail and are repaired.

    A job that loses a node returns to the queue with the progress of its last checkpoint. With real data, jobs
    and nodes are those of Crux, and every node has the outages of a server drawn from the trace of InfiniteHBD.
    Without real data, jobs with the sizes and durations of those in Crux arrive at random, and nodes fail
    independently. `ASSUMPTIONS` lists what is unknown.

    Parameters
    ----------
    path
        The folder of all public traces. If None, jobs and faults are generated.
    nodes
        Number of nodes. Jobs that demand more GPUs than these have are left out.
    jobs
        Number of jobs. By default, 1,000 jobs are generated, or all jobs of the trace are used.
    load
        Offered load of generated jobs, as in `poisson`.
    days
        Number of days after which nodes no longer fail.
    rate
        How often nodes fail, as a multiple of the rate in the trace: each node has the outages of this many
        servers. If 0, no node fails.
    checkpoint_interval
        Seconds of work from one checkpoint of a job to the next.
    restart
        Seconds that a job needs to start again.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        A file cannot be read, or an argument is out of range.

    Notes
    -----
    J. Cao et al., Crux, SIGCOMM 2024; C. Shou et al., InfiniteHBD, SIGCOMM 2025.

    Examples
    --------
    >>> scenario = failures(nodes=16, jobs=20, rate=10, seed=1)
    >>> scenario.cluster.gpus, scenario.events[0].event, scenario.checkpoint_interval
    (128, 'leave', 3600.0)
    """
    require(1 <= nodes <= _MOST_NODES, "nodes", nodes, f"must be at least 1 and at most {_MOST_NODES:,}")
    require(0 <= rate <= _MOST_RATE, "rate", rate, f"must be at least 0 and at most {_MOST_RATE:,}")
    require(days > 0, "days", days, "must be more than 0")
    require(0 <= restart <= LATEST, "restart", restart, f"must be at least 0 and at most {LATEST:g}")
    if jobs is not None:
        at_least(1, jobs=jobs)
    if path is None:
        number = 1_000 if jobs is None else jobs
        cluster = _racks(nodes)
        workload = poisson(jobs=number, gpus=cluster.gpus, load=load, shape=CRUX, seed=seed)
    else:
        cluster = crux_cluster(path, hosts=nodes)
        workload = crux(path, max_gpus=cluster.gpus, sample=jobs, seed=seed).workload
    outages = _outages(path, [machine.name for machine in cluster.machines], days, rate, seed)
    return Scenario.of(
        workload.model_copy(update={"name": "failures"}),
        cluster,
        overheads=Overhead(stop=restart),
        events=outage_events(outages, seconds=days * _DAY),
        checkpoint_interval=checkpoint_interval,
    )


def _racks(nodes: int) -> Cluster:
    """Return nodes in racks of eight, with the rest in the last one."""
    machines = [Machine(name=f"node {number}", gpus=GPUS) for number in range(nodes)]
    parts = (machines[first : first + _RACK] for first in range(0, nodes, _RACK))
    return Cluster(racks=[Rack(name=f"rack {number}", machines=part) for number, part in enumerate(parts)])


def _outages(path: str | Path | None, machines: list[str], days: float, rate: int, seed: int) -> Outages:
    """Return the outages of every machine, joined from `rate` independent draws."""
    draws: list[Outages] = []
    histories = None if path is None else server_outages(path)
    for number in range(rate):
        if histories is not None:
            draws.append(drawn_outages(histories, machines, seed=seed * _MOST_RATE + number))
        else:
            means = {"uptime": UPTIME * _DAY, "downtime": DOWNTIME * _DAY}
            draws.append(
                random_outages(machines, seconds=days * _DAY, **means, seed=seed * _MOST_RATE + number)
            )
    return {machine: merged(each for drawn in draws for each in drawn[machine]) for machine in machines}
