"""Events: machines that leave, return, are lent or are reclaimed.

Events concern machines. In a plain cluster, which has no machines, only requests (`Reclaim`) and returns
(`Return`) can occur, and they state numbers of GPUs. Things that happen at the same time are processed in this
order: jobs complete, the capacity changes, events occur in their given order, requests that reach their
deadline take the machines that they are still owed, jobs arrive, and the policy decides.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from gsopt.core.problem import Frozen, Gpus, Many, Name, RuleBroken, refuse_doubles
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Seconds


def _check_names(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    refuse_doubles(info.field_name or "", names, part="")
    return names


_Names = Annotated[Many[Name], AfterValidator(_check_names)]


class _Event(Frozen):
    """An event, with its time and its kind; files always state the kind."""

    event: str
    time: Seconds

    @model_serializer(mode="wrap")
    def _with_its_kind(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"event": self.event, **fields(self)}


class _OfMachines(_Event):
    """An event that concerns some machines, chosen by name, by GPU type, or among all machines."""

    among: _Names = ()
    gpu_type: str = ""

    @model_validator(mode="after")
    def _names_or_type(self) -> Self:
        if self.among and self.gpu_type:
            raise RuleBroken("gpu_type", self.gpu_type, "must be empty where machines are named")
        return self

    def takes(self, server: str, gpu_type: str = "") -> bool:
        """Check whether the event may affect a machine with the given name and GPU type."""
        return self.gpu_type in ("", gpu_type) and (not self.among or server in self.among)


class Leave(_Event):
    """A departure of machines without notice, due to a failure or to maintenance.

    Jobs that hold GPUs of these machines return to the queue. A machine that was already given up on request is
    not affected.

    Attributes
    ----------
    time
        Time in seconds at which the machines leave.
    servers
        Names of the machines.
    lost_work
        Seconds of work that each affected job loses in addition to the work since its last checkpoint
        (`gsopt.scenario.scenario.Physics.checkpoint_interval`). A job cannot lose more work than it has done; a
        job without checkpoints loses all its work.

    Examples
    --------
    >>> Leave(time=3600, servers=["machine 0.1"]).lost_work
    0.0
    """

    event: Literal["leave"] = "leave"
    servers: Annotated[_Names, Field(min_length=1)]
    lost_work: Seconds = 0.0


class Return(_Event):
    """A return of machines that left, or that were given up on request.

    Which machines are given up is decided during the run. The event may therefore name any machine that an
    earlier request may take; machines that are present are not affected.

    Attributes
    ----------
    time
        Time in seconds at which the machines are available again.
    servers
        Names of the machines; empty in a plain cluster.
    gpus
        In a plain cluster, the number of GPUs that return after they were given up on request; None in any
        other cluster.

    Examples
    --------
    >>> Return(time=7200, servers=["machine 0.1"]).gpus is None
    True
    """

    event: Literal["return"] = "return"
    servers: _Names = ()
    gpus: Gpus | None = None

    @model_validator(mode="after")
    def _either(self) -> "Return":
        if bool(self.servers) == (self.gpus is not None):
            raise RuleBroken("gpus", self.gpus, "must be given if no servers are, and only then")
        return self


class Reclaim(_OfMachines):
    """A request to give up machines or GPUs by a deadline.

    A machine that is given up counts towards the open request with the earliest deadline among those that may
    take it, with ties going to the first request. The machine stays absent until a `Return` names it or a
    `Loan` brings it back. If too few machines have been given up by the deadline, suitable ones are taken
    then, until the request is met or none is left. In a plain cluster, the GPUs leave at the deadline.

    Unlike a departure (`Leave`), a request costs jobs with checkpoints no work. A job that continues elsewhere
    at the moment when its machine is given up counts as moved, and keeps its progress even without checkpoints.

    Attributes
    ----------
    time
        Time in seconds at which the request is made.
    deadline
        Time in seconds by which the request must be met; later than `time`.
    servers
        Number of machines to give up; None in a plain cluster.
    gpus
        Number of GPUs to give up in a plain cluster; None in any other cluster.
    among
        Names of the machines that may be given up; empty for no restriction by name.
    gpu_type
        GPU type of the machines that may be given up, as an alternative to their names; empty for any type.

    Examples
    --------
    >>> request = Reclaim(time=0, deadline=600, servers=1, among=["machine 0.0", "machine 0.1"])
    >>> request.takes("machine 0.1"), request.takes("machine 1.0")
    (True, False)
    >>> Reclaim(time=0, deadline=600, servers=1, gpu_type="T4").takes("machine 1.0", "T4")
    True
    """

    event: Literal["reclaim"] = "reclaim"
    deadline: Seconds
    servers: Gpus | None = None
    gpus: Gpus | None = None

    @model_validator(mode="after")
    def _gpus_have_no_type(self) -> "Reclaim":
        if self.gpu_type and self.gpus is not None:
            raise RuleBroken("gpu_type", self.gpu_type, "must be empty for GPUs, which have no type")
        return self

    @model_validator(mode="after")
    def _deadline_after_time(self) -> "Reclaim":
        if self.deadline <= self.time:
            raise RuleBroken("deadline", self.deadline, f"must be after the time of the request, {self.time:g}")
        return self

    @model_validator(mode="after")
    def _either(self) -> "Reclaim":
        if (self.servers is None) == (self.gpus is None):
            raise RuleBroken("gpus", self.gpus, "must be given if no servers are, and only then")
        if self.among and (self.servers is None or self.servers > len(self.among)):
            rule = f"must name at least the {self.servers or 0} servers that are requested, and none for GPUs"
            raise RuleBroken("among", self.among, rule)
        return self


class Loan(_OfMachines):
    """A loan of absent machines, which join the cluster until their owner reclaims them.

    The absent machines that match are lent in cluster order, until `servers` of them are lent or none are left.
    To lend machines that are absent at first, include them in the `Cluster`, and let a `Leave` remove them at
    time 0.

    Attributes
    ----------
    time
        Time in seconds from which the machines are available.
    servers
        Number of machines.
    among
        Names of the machines that may be lent; empty for no restriction by name.
    gpu_type
        GPU type of the machines that may be lent, as an alternative to their names; empty for any type.

    Examples
    --------
    >>> loan = Loan(time=300, servers=2, gpu_type="T4")
    >>> loan.takes("machine 0.1", "T4"), loan.takes("machine 1.0", "V100")
    (True, False)
    """

    event: Literal["loan"] = "loan"
    servers: Gpus

    @model_validator(mode="after")
    def _enough_are_named(self) -> "Loan":
        if self.among and self.servers > len(self.among):
            rule = f"must name at least the {self.servers} servers that are lent"
            raise RuleBroken("among", self.among, rule)
        return self


#: An event of any kind.
Event = Annotated[Leave | Return | Reclaim | Loan, Field(discriminator="event")]


def refuse_impossible(events: Sequence[Event], cluster: Cluster) -> None:
    """Raise `RuleBroken` if events are not in order of time, or if one of them cannot happen on the cluster.

    Policies choose during a run which machines are given up. An event that is possible for at least one of
    these choices is accepted. No machine may leave and return at the same time.

    Examples
    --------
    >>> gone = Leave(time=2, servers=["machine 0.0"])
    >>> refuse_impossible([gone, gone.model_copy(update={"time": 3.0})], Cluster.uniform(machines=2, gpus=4))
    Traceback (most recent call last):
    gsopt.core.problem.RuleBroken: events[1].servers: 'machine 0.0': must be present to leave
    """
    for index, (early, late) in enumerate(pairwise(events)):
        if early.time > late.time:
            raise RuleBroken(f"events[{index + 1}].time", late.time, "must not decrease")
    for index, event in enumerate(events):
        _refuse_unknown(f"events[{index}]", event, cluster)
    _refuse_twice_in_an_instant(events)
    _refuse_absent(events, {machine.name: machine.gpu_type for machine in cluster.machines})


def _refuse_unknown(field: str, event: Event, cluster: Cluster) -> None:
    """Raise `RuleBroken` for machines that the cluster does not have."""
    if cluster.is_plain:
        if isinstance(event, Leave | Loan) or event.gpus is None:
            raise RuleBroken(f"{field}.servers", event.servers, "must be GPUs in a plain cluster")
        return
    if isinstance(event, Return | Reclaim) and event.gpus is not None:
        raise RuleBroken(f"{field}.gpus", event.gpus, "must be servers in a cluster of racks")
    named = ("servers", event.servers) if isinstance(event, Leave | Return) else ("among", event.among)
    for server in named[1]:
        if server not in cluster.gpus_of:
            raise RuleBroken(f"{field}.{named[0]}", server, "must be a machine of the cluster")
    if isinstance(event, Reclaim | Loan):
        _refuse_too_many(field, event, cluster)


def _refuse_too_many(field: str, event: Reclaim | Loan, cluster: Cluster) -> None:
    """Raise `RuleBroken` for an unknown GPU type, or for more machines of a type than the cluster has."""
    kind = event.gpu_type
    there = [machine for machine in cluster.machines if kind in ("", machine.gpu_type)]
    if not there:
        raise RuleBroken(f"{field}.gpu_type", kind, "must be a GPU type of the cluster")
    if (event.servers or 0) > len(there):
        rule = f"must be at most the {len(there)} {kind}{' ' if kind else ''}machines of the cluster"
        raise RuleBroken(f"{field}.servers", event.servers, rule)


def _refuse_twice_in_an_instant(events: Sequence[Event]) -> None:
    """Raise `RuleBroken` for machines that leave and return at the same time."""
    last: dict[str, float] = {}
    for index, event in enumerate(events):
        for server in event.servers if isinstance(event, Leave | Return) else ():
            if last.get(server) == event.time:
                raise RuleBroken(f"events[{index}].servers", server, "must not leave and return at one time")
            last[server] = event.time


def _refuse_absent(events: Sequence[Event], type_of: Mapping[str, str]) -> None:
    """Raise `RuleBroken` for machines that leave while certainly absent, or return while certainly present."""
    away: set[str] = set()
    lent: set[str] = set()  # those that were surely away before a loan
    returned: dict[str, float] = {}
    requests: list[Reclaim] = []
    for index, event in enumerate(events):
        if isinstance(event, Reclaim):
            requests.append(event)
            continue
        if isinstance(event, Loan):
            come = {server for server in away if event.takes(server, type_of[server])}
            away -= come
            lent |= come
            continue
        for server in event.servers:
            if isinstance(event, Leave):
                if server in away:
                    raise RuleBroken(f"events[{index}].servers", server, "must be present to leave")
                away.add(server)
            else:
                since = returned.get(server, 0.0)
                asked = any(each.takes(server, type_of[server]) and each.deadline >= since for each in requests)
                if server not in away | lent and not asked:
                    raise RuleBroken(f"events[{index}].servers", server, "must be away to return")
                away.discard(server)
                returned[server] = event.time
            lent.discard(server)
