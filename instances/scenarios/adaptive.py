"""Adaptive jobs: the workloads of Pollux and Sia, in which speeds come from measurements of real models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from instances.doublings import halved
from instances.traces.applications import FOLDER
from instances.traces.reading import TraceRow, find, read_whole_table

#: Name of the mode in which a job chooses its batch size.
ADAPTIVE = "adaptive"

#: Jobs of this model have one GPU and keep the batch size of their row. Source: the simulator of Pollux.
SINGLE = "ncf"

#: Paths of the workloads in the folder of public traces; Sia's are in one folder per sample.
POLLUX, SIA = Path("pollux_osdi21", "workloads"), Path("sia", "workloads")

#: The simulator to follow: the published one of Pollux or Sia, or the one of Ares.
Setting = Literal["published", "ares"]

#: In the setting of Ares: seconds between the times at which jobs tune themselves, and largest number of nodes
#: per job.
ROUND, NODES_OF_A_JOB = 360, 8

#: Largest number of nodes of a cluster.
MOST_NODES = 100_000

_COLUMNS = ("name", "time", "application", "num_replicas", "batch_size")


class SubmittedJob(NamedTuple):
    """A row of a workload: the name, submission time, model, demand and batch size of a job."""

    name: str
    time: float
    model: str
    gpus: int
    batch_size: int


def orders(path: str | Path, trace: str, number: int, jobs: int | None) -> list[SubmittedJob]:
    """Read the rows of a workload of Pollux or Sia, or only the first `jobs` of them.

    The arguments are those of `pollux`.
    """
    require(jobs is None or jobs >= 1, "jobs", jobs, "must be at least 1")
    folder = POLLUX if trace == "pollux" else SIA / trace
    file = find(path, folder / f"workload-{number}.csv")
    return [order for _, order in read_whole_table(file, _COLUMNS, _order)][:jobs]


def _order(row: TraceRow) -> SubmittedJob:
    gpus, batch_size = row.whole_number("num_replicas"), row.whole_number("batch_size")
    return SubmittedJob(row.values["name"], row.number("time"), row.values["application"], gpus, batch_size)


class Menus:
    """The durations and menus of jobs, computed from the measurements of their models and cached.

    The duration of a job is the duration of its whole training run with the user's batch size, on the best
    placement of the demanded GPUs. For each number of GPUs, the menu contains the highest speed of any epoch
    and placement, relative to the speed on the demanded number. If there are several GPU types, the best type
    counts.

    Parameters
    ----------
    applications, agents
        The measurements of each model, and the settings with which jobs measure and tune themselves.
    most_gpus
        The largest number of GPUs of a job, or one such number per GPU type if models were measured on several
        types.
    """

    def __init__(
        self, applications: Mapping[str, Application], agents: Agents, most_gpus: int | Mapping[str, int]
    ) -> None:
        self._applications, self._agents = applications, agents
        self._most_gpus = {"": most_gpus} if isinstance(most_gpus, int) else most_gpus
        self._known_rates: dict[tuple[str, int | None, int | None], dict[int, float]] = {}
        self._known_seconds: dict[tuple[str, int, int], float | None] = {}

    def job(self, order: SubmittedJob, *, tunes: bool) -> Job:
        """Create the job that a row of a workload describes.

        If `tunes` is true, the job has an additional mode. It chooses its batch size in this mode unless its
        model is `SINGLE`.
        """
        batch = order.batch_size
        duration = self._seconds(order.model, order.gpus, batch)
        if duration is None:
            rule = f"must be a number on which {order.model} was measured with batch size {batch}"
            raise InvalidInput(f"num_replicas of {order.name}", shorten(order.gpus), rule)
        demanded = max(each.highest_rate(order.gpus, batch) for each, _ in self._courses(order.model, batch))
        menu = {**self._speeds(order.model, batch, batch, demanded), order.gpus: 1.0}
        return Job(
            name=order.name,
            release_date=order.time,
            duration=duration,
            gpus=order.gpus,
            menu=sorted(menu.items()),
            model=order.model,
            batch_size=batch,
            modes=[self._adaptive(order.model, batch, demanded)] if tunes else [],
        )

    def halved(self, order: SubmittedJob, halvings: int) -> SubmittedJob:
        """Return a row whose demand is rounded down to a power of two and halved `halvings` times.

        If the job cannot run on the halved demand, it demands the next larger number of GPUs on which it can,
        but never more than before.
        """
        batch = order.batch_size
        counts = range(halved(order.gpus, halvings), order.gpus)
        able = (gpus for gpus in counts if self._seconds(order.model, gpus, batch) is not None)
        return order._replace(gpus=next(able, order.gpus))

    def _adaptive(self, model: str, batch: int, demanded: float) -> Mode:
        single = model == SINGLE
        speeds = self._speeds(model, batch, batch if single else None, demanded)
        return Mode(name=ADAPTIVE, menu=list(speeds.items()), tunes=not single)

    def _speeds(self, model: str, users: int, batch: int | None, demanded: float) -> dict[int, float]:
        return {gpus: rate / demanded for gpus, rate in self._rates(model, users, batch).items()}

    def _courses(self, model: str, users: int) -> list[tuple[Course, int]]:
        """Return, for each GPU type, the course of a training run and the largest number of GPUs."""
        course = Course(self._applications[model], self._agents, users)
        return [(course.on(gpu_type), most) for gpu_type, most in self._most_gpus.items()]

    def _rates(self, model: str, users: int, batch: int | None) -> dict[int, float]:
        """Return the highest rate for each number of GPUs on which the model can run."""
        counts_samples = self._agents.progress == "samples"
        key = (model, users if counts_samples else None, batch)
        if key not in self._known_rates:
            rates: dict[int, float] = {}
            for course, room in self._courses(model, users):
                most = 1 if model == SINGLE else min(room, course.application.limits.most_gpus)
                for gpus in range(1, most + 1):
                    rates[gpus] = max(course.highest_rate(gpus, batch), rates.get(gpus, 0.0))
            self._known_rates[key] = {gpus: rate for gpus, rate in sorted(rates.items()) if rate}
        return self._known_rates[key]

    def _seconds(self, model: str, gpus: int, batch: int) -> float | None:
        key = (model, gpus, batch)
        if key not in self._known_seconds:
            found = [course.seconds(gpus, batch) for course, _ in self._courses(model, batch)]
            self._known_seconds[key] = min((each for each in found if each is not None), default=None)
        return self._known_seconds[key]


def scenario_of(
    setting: Setting,
    rows: Sequence[SubmittedJob],
    applications: Mapping[str, Application],
    cluster: Cluster,
    agents: Agents,
    *,
    name: str,
    source: str,
    halvings: int | None = None,
    **physics: Any,
) -> Scenario:
    """Create a scenario in the published setting, in which jobs tune their batch sizes, or in that of Ares.

    The rounds of policies, and the intervals at which jobs tune themselves, are counted from time 0 of the
    workload, as in the authors' simulators. In the setting of Ares, progress is measured in samples, batch
    sizes are fixed, no job has more GPUs than eight nodes have, and a restart takes time only if the
    number of nodes changes. `halvings` is as in `instances.scenarios.sia`. `physics` sets further fields of
    `gsopt.scenario.scenario.Physics`.

    Raises
    ------
    InvalidInput
        A job cannot run on the GPUs that it demands.
    """
    nodes, is_ares = cluster.machines, setting == "ares"
    if is_ares:
        agents = agents.model_copy(update={"interval": ROUND, "progress": "samples"})
        physics["restarts"] = "machines"
        nodes = nodes[:NODES_OF_A_JOB]
    most: int | dict[str, int] = sum(node.gpus for node in nodes)
    if any(application.gpu_types for application in applications.values()):
        most = {kind: sum(node.gpus for node in nodes if node.gpu_type == kind) for kind in cluster.gpu_types}
    menus = Menus(applications, agents, most)
    asked = rows if halvings is None else [menus.halved(row, halvings) for row in rows]
    jobs = [menus.job(row, tunes=not is_ares) for row in asked]
    workload = Workload(name=name, source=f"{source}, setting {setting}", jobs=jobs)
    return Scenario.of(workload, cluster, applications=applications, agents=agents, clock_start=0.0, **physics)


def home_of(path: str | Path) -> Path:
    """Return the folder of all public traces: the nearest one with Sia's profiles, at or above a given path."""
    for folder in (Path(path).absolute(), *Path(path).absolute().parents):
        if (folder / FOLDER).is_dir():
            return folder
    raise InvalidInput("", "", "must be the folder of public traces, or a file inside it", source=str(path))


def nodes_of(nodes: int, gpus: int, gpu_type: str = "") -> Cluster:
    """Return a cluster of equal nodes in one rack."""
    return typed_nodes({gpu_type: nodes}, {gpu_type: gpus})


def typed_nodes(nodes: Mapping[str, int], gpus: Mapping[str, int]) -> Cluster:
    """Return a cluster of one rack, given the number of nodes and of GPUs per node for each GPU type."""
    machines: list[Machine] = []
    for gpu_type, number in nodes.items():
        require(1 <= number <= MOST_NODES, "nodes", number, f"must be at least 1 and at most {MOST_NODES:,}")
        for _ in range(number):
            name = f"node {len(machines) + 1}"
            machines.append(Machine(name=name, gpus=gpus[gpu_type], gpu_type=gpu_type))
    return Cluster(racks=[Rack(name="nodes", machines=machines)])
