"""Slurm: a reader of snapshots from the output of scontrol, squeue, sinfo and slurmrestd."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.conf import read_lines
from gsopt.scenario.cluster.formats.hostlist import compress
from gsopt.scenario.cluster.formats.nodes import Gpus, write_gres
from gsopt.scenario.cluster.formats.slurm import read_slurm
from gsopt.snapshots.documents import MOST_OBJECTS, parse, text_of
from gsopt.snapshots.field import Field
from gsopt.snapshots.gang import Gang
from gsopt.snapshots.network import NodePlace, network_of
from gsopt.snapshots.node import Node
from gsopt.snapshots.slurm.jobs import LEAVING, JobReader, SlurmJob, unread
from gsopt.snapshots.slurm.nodes import Host, read_hosts
from gsopt.snapshots.slurm.places import Reservation, SlurmPlaces, read_reservations, told_by_hosts
from gsopt.snapshots.slurm.values import moment, nodes
from gsopt.snapshots.snapshot import Snapshot
from gsopt.snapshots.valid import validly

#: Ending of the notes about nodes that the reader of topology.conf leaves out.
_NO_GPUS = ": has no GPUs and is left out"

#: Keys of the lists that are read from documents.
LISTS = ("nodes", "sinfo", "jobs", "partitions", "reservations")


def read(
    *paths: str | Path,
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a snapshot of a Slurm cluster.

    The files contain nodes and, optionally, jobs, partitions and reservations, in any order, as printed by
    ``scontrol show nodes --json``, ``squeue --json``, ``sinfo --json`` or slurmrestd (data parsers from v0.0.37
    on). The network is read from a topology.conf, if one is given.

    - **GPUs** are generic resources, with their type if it is stated. Shards and MPS remain separate resources.
      A running job's GPUs on each node are read from ``gres_detail`` or else ``tres_per_node``. If both are
      missing, the job's GPUs are spread evenly over its nodes.
    - **Gangs** are jobs, tasks of job arrays, and heterogeneous jobs as a whole. If a waiting job requests a
      total number of GPUs (``--gpus``) on any number of nodes, each GPU may be on a different node.
    - **Kept nodes** must not be given back: those that are powered down or about to be, in an active
      reservation, or in a state in which no job starts, such as down or drained.

    Parameters
    ----------
    paths
        The files.
    time
        Time at which the files were written, as a Unix timestamp; None for the time that the files state.
    notes
        List to which lines are appended, for example about ignored nodes, jobs and requirements.

    Raises
    ------
    InvalidInput
        A file cannot be read or is not output of Slurm, there are no nodes, or a job or node occurs twice.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> node = {"name": "n1", "gres": "gpu:h100:4", "state": ["IDLE"], "cpus": 32, "real_memory": 1024}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "nodes.json").write_text(json.dumps({"nodes": [node]}))
    ...     read(f"{folder}/nodes.json").gpus
    Counter({'h100': 4})
    """
    texts = {str(path): text_of(path) for path in paths}
    confs = {source: text for source, text in texts.items() if is_conf(text)}
    documents = [each for source, text in texts.items() if source not in confs for each in parse(source, text)]
    return snapshot_of(documents, confs, time=time, notes=notes)


def snapshot_of(
    documents: Sequence[Field],
    confs: Mapping[str, str],
    *,
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a snapshot of a Slurm cluster from Slurm's parsed JSON output and, if given, a topology.conf.

    `confs` maps the path of the topology.conf to its text; it is empty if there is none.
    """
    said = [] if notes is None else notes
    of = {name: [each for document in documents for each in _listed(document, name)] for name in LISTS}
    first = documents[0].source if documents else next(iter(confs), "")
    if not of["nodes"] and not of["sinfo"]:
        raise InvalidInput("", "", "must have nodes beside jobs: scontrol show nodes --json", source=first)
    source = (of["nodes"] or of["sinfo"])[0].source
    with validly(source):
        hosts = read_hosts(of["nodes"], of["sinfo"], said)
    now = _latest(documents, of["jobs"]) if time is None else time
    reservations = [each for each in read_reservations(of["reservations"]) if each.holds(now)]
    reservations += told_by_hosts(hosts.values())
    places = SlurmPlaces(hosts, _partitions(of["partitions"]), reservations, said)
    used, gangs = _read_jobs(of["jobs"], JobReader(hosts, places), said)
    with validly(source):
        return Snapshot(
            source="slurm",
            time=now,
            nodes=[_node(host, used.get(host.name, {}), reservations) for host in hosts.values()],
            gangs=gangs,
            places=places.found,
            network=_network(confs, hosts, said),
        )


def is_conf(text: str) -> bool:
    r"""Check whether the text is that of a topology.conf."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first.lower().startswith(("switchname=", "blockname="))


def _listed(document: Field, name: str) -> list[Field]:
    if not any(key in document.mapping() for key in LISTS):
        document.refuse(f"must be Slurm's JSON output, with {', '.join(LISTS)}")
    found = list(document[name])
    if len(found) > MOST_OBJECTS:
        raise InvalidInput(
            name, f"{len(found):,} entries", f"must be at most {MOST_OBJECTS:,}", source=document.source
        )
    return found


def _partitions(entries: Sequence[Field]) -> dict[str, frozenset[str]]:
    """Return the nodes of each partition, which each release of Slurm states in its own format."""
    found = {}
    for each in entries:
        listed = each["nodes"]["configured"] if isinstance(each["nodes"].value, dict) else each["nodes"]
        found[each["name"].name()] = frozenset(nodes(listed))
    return found


def _latest(documents: Sequence[Field], jobs: Sequence[Field]) -> float | None:
    """Return when the files were written or, if unknown, when any job was last submitted or evaluated."""
    times = [moment(document["last_update"]) for document in documents]
    if not any(times):
        times = [moment(job[key]) for job in jobs for key in ("submit_time", "last_sched_evaluation")]
    return max((each for each in times if each is not None), default=None)


def _read_jobs(
    jobs: Sequence[Field], reader: JobReader, notes: list[str]
) -> tuple[dict[str, dict[str, int]], list[Gang]]:
    """Return the resources that jobs use on each node, keyed by node name, and the gangs."""
    used: dict[str, dict[str, int]] = {}
    fates: Counter[str] = Counter()
    unseen: Counter[str] = Counter()
    found: dict[str, list[SlurmJob]] = {}
    seen: set[str] = set()
    for job in jobs:
        with validly(job.source):
            fate = reader.fate(job)
            fates[fate] += 1
            read_job = None if fate else reader.read(job)
            standing = list(reader.standing(job)) if fate in ("", LEAVING) else []
        if read_job and read_job.kind != "heterogeneous job" and read_job.name in seen:
            job["job_id"].refuse("must not occur twice in the files")
        if read_job:
            seen.add(read_job.name)
            unseen.update(() if standing else unread(job))
            found.setdefault(read_job.name, []).append(read_job)
        for part in standing:
            on = used.setdefault(part.node, {})
            for resource, amount in part.needs.named.items():
                on[resource] = on.get(resource, 0) + amount
    notes.extend(f"jobs {fate}: {number:,}" for fate, number in fates.items() if fate)
    notes.extend(f"jobs that wait and ask for {what}, which is ignored: {unseen[what]:,}" for what in unseen)
    with validly(jobs[0].source if jobs else ""):
        return used, [_gang(each) for each in found.values()]


def _gang(jobs: Sequence[SlurmJob]) -> Gang:
    """Create a gang from a job, or from the components of a heterogeneous job."""
    return Gang(
        name=jobs[0].name,
        kind=jobs[0].kind,
        parts=[part for job in jobs for part in job.parts],
        priority=max(job.priority for job in jobs),
        copies=jobs[0].copies,
        requeues=all(job.requeues for job in jobs),
    )


def _node(host: Host, used: Mapping[str, int], reservations: Sequence[Reservation]) -> Node:
    """Create a node from its own data and the resources that its jobs use.

    The two may be from different times, so the larger amount of each resource counts as used.
    """
    reserved = next((each.name for each in reservations if host.name in each.nodes), "")
    own = host.used.named
    most = {name: max(own.get(name, 0), used.get(name, 0)) for name in {**own, **used}}
    return Node(
        name=host.name,
        gpus=host.gres.number,
        gpu_type=host.gres.kind,
        capacity=host.capacity,
        used=Resources(**{name: amount for name, amount in most.items() if amount}),
        labels=host.labels,
        kept=host.kept or (f"is in the reservation {reserved}" if reserved else ""),
        closed=host.closed,
    )


def _network(confs: Mapping[str, str], hosts: Mapping[str, Host], notes: list[str]) -> Cluster | None:
    """Build the cluster with the switches in topology.conf or, without such a file, below a single switch."""
    with_gpus = [host for host in hosts.values() if host.gres.number]
    if not confs or not with_gpus:
        stands = (Machine(name=host.name, gpus=host.gres.number, gpu_type=host.gres.kind) for host in with_gpus)
        return network_of([NodePlace(machine, ()) for machine in stands])
    if len(confs) > 1:
        raise InvalidInput("", "", "must not be a second topology.conf", source=list(confs)[1])
    ((source, text),) = confs.items()
    there = _named(source, text)
    absent = [host.name for host in with_gpus if host.name not in there]
    if absent:
        notes.append(f"{source}: nodes with GPUs below no switch, left out of the network: {len(absent):,}")
    stated: dict[Gpus, list[str]] = {}
    for name in there:
        gres = hosts[name].gres if name in hosts else None
        stated.setdefault(Gpus(gres.number, gres.kind) if gres else Gpus(0), []).append(name)
    lines = [f"NodeName={compress(names)} Gres={write_gres(gpus)}" for gpus, names in stated.items()]
    said: list[str] = []
    with validly(source):
        cluster = read_slurm(source, "\n".join([text, "", *lines]), Told(), said)
    without = sum(note.endswith(_NO_GPUS) for note in said)
    if without:
        notes.append(f"{source}: nodes without GPUs, left out of the network: {without:,}")
    notes.extend(note for note in said if not note.endswith(_NO_GPUS))
    return cluster


def _named(source: str, text: str) -> dict[str, None]:
    """Return the names of the nodes in a topology.conf, in order."""
    lines = [line for line in read_lines(source, text) if line.kind in ("SwitchName", "BlockName")]
    return dict.fromkeys(name for line in lines for name in line.names(source, "Nodes"))
