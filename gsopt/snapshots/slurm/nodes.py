"""Nodes: Slurm nodes with their GPUs, partitions, features, and reasons to keep them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gsopt.problems.placement import Resources
from gsopt.snapshots.field import Field
from gsopt.snapshots.slurm.gres import Gres, read_gres
from gsopt.snapshots.slurm.values import node_name, nodes, number, words

_MILLI = 1000
_MOST_CPUS = 1_000_000
_MOST_GPUS = 1_000_000

#: States in which no job starts on a node.
_CLOSED = frozenset(
    {
        *("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "FUTURE", "ERROR", "UNKNOWN", "MAINT"),
        *("MAINTENANCE", "NOT_RESPONDING", "NO_RESPOND", "REBOOT_REQUESTED", "REBOOT_ISSUED", "BLOCKED"),
        "INVALID_REG",
    }
)

#: Stands for the name of a reservation if the node does not state it.
_UNNAMED = "without a name"

#: States in which a node is powered down or about to be.
_AWAY = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "POWERED_OFF"})


class Host(NamedTuple):
    """A node as described by Slurm.

    `gres` states its GPUs and other generic resources. The other fields without a comment are as in
    `gsopt.snapshots.node.Node`.
    """

    name: str
    gres: Gres
    capacity: Resources
    used: Resources
    labels: Mapping[str, str]  # its partitions and active features; their values are empty
    kept: str
    closed: str
    reserved: str  # the reservation that holds it; empty if there is none


def read_hosts(listed: Iterable[Field], grouped: Iterable[Field], notes: list[str]) -> dict[str, Host]:
    """Read nodes and return them keyed by name.

    `listed` contains the nodes from ``scontrol show nodes``, slurmrestd, or ``sinfo`` before release 23.11.
    `grouped` contains the entries of ``sinfo`` since that release, each of which stands for identical nodes
    of one partition. If any node has several types of GPUs, a line about such nodes is appended to
    `notes`.
    """
    found: dict[str, Host] = {}
    for entry in listed:
        host = _host(entry)
        if host.name in found:
            entry["name"].refuse("must not occur twice in the files")
        found[host.name] = host
    known = set(found)
    for entry in grouped:
        for host in _group(entry):
            if host.name in found and host.name not in known:
                found[host.name] = found[host.name]._replace(labels={**found[host.name].labels, **host.labels})
            found.setdefault(host.name, host)
    mixed = sum("+" in host.gres.kind for host in found.values())
    if mixed:
        notes.append(f"nodes whose GPUs are of several types, which are joined by + in the cluster: {mixed:,}")
    return found


def _host(entry: Field) -> Host:
    gres = _gres(entry["gres"])
    cpus = _bounded(entry["effective_cpus"]) or _bounded(entry["cpus"])
    memory = max(0, number(entry["real_memory"]) - number(entry["specialized_memory"]))
    states = {each.upper() for each in (*words(entry["state"]), *words(entry["state_flags"]))}
    partitions = [each.name() for each in entry["partitions"]]
    return Host(
        name=node_name(entry["name"]),
        gres=gres,
        capacity=_resources(gres, cpus, memory),
        used=_resources(
            _gres(entry["gres_used"]), _bounded(entry["alloc_cpus"]), _bounded(entry["alloc_memory"])
        ),
        labels=dict.fromkeys([*partitions, *words(entry["active_features"] or entry["features"])], ""),
        kept=_state(states, _CLOSED | _AWAY),
        closed=_state(states, _CLOSED),
        reserved=_reserved(entry, states),
    )


def _group(entry: Field) -> Iterable[Host]:
    names = nodes(entry["nodes"]["nodes"] or entry["nodes"]["hostnames"])
    gres, alone = _gres(entry["gres"]["total"]), len(names) == 1
    used = _gres(entry["gres"]["used"] if alone else Field(entry.source, None))
    cpus, memory = entry["cpus"], entry["memory"]
    held = (_bounded(cpus["allocated"]), _bounded(memory["allocated"])) if alone else (0, 0)
    states = {each.upper() for each in words(entry["node"]["state"])}
    labels = [entry["partition"]["name"].text(), *words(entry["features"]["active"])]
    each_cpus = _bounded(cpus["minimum"]) or (_bounded(cpus["total"]) if alone else 0)
    each_memory = _bounded(memory["minimum"]) or _bounded(memory["maximum"])
    for name in names:
        yield Host(
            name=name,
            gres=gres,
            capacity=_resources(gres, each_cpus, each_memory),
            used=_resources(used, *held),
            labels=dict.fromkeys(filter(None, labels), ""),
            kept=_state(states, _CLOSED | _AWAY),
            closed=_state(states, _CLOSED),
            reserved=_reserved(entry, states),
        )


def _gres(field: Field) -> Gres:
    """Read generic resources, and check that the number of GPUs is plausible."""
    found = read_gres(field)
    if found.number > _MOST_GPUS:
        field.refuse(f"must be at most {_MOST_GPUS:,} GPUs")
    return found


def _bounded(field: Field) -> int:
    found = number(field)
    if not 0 <= found <= _MOST_CPUS * _MILLI:
        field.refuse("must be a number of CPUs, or of MiB")
    return found


def _resources(gres: Gres, cpus: int, memory: int) -> Resources:
    return Resources(**gres.named(), cpu=min(cpus, _MOST_CPUS) * _MILLI, memory=memory)


def _reserved(entry: Field, states: set[str]) -> str:
    """Return the name of the reservation that holds a node, a placeholder if unknown, or an empty string."""
    if entry["reservation"].text():
        return entry["reservation"].name()
    return _UNNAMED if "RESERVED" in states else ""


def _state(states: set[str], closed: frozenset[str]) -> str:
    """Describe, for messages, the states of a node that close it."""
    found = sorted(states & closed)
    return f"is in state {'+'.join(found)}" if found else ""
