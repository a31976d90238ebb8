"""Aryl: a training cluster that borrows idle servers from an inference cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from gsopt.core.errors import require, require_one_of
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import LATEST, LEAST
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from instances.scenarios.demand import (
    MEAN,
    PEAK,
    PEAK_TO_TROUGH,
    InferenceDemand,
    made_up_demand,
    public_demand,
)
from instances.scenarios.kinds import INFERENCE, TRAINING, KindShares
from instances.scenarios.lending import lending
from instances.scenarios.overlaid import LOAD, made_up_workload, overlaid_workload
from instances.traces.itp import itp

#: GPUs per server, and servers of the training and of the inference cluster. Source: Aryl, section 7.1.
GPUS, SERVERS, INFERENCE_SERVERS = 8, 443, 520

#: How many times slower a GPU of the inference cluster is. Source: Aryl, section 7.5, where three inference
#: servers replace one training server; Table 10 assumes four.
SLOWER = 3.0

#: Largest number of servers of each cluster, about 200 times as many as in the paper.
MOST_SERVERS = 100_000

#: Largest factor by which a GPU may be slower, as in `gsopt.scenario.speed.Speed`.
MOST_SLOWER = 1_000_000

#: Overhead of each preemption, in seconds. Source: Aryl, section 7.2.
OVERHEAD = 63.0

#: Support for elastic scaling and heterogeneous training: the shares of elastic and of heterogeneous jobs, and
#: how many times slower heterogeneous jobs are on several GPU types at once. Source: Aryl, section 7.1.
SUPPORT: Mapping[str, tuple[float, float, float]] = {
    "basic": (0.05, 0.0, 1.0),
    "advanced": (0.05, 0.1, 1 / 0.7),
    "ideal": (1.0, 1.0, 1.0),
}

#: Assumptions where the paper is silent or its data are private, for printing with results.
ASSUMPTIONS = (
    "Aryl's trace is private: two windows of 15 days of the ITP trace, 5 days apart, lie over each other.",
    "They hold 50,119 jobs (the paper has 50,390); a job of both windows is there twice, days apart.",
    "They last for 15,371 s in the mean, and none for less than 600 s; the paper's last for about 13,500 s.",
    "The median of the paper's JCT is 791 s, here it is 10,000 s: ITP has no short jobs.",
    "As recorded they need 0.673 of the training GPUs, and hardly any job queues.",
    "So durations are stretched to load 0.91, where FIFO queues jobs for 3,456 s in the mean (paper: 3,072),",
    "45 s in the median (55); its usage is 0.79 then (0.72 in Table 5, for which the load is 0.81).",
    "Elastic jobs: 5 % of all, drawn among those with at least 4 GPUs; they have 39 % of the GPU time, not 36.",
    "A worker has 2 GPUs, an elastic job its demand and up to twice as much; the paper gives no ranges.",
    "Jobs that run on either type, 21 %, are drawn among all, of any size; so are heterogeneous ones.",
    "A job that runs on either type takes as many GPUs of either, and is three times slower on the slower one.",
    "By Table 7 of the paper, if its rows are of the same jobs, it is no slower there (`slower=1`).",
    "Jobs keep their progress when they are stopped and lose 63 s, as in the paper's simulation.",
    "The combined usage of 0.52 in Table 5 of the paper means that inference uses 0.35, not 0.65 as Figure 1.",
)


def aryl(
    path: str | Path | None = None,
    *,
    support: Literal["basic", "advanced", "ideal"] = "basic",
    loaning: bool = True,
    days: float = 15.0,
    servers: int = SERVERS,
    inference_servers: int = INFERENCE_SERVERS,
    jobs: int | None = None,
    load: float | None = LOAD,
    shortest: float = LEAST,
    longest: float = LATEST,
    elastic: float | None = None,
    heterogeneous: float | None = None,
    mixed: float | None = None,
    either: float = 0.21,
    reach: Literal["above", "below"] = "above",
    worker_gpus: int = 2,
    scaling: Literal["linear", "imperfect"] = "linear",
    normalised: bool = False,
    slower: float = SLOWER,
    checkpoints: float = 1.0,
    overhead: float = OVERHEAD,
    interval: int = 300,
    headroom: int = 0,
    mean: float = MEAN,
    peak: float = PEAK,
    peak_to_trough: float = PEAK_TO_TROUGH,
    begin: float = 0.0,
    seed: int = 0,
) -> Scenario:
    """Create a scenario of Aryl: a training cluster and an inference cluster, their jobs, and the loans.

    Machines of the inference cluster are absent while they are not on loan. `ASSUMPTIONS` lists what is unknown
    or differs from the paper.

    Parameters
    ----------
    path
        The folder of all public traces. If None, jobs and demand are generated.
    support
        ``basic``: 5 % of the jobs are elastic. ``advanced``: in addition, 10 % are heterogeneous, i.e. they can
        run on both types of GPU at once, with a loss of 30 % of their speed. ``ideal``: all jobs are elastic
        and heterogeneous, without this loss.
    loaning
        Whether there is an inference cluster that lends machines.
    days, servers, inference_servers
        Length of the trace in days, and number of eight-GPU servers in each cluster.
    jobs, load, shortest, longest
        As in `overlaid_workload`.
    elastic, heterogeneous, mixed
        The shares of elastic and of heterogeneous jobs, and the factor by which heterogeneous jobs are slower
        on mixed types. By default, they follow from `support`.
    either, reach, worker_gpus, scaling, checkpoints
        As in `KindShares`.
    normalised
        Whether a job takes `slower` times as many GPUs on the inference cluster; `slower` must then be an
        integer.
    slower
        How many times slower a GPU of the inference cluster is.
    overhead
        Seconds that a job loses when it restarts after it was stopped.
    interval, headroom
        As in `lending`.
    mean, peak, peak_to_trough, begin
        As in `public_demand`.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        A file cannot be read, or an argument is out of range.

    Notes
    -----
    J. Li et al., Aryl: An elastic cluster scheduler for deep learning, sections 2 and 7.

    Examples
    --------
    >>> scenario = aryl(days=0.5, servers=4, inference_servers=4)
    >>> len(scenario.cluster.machines), len(scenario.workload.jobs), scenario.events[0].event
    (8, 15, 'leave')
    """
    require_one_of("support", support, SUPPORT)
    for name, number in (("servers", servers), ("inference_servers", inference_servers)):
        require(1 <= number <= MOST_SERVERS, name, number, f"must be at least 1 and at most {MOST_SERVERS:,}")
    require(1 <= slower <= MOST_SLOWER, "slower", slower, f"must be at least 1 and at most {MOST_SLOWER:,}")
    require(0 <= overhead <= LATEST, "overhead", overhead, f"must be at least 0 and at most {LATEST:g}")
    whole = not normalised or float(slower).is_integer()
    require(whole, "slower", slower, "must be a whole number where demands are normalised")
    usual = SUPPORT[support]
    kinds = KindShares(
        elastic=usual[0] if elastic is None else elastic,
        heterogeneous=usual[1] if heterogeneous is None else heterogeneous,
        either=either,
        checkpoints=checkpoints,
        reach=reach,
        worker_gpus=worker_gpus,
        scaling=scaling,
        normalised=int(slower) if normalised else 1,
    )
    kinds.check()
    gpus = {TRAINING: servers * GPUS, INFERENCE: inference_servers * GPUS if loaning else 0}
    options: dict[str, Any] = {"days": days, "gpus": gpus[TRAINING], "jobs": jobs, "load": load, "seed": seed}
    options |= {"shortest": shortest, "longest": longest}
    workload = made_up_workload(**options) if path is None else overlaid_workload(itp(path).workload, **options)
    given = kinds.given(workload.jobs, training=gpus[TRAINING], inference=gpus[INFERENCE], seed=seed)
    cluster = _cluster(servers, inference_servers if loaning else 0)
    lent: dict[str, Any] = {}
    if loaning:
        facts = {"mean": mean, "peak": peak, "peak_to_trough": peak_to_trough, "begin": begin}
        demand = inference_demand(path, days=days, inference_servers=inference_servers, seed=seed, **facts)
        machines = cluster.machines[servers:]
        lent["events"] = lending(demand, machines, interval=interval, headroom=headroom)
        lent["speed"] = Speed(gpu_types={INFERENCE: slower}, mixed=usual[2] if mixed is None else mixed)
    return Scenario.of(
        workload.model_copy(update={"name": f"aryl-{support}", "jobs": given}),
        cluster,
        overheads=Overhead(stop=overhead),
        clock_start=0.0,  # from which the inference cluster's intervals count
        **lent,
    )


def inference_demand(
    path: str | Path | None = None,
    *,
    days: float = 15.0,
    inference_servers: int = INFERENCE_SERVERS,
    mean: float = MEAN,
    peak: float = PEAK,
    peak_to_trough: float = PEAK_TO_TROUGH,
    begin: float = 0.0,
    seed: int = 0,
) -> InferenceDemand:
    """Return the demand of the inference cluster in the scenario that `aryl` creates with the same options."""
    facts = {"mean": mean, "peak": peak, "peak_to_trough": peak_to_trough, "begin": begin}
    if path is None:
        return made_up_demand(days=days, gpus=inference_servers * GPUS, seed=seed, **facts)
    return public_demand(path, days=days, gpus=inference_servers * GPUS, **facts)


def _cluster(servers: int, inference_servers: int) -> Cluster:
    """Create a rack of training servers, and a rack of inference servers if there are any."""
    racks = [("training", TRAINING, servers), ("inference", INFERENCE, inference_servers)]
    return Cluster(
        racks=[
            Rack(
                name=name,
                machines=[
                    Machine(name=f"{name} {number}", gpus=GPUS, gpu_type=gpu_type)
                    for number in range(1, number_of + 1)
                ],
            )
            for name, gpu_type, number_of in racks
            if number_of
        ]
    )
