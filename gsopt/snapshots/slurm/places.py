"""Places: the nodes on which Slurm jobs may start, given partitions, features and reservations."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gsopt.snapshots.field import Field
from gsopt.snapshots.gang import MOST_ASKED, Where
from gsopt.snapshots.slurm.nodes import Host
from gsopt.snapshots.slurm.values import moment, nodes, number

_PLAIN = re.compile(r"[A-Za-z0-9_.:=/+-]+(?:(?:&[A-Za-z0-9_.:=/+-]+)*|(?:\|[A-Za-z0-9_.:=/+-]+)*)", re.ASCII)


class Reservation(NamedTuple):
    """A reservation of nodes, with its start and end as Unix timestamps (None if unknown)."""

    name: str
    nodes: frozenset[str]
    start: float | None
    end: float | None

    def holds(self, time: float | None) -> bool:
        """Check whether the reservation is active at the given time.

        If its start or end is unknown, the reservation is unlimited on that side. If the given time is None,
        the reservation counts as active.
        """
        return time is None or ((self.start or 0.0) <= time and (self.end is None or time < self.end))


def read_reservations(entries: Sequence[Field]) -> list[Reservation]:
    """Read reservations, active or not, from their entries in Slurm's output."""
    return [
        Reservation(
            each["name"].name(),
            frozenset(nodes(each["node_list"])),
            moment(each["start_time"]),
            moment(each["end_time"]),
        )
        for each in entries
    ]


def told_by_hosts(hosts: Iterable[Host]) -> list[Reservation]:
    """Return the reservations given in the entries of nodes; their start and end are unknown."""
    found: dict[str, set[str]] = {}
    for host in hosts:
        if host.reserved:
            found.setdefault(host.reserved, set()).add(host.name)
    return [Reservation(name, frozenset(held), None, None) for name, held in found.items()]


class SlurmPlaces:
    """A collector of the sets of nodes on which jobs may start.

    `partitions` maps partitions to their nodes, because the nodes themselves may not state their partitions.
    Features in a syntax that is not supported are ignored, and a line about this is appended to `notes`.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        partitions: Mapping[str, frozenset[str]],
        reservations: Sequence[Reservation],
        notes: list[str],
    ) -> None:
        self._hosts, self._partitions, self._notes = hosts, partitions, notes
        self._reserved: dict[str, frozenset[str]] = {}
        for each in reservations:
            self._reserved[each.name] = self._reserved.get(each.name, frozenset()) | each.nodes
        self._named: dict[tuple[str, ...], Where] = {}
        self._asked: dict[tuple[str, ...], str] = {}

    @property
    def found(self) -> tuple[Where, ...]:
        """The sets of nodes that `of` has named so far, each listed once."""
        return tuple(self._named.values())

    def of(self, job: Field) -> str:
        """Return the name of the set of nodes, open or not, on which a job may start; empty for all nodes."""
        keys = ("partition", "features", "resv_name", "required_nodes", "excluded_nodes")
        asked = (*(job[key].text() for key in keys), str(number(job["node_count"])))
        if asked not in self._asked:
            if len(self._asked) >= MOST_ASKED:
                job.refuse(f"must not be more than {MOST_ASKED:,} different requirements on nodes")
            self._asked[asked] = self._name(job)
        return self._asked[asked]

    def _name(self, job: Field) -> str:
        names = tuple(name for name in self._hosts if self._takes(job, name))
        names = self._required(job, names)
        if len(names) == len(self._hosts):
            return ""
        if names not in self._named:
            reason = ", ".join(
                f"{key} {job[key].text()}" for key in ("partition", "features", "resv_name") if job[key].text()
            )
            shown = "".join(each if each.isprintable() else "?" for each in reason)[:200]
            self._named[names] = Where(name=f"where-{len(self._named) + 1}", reason=shown, nodes=names)
        return self._named[names].name

    def _takes(self, job: Field, name: str) -> bool:
        labels = self._hosts[name].labels
        partitions = [each for each in job["partition"].text().split(",") if each]
        if partitions and not any(
            each in labels or name in self._partitions.get(each, frozenset()) for each in partitions
        ):
            return False
        return self._free(job, name) and self._has_features(job, labels)

    def _free(self, job: Field, name: str) -> bool:
        """Check whether a node is in the job's reservation or, if the job names none, in no reservation."""
        own = job["resv_name"].text()
        if own:
            return name in self._reserved.get(own, frozenset())
        return not any(name in held for held in self._reserved.values())

    def _has_features(self, job: Field, labels: Mapping[str, str]) -> bool:
        text = job["features"].text()
        if not text:
            return True
        if not _PLAIN.fullmatch(text):
            note = "features joined by other than & alone or | alone, which are ignored"
            if note not in self._notes:
                self._notes.append(note)
            return True
        if "|" in text:
            return any(each in labels for each in text.split("|"))
        return all(each in labels for each in text.split("&"))

    def _required(self, job: Field, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the given nodes without excluded ones, and only required ones if these are enough."""
        required, excluded = set(nodes(job["required_nodes"])), set(nodes(job["excluded_nodes"]))
        if required and len(required) >= number(job["node_count"]):
            names = tuple(name for name in names if name in required)
        return tuple(name for name in names if name not in excluded)
