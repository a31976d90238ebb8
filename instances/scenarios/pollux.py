"""Pollux: adaptive jobs on nodes of four GPUs, as in the authors' simulator."""

from pathlib import Path
from typing import get_args

from gsopt.core.errors import require, require_one_of
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.scenario import Overhead, Scenario
from instances.arguments import required
from instances.scenarios.adaptive import Setting, home_of, nodes_of, orders, scenario_of
from instances.traces.applications import FOLDER, read_applications

#: Nodes of the simulated cluster, and GPUs per node. Source: Pollux, section 5.3.1.
NODES, GPUS = 16, 4

#: Delay in seconds after every change of a job's GPUs, including its first start. Source: Pollux, section
#: 5.3.1.
RESTART = 30.0

#: Largest number of samples that a GPU processes at once, if fewer than measured. Source: the simulator.
MOST_LOCAL = {"yolov3": 8}

#: Assumptions where papers and programs are silent or differ, for printing with results.
ASSUMPTIONS = (
    "Menus hold the highest speed of every number of GPUs; how fast a job really is depends on its course.",
    "A job of NCF has one GPU and keeps its batch of 32,768, as in the authors' simulator.",
    "In the setting of Ares restarts take as long as in Pollux, and at most 8 nodes are at most 32 GPUs.",
)


def pollux(
    path: str | Path | None = None,
    *,
    trace: str = "pollux",
    number: int = 1,
    setting: Setting = "published",
    nodes: int = NODES,
    gpus_per_node: int = GPUS,
    jobs: int | None = None,
) -> Scenario:
    """Create a scenario of Pollux: jobs of six models whose progress follows from measurements.

    In its default mode, a job has its user's batch size. The authors' simulator decides in rounds of 60 s; pass
    this as `round_length` to `gsopt.simulate`. `ASSUMPTIONS` lists what is unknown or differs from the
    published data.

    Parameters
    ----------
    path
        The folder of all public traces, or a workload file inside it. Required.
    trace
        ``pollux``, or a sample of Sia with jobs of the same models: ``newtrace``, ``philly``, ``saturn`` or
        ``scale/rate_10`` to ``scale/rate_50``.
    number
        Number of the workload, from 1.
    setting
        ``published``: as in the authors' simulator. Jobs also have the mode ``adaptive``, in which they choose
        their batch sizes (except for jobs of the model NCF). ``ares``: as in the simulator of Ares. Progress is
        measured in samples, batch sizes are fixed, no job has more GPUs than eight nodes have, and a restart
        takes time only if the number of nodes changes.
    nodes, gpus_per_node
        Number of nodes, and number of GPUs per node, at most four.
    jobs
        Number of jobs to read, starting with the first row; None for all.

    Raises
    ------
    InvalidInput
        A file cannot be read or has an invalid row, or an argument is out of range.

    Notes
    -----
    A. Qiao et al., Pollux: Co-adaptive cluster scheduling for goodput-optimized deep learning, OSDI 2021,
    section 5.3, and the authors' simulator.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(pollux(folder, jobs=12).workload.jobs) == 12
    True
    """
    path = required(path)
    require_one_of("setting", setting, get_args(Setting))
    require(1 <= gpus_per_node <= GPUS, "gpus_per_node", gpus_per_node, f"must be between 1 and {GPUS}")
    cluster = nodes_of(nodes, gpus_per_node)
    rows = orders(path, trace, number, jobs)
    applications = read_applications(
        home_of(path) / FOLDER, (row.model for row in rows), most_local=MOST_LOCAL, slowdowns={}
    )
    return scenario_of(
        setting,
        rows,
        applications,
        cluster,
        Agents(),
        name="pollux",
        source=f"{trace} workload {number}, applications of Pollux",
        overheads=Overhead(start=RESTART, resize=RESTART),
    )
