"""Jobs: a reader of running and waiting Slurm jobs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from gsopt.problems.placement import Resources
from gsopt.snapshots.field import Field
from gsopt.snapshots.gang import MOST_PRIORITY, Part
from gsopt.snapshots.slurm.gres import Gres, read_gres, read_tres
from gsopt.snapshots.slurm.nodes import Host
from gsopt.snapshots.slurm.places import SlurmPlaces
from gsopt.snapshots.slurm.values import moment, nodes, number, words

_MILLI = 1000
_MOST_TASKS = 1_000_000
_MOST = 1_000_000_000  # of CPUs in thousandths, and of MiB: as much as a decision counts

_STANDING = frozenset({"RUNNING", "CONFIGURING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED"})

#: Reasons for waiting that remain even if resources are free.
_HELD = frozenset(
    {"BeginTime", "Dependency", "DependencyNeverSatisfied", "JobHeldUser", "JobHeldAdmin", "JobArrayTaskLimit"}
)

#: Values of `shared` with which a job shares its nodes, and values of `exclusive` with which it does not. The
#: field `exclusive` exists in releases before 23.11.
_SHARED, _UNSHARED = frozenset({"oversubscribe"}), frozenset({"true", "user", "mcs", "topo"})

#: Reasons why a job forms no gang, worded as notes about all such jobs.
OVER, LEAVING, HELD, ELSEWHERE = (
    "completed, and not counted",
    "ending, which hold their resources and are not a loss",
    "held, or waiting for a time or for others, and not placed",
    "on nodes that no file has, and not counted",
)

_TASKS = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)


class SlurmJob(NamedTuple):
    """A running or waiting job, a task of a job array, or a component of a heterogeneous job."""

    name: str  # its id in Slurm's commands, or that of its heterogeneous job
    kind: str
    parts: tuple[Part, ...]  # its share of each node, or what it waits for
    priority: int
    copies: int  # number of waiting tasks of an array
    requeues: bool  # whether Slurm restarts it after a preemption


class JobReader(NamedTuple):
    """A reader of jobs, with the nodes and places that it looks up."""

    hosts: Mapping[str, Host]
    places: SlurmPlaces

    def fate(self, job: Field) -> str:
        """Return the reason why a job forms no gang, or an empty string if it forms one."""
        states = {each.upper() for each in words(job["job_state"])}
        if "COMPLETING" in states:
            return LEAVING
        if states & _STANDING:
            return "" if any(name in self.hosts for name in nodes(job["nodes"])) else ELSEWHERE
        if "PENDING" not in states:
            return OVER
        return HELD if job["state_reason"].text() in _HELD or job["hold"].truth() else ""

    def read(self, job: Field) -> SlurmJob:
        """Read a job that is a gang, or one component of a gang."""
        waits = "PENDING" in {each.upper() for each in words(job["job_state"])}
        parts = self._waiting(job) if waits else tuple(self.standing(job))
        name, kind = _named(job)
        return SlurmJob(
            name=name,
            kind=kind,
            parts=parts,
            priority=_bounded(job["priority"], number(job["priority"]), MOST_PRIORITY),
            copies=_tasks(job["array_task_string"]) if waits else 1,
            requeues=job["requeue"].truth(),
        )

    def standing(self, job: Field) -> Iterator[Part]:
        """Yield a job's share of each known node."""
        names = nodes(job["nodes"])
        held = _held(job, names)
        cpus, memory = _allocated(job, names)
        started, where = moment(job["start_time"]), self.places.of(job)
        for name, gres, own_cpus, own_memory in zip(names, held, cpus, memory, strict=True):
            if name in self.hosts:
                yield Part(
                    node=name,
                    needs=Resources(**gres.named(), cpu=own_cpus * _MILLI, memory=own_memory),
                    gpus=float(gres.number),
                    started=started,
                    where=where,
                )

    def _waiting(self, job: Field) -> tuple[Part, ...]:
        """Return the waiting part of a job; its count is the number of nodes, tasks or GPUs requested."""
        count, asked = _shape(job)
        cpus = ceil(max(1, number(job["cpus"])) / count)
        memory = number(job["memory_per_node"]) or number(job["memory_per_cpu"]) * cpus
        needs = Resources(
            **asked.named(),
            cpu=_bounded(job["cpus"], cpus * _MILLI),
            memory=_bounded(job["memory_per_node"] or job["memory_per_cpu"], memory),
        )
        where = self.places.of(job)
        return (Part(count=count, needs=needs, gpus=float(asked.number), where=where),)


def unread(job: Field) -> Iterator[str]:
    """Yield descriptions of a job's requirements that are ignored."""
    if not _SHARED.issuperset(words(job["shared"])) or not _UNSHARED.isdisjoint(words(job["exclusive"])):
        yield "whole nodes"
    if job["licenses"].text():
        yield "licences"
    if number(job["required_switches"]):
        yield "few switches"
    if job["contiguous"].truth():
        yield "nodes side by side"


def _shape(job: Field) -> tuple[int, Gres]:
    """Return the number of parts of a waiting job, and the generic resources that each part needs."""
    on = max(1, number(job["node_count"]))
    for key, count in (
        ("tres_per_node", on),
        ("tres_per_task", max(1, number(job["tasks"]))),
        ("tres_per_socket", on),
    ):
        if job[key].text():
            return _counted(job[key], count), read_gres(job[key])
    asked = read_gres(job["tres_per_job"])
    if not asked.number:
        return _counted(job["node_count"], on), asked
    if number(job["max_nodes"]) == 1 or asked.number == 1:
        return 1, asked
    if asked.number % on == 0 and on > 1:
        return on, Gres({kind: amount // on for kind, amount in asked.gpus.items()}, {})
    kinds = [kind for kind, amount in asked.gpus.items() if amount]
    return _counted(job["tres_per_job"], asked.number), Gres({kinds[0] if len(kinds) == 1 else "": 1}, {})


def _counted(field: Field, count: int) -> int:
    if count > _MOST_TASKS:
        field.refuse(f"must be at most {_MOST_TASKS:,} nodes, tasks or GPUs")
    return count


def _named(job: Field) -> tuple[str, str]:
    """Return the name of a job, as Slurm's commands expect it, and its kind."""
    own, array, together = (number(job[key]) for key in ("job_id", "array_job_id", "het_job_id"))
    if own <= 0:
        job["job_id"].refuse("must be the number of a job")
    task = job["array_task_id"]
    has_task = task["set"].truth() if isinstance(task.value, dict) else bool(task)
    if together > 0:
        return str(together), "heterogeneous job"
    if array > 0 and has_task:
        return f"{array}_{number(task)}", "task of an array"
    return str(own), "array" if job["array_task_string"].text() else "job"


def _tasks(field: Field) -> int:
    """Count the waiting tasks of a job array, which are listed in a form such as ``0-9,12,20-30:2%4``."""
    text = field.text().partition("%")[0].strip("[]")
    if not text:
        return 1
    total = 0
    for piece in text.split(","):
        found = _TASKS.fullmatch(piece)
        if found is None:
            if piece.startswith("...") or piece.endswith("..."):  # Slurm cuts long lists
                continue
            field.refuse("must be tasks such as 0-9,12,20-30:2%4")
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if last < first or step < 1:
            field.refuse("must be tasks such as 0-9,12,20-30:2%4")
        total += (last - first) // step + 1
    if total > _MOST_TASKS:
        field.refuse(f"must be at most {_MOST_TASKS:,} tasks")
    return max(1, total)


def _held(job: Field, names: Sequence[str]) -> list[Gres]:
    """Return the generic resources that a job has on each of its nodes."""
    details = [read_gres(each) for each in job["gres_detail"]]
    if len(details) == len(names):
        return details
    if details:
        job["gres_detail"].refuse(f"must have as many entries as there are nodes, {len(names):,}")
    if job["tres_per_node"].text():
        return [read_gres(job["tres_per_node"])] * len(names)
    total = read_tres(job["tres_alloc_str"]).get("gpu", 0)
    kinds = list(read_gres(job["tres_per_job"]).gpus)
    kind = kinds[0] if len(kinds) == 1 else ""
    return [Gres({kind: amount}, {}) for amount in _spread(total, len(names))]


def _allocated(job: Field, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the number of CPUs and the MiB of memory that a job has on each of its nodes."""
    listed = job["job_resources"]["nodes"]
    if isinstance(listed.value, dict) and len(given := list(listed["allocation"])) == len(names):
        cpus = [_bounded(each["cpus"], number(each["cpus"]["count"])) for each in given]
        return cpus, [_bounded(each["memory"], number(each["memory"]["allocated"])) for each in given]
    tres = read_tres(job["tres_alloc_str"])
    return _spread(tres.get("cpu", 0), len(names)), _spread(tres.get("mem", 0), len(names))


def _spread(total: int, count: int) -> list[int]:
    """Divide an amount into integers that differ by at most 1, larger ones first."""
    return [total // count + (index < total % count) for index in range(count)]


def _bounded(field: Field, amount: int, most: int = _MOST) -> int:
    if not 0 <= amount <= most:
        field.refuse(f"must be from 0 to {most:,} in all")
    return amount
