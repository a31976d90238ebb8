"""Sia: adaptive jobs on one or several GPU types, as in the authors' simulator."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from gsopt.core.errors import require, require_one_of
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.scenario import Overhead, Scenario
from instances.arguments import required
from instances.doublings import check_halvings
from instances.scenarios.adaptive import Setting, home_of, orders, scenario_of, typed_nodes
from instances.traces.applications import FOLDER, on_types, read_applications

#: GPUs per node, by GPU type. Source: the simulator of Sia.
GPUS = {"aws": 4, "azure": 8, "dgx": 8, "dgx-ext": 8, "quad": 4, "rtx": 8}

#: Number of nodes of each GPU type in Sia's experiments. Source: the simulator of Sia.
CLUSTER = {"aws": 6, "rtx": 3, "dgx-ext": 2}

#: Delay in seconds after every change of a job's GPUs, including its first start. Source: the simulator of Sia.
RESTARTS = {"bert": 120.0, "cifar10": 50.0, "deepspeech2": 25.0, "imagenet": 250.0, "ncf": 15.0, "yolov3": 80.0}

#: How many times slower real runs were than the measurements. Source: the simulator of Sia.
SLOWDOWNS = {"bert": 1.2, "cifar10": 1.8, "deepspeech2": 1.2, "imagenet": 1.2, "ncf": 1.5, "yolov3": 1.2}

#: Largest number of samples that a GPU processes at once, if fewer than measured. Source: the simulator.
MOST_LOCAL = {"rtx": {"deepspeech2": 57}}

#: Tolerance of the fits that jobs make. Source: the simulator of Sia.
TOLERANCE = 1e-5

#: Assumptions where papers and programs are silent or differ, for printing with results.
ASSUMPTIONS = (
    "Menus hold the highest speed of every number of GPUs; how fast a job really is depends on its course.",
    "A job's agent knows the type of its GPUs, also under policies that do not.",
    "In the setting of Ares restarts and slowdowns are Sia's, and at most 8 nodes are at most so many GPUs.",
)


def sia(
    path: str | Path | None = None,
    *,
    trace: str = "philly",
    number: int = 1,
    setting: Setting = "published",
    gpu: str = "aws",
    nodes: int | Mapping[str, int] = 16,
    gpus_per_node: int | None = None,
    jobs: int | None = None,
    halvings: int | None = None,
) -> Scenario:
    """Create a scenario of Sia: like `pollux`, but with slower runs and model-dependent restarts.

    The largest batch size of a GPU depends on the placement. Real runs are slower than the jobs' own estimates.
    With the setting ``published``, a job does not restart if it moves to nodes of the same type and has as many
    GPUs on each of them as before. `ASSUMPTIONS` lists what is unknown or differs from the published data.

    Parameters
    ----------
    path, trace, number, setting, jobs
        As in `pollux`.
    gpu
        GPU type: ``aws`` (T4), ``rtx`` (RTX 2080 Ti), ``quad`` (Quadro RTX 6000), ``azure`` (V100), ``dgx``
        (A100), or ``dgx-ext``, which allows larger batches.
    nodes
        Number of nodes. For several GPU types, a mapping from GPU type to number of nodes, such as `CLUSTER`;
        `gpu` is then ignored. A job's duration and the speeds in its menu are those on the best type.
    gpus_per_node
        Number of GPUs per node. By default, nodes are like those on which the models were measured.
    halvings
        How many times to halve a job's demand, after rounding it down to a power of two. If the job cannot run
        on the result, it demands the next larger number on which it can. By default, the demand is the one in
        the trace.

    Raises
    ------
    InvalidInput
        A file cannot be read or has an invalid row, or an argument is out of range.

    Notes
    -----
    S. Jayaram Subramanya et al., Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling, SOSP 2023,
    and the authors' simulator.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(sia(folder, number=6, nodes=2, jobs=6).workload.jobs) == 6
    True
    """
    path = required(path)
    require_one_of("setting", setting, get_args(Setting))
    require_one_of("gpu", gpu, GPUS)
    counts = nodes if isinstance(nodes, Mapping) else {gpu: nodes}
    require(len(counts) > 0, "nodes", nodes, "must have a number for a GPU type")
    for each in counts:
        require_one_of("nodes", each, GPUS)
    sizes = {each: GPUS[each] if gpus_per_node is None else gpus_per_node for each in counts}
    for each, size in sizes.items():
        require(1 <= size <= GPUS[each], "gpus_per_node", size, f"must be between 1 and {GPUS[each]}")
    check_halvings(halvings)
    cluster = typed_nodes(counts, sizes)
    rows = orders(path, trace, number, jobs)
    applications = on_types(
        {
            each: read_applications(
                home_of(path) / FOLDER,
                (row.model for row in rows),
                each,
                most_local=MOST_LOCAL.get(each, {}),
                slowdowns=SLOWDOWNS,
            )
            for each in counts
        }
    )
    return scenario_of(
        setting,
        rows,
        applications,
        cluster,
        Agents(memory="placement", tolerance=TOLERANCE),
        name="sia",
        source=f"{trace} workload {number}, applications of Sia on {', '.join(counts)}",
        overheads={model: Overhead(start=RESTARTS[model], resize=RESTARTS[model]) for model in applications},
        restarts="shape",
        halvings=halvings,
    )
