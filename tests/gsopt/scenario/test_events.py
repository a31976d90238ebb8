"""Events are refused that cannot happen on a cluster, in one line."""

import pytest
from pydantic import ValidationError

from gsopt.core.problem import RuleBroken
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return, refuse_impossible

_RACKS = Cluster.uniform(racks=2, machines=2, gpus=2)
_A, _B = "machine 0.0", "machine 1.1"

#: A request for one machine.
_ONE: dict[str, object] = {"time": 1, "deadline": 2, "servers": 1}

#: Two machines of one type, and one of another.
_MACHINES = [Machine(name=name, gpus=2, gpu_type=kind) for name, kind in ("aO", "bO", "cN")]
_TYPES = Cluster(racks=[Rack(name="rack", machines=_MACHINES)])


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        (Leave, {"time": 1}, "servers"),
        (Leave, {"time": 1, "servers": []}, "servers"),
        (Leave, {"time": -1, "servers": [_A]}, "time"),
        (Leave, {"time": 1, "servers": [_A, _A]}, r"servers\[1\]: 'machine 0.0': must differ"),
        (Leave, {"time": 1, "servers": [_A], "lost_work": -1}, "lost_work"),
        (Leave, {"time": 1, "servers": [_A], "event": "return"}, "event"),
        (Return, {"time": 1}, "gpus: None: must be given"),
        (Return, {"time": 1, "servers": [_A], "gpus": 1}, "gpus: 1: must be given"),
        (Return, {"time": 1, "gpus": 0}, "gpus"),
        (Return, {"time": 1, "servers": [_A, _A]}, "must differ"),
        (Reclaim, {"time": 1, "servers": 1}, "deadline"),
        (Reclaim, {"time": 1, "deadline": 1, "servers": 1}, "must be after the time of the request, 1"),
        (Reclaim, {"time": 1, "deadline": 2}, "must be given"),
        (Reclaim, _ONE | {"gpus": 1}, "must be given"),
        (Reclaim, {"time": 1, "deadline": 2, "servers": 2, "among": [_A]}, "at least the 2 servers"),
        (Reclaim, {"time": 1, "deadline": 2, "gpus": 1, "among": [_A]}, "none for GPUs"),
        (Reclaim, _ONE | {"among": [_A, _A]}, "must differ"),
        (Reclaim, {"time": 1, "deadline": 2, "gpus": 1, "gpu_type": "T4"}, "gpu_type: 'T4': must be empty for"),
        (Reclaim, _ONE | {"among": [_A], "gpu_type": "T4"}, "gpu_type: 'T4': must be empty where machines are"),
        (Loan, {"time": 1}, "servers"),
        (Loan, {"time": 1, "servers": 0}, "servers"),
        (Loan, {"time": 1, "servers": 1, "gpus": 1}, "gpus"),
        (Loan, {"time": 1, "servers": 2, "among": [_A]}, "among: .* must name at least the 2 servers"),
        (Loan, {"time": 1, "servers": 1, "among": [_A, _A]}, "must differ"),
        (Loan, {"time": 1, "servers": 1, "among": [_A], "gpu_type": "T4"}, "must be empty where machines"),
    ],
)
def test_bad_events(
    kind: type[Leave | Return | Reclaim | Loan], fields: dict[str, object], reason: str
) -> None:
    """An event that breaks a rule by itself is refused, and the message says which."""
    with pytest.raises(ValidationError, match=reason):
        kind.model_validate(fields)


def _leave(time: float, *servers: str) -> Leave:
    return Leave(time=time, servers=servers)


def _return(time: float, *servers: str) -> Return:
    return Return(time=time, servers=servers)


def _reclaim(time: float, deadline: float, *among: str) -> Reclaim:
    return Reclaim(time=time, deadline=deadline, servers=1, among=among)


@pytest.mark.parametrize(
    ("events", "cluster", "message"),
    [
        ([_leave(2, _A), _leave(1, _B)], _RACKS, "events[1].time: 1.0: must not decrease"),
        ([_leave(1, "rack 0")], _RACKS, "events[0].servers: 'rack 0': must be a machine of the cluster"),
        ([_return(1, "none")], _RACKS, "events[0].servers: 'none': must be a machine"),
        ([_reclaim(1, 2, "none")], _RACKS, "events[0].among: 'none': must be a machine"),
        ([Reclaim(time=1, deadline=2, servers=5)], _RACKS, "events[0].servers: 5: must be at most the 4"),
        ([Reclaim(time=1, deadline=2, gpus=1)], _RACKS, "events[0].gpus: 1: must be servers"),
        ([Return(time=1, gpus=1)], _RACKS, "events[0].gpus: 1: must be servers"),
        ([Loan(time=1, servers=5)], _RACKS, "events[0].servers: 5: must be at most the 4 machines"),
        ([Loan(time=1, servers=1, among=["none"])], _RACKS, "events[0].among: 'none': must be a machine"),
        ([Loan(time=1, servers=1, gpu_type="X")], _TYPES, "events[0].gpu_type: 'X': must be a GPU type of"),
        ([Loan(time=1, servers=2, gpu_type="N")], _TYPES, "events[0].servers: 2: must be at most the 1 N"),
        ([Reclaim(time=1, deadline=2, servers=3, gpu_type="O")], _TYPES, "events[0].servers: 3: must be at"),
        ([Reclaim(time=1, deadline=2, servers=1, gpu_type="X")], _TYPES, "must be a GPU type of the cluster"),
        ([Loan(time=1, servers=1)], Cluster.plain(4), "events[0].servers: 1: must be GPUs in a plain"),
        ([Reclaim(time=1, deadline=2, servers=1, gpu_type="O"), _return(3, "c")], _TYPES, "'c': must be away"),
        (
            [_leave(0, "a", "c"), Loan(time=1, servers=1, gpu_type="O"), _leave(2, "c")],
            _TYPES,
            "events[2].servers: 'c': must be present to leave",
        ),
        (
            [_leave(0, "a"), Loan(time=1, servers=1), _return(2, "a"), _return(3, "a")],
            _TYPES,
            "events[3].servers: 'a': must be away",
        ),
        (
            [_leave(0, "a"), Loan(time=1, servers=1), _leave(2, "a"), _leave(3, "a")],
            _TYPES,
            "events[3].servers: 'a': must be present to leave",
        ),
        ([_leave(1, _A)], Cluster.plain(4), "must be GPUs in a plain cluster"),
        ([_return(1, _A)], Cluster.plain(4), "must be GPUs in a plain cluster"),
        ([_reclaim(1, 2)], Cluster.plain(4), "must be GPUs in a plain cluster"),
        ([_leave(1, _A), _leave(2, _B, _A)], _RACKS, "events[1].servers: 'machine 0.0': must be present to"),
        ([_return(1, _A)], _RACKS, "events[0].servers: 'machine 0.0': must be away to return"),
        ([_leave(1, _A), _return(2, _A), _return(3, _A)], _RACKS, "events[2].servers: 'machine 0.0': must be"),
        ([_reclaim(1, 2, _B), _return(3, _A)], _RACKS, "must be away to return"),
        ([_reclaim(1, 2, _A), _return(3, _A), _return(4, _A)], _RACKS, "events[2]"),
        ([_leave(1, _A), _return(1, _A)], _RACKS, "must not leave and return at one time"),
        ([_leave(0, _A), _return(1, _A), _leave(1, _A)], _RACKS, "must not leave and return at one time"),
    ],
)
def test_impossible_events(events: list[Event], cluster: Cluster, message: str) -> None:
    """Events that cannot happen are refused, and the message names the first of them."""
    with pytest.raises(RuleBroken) as error:
        refuse_impossible(events, cluster)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [_leave(0, "a"), _return(5, "a"), _leave(6, "a")],
        [_leave(1, "a"), _leave(1, "b"), _return(2, "b", "a")],
        [_reclaim(1, 4, "a"), _leave(2, "a")],
        [_reclaim(1, 4, "a"), _return(2, "a"), _return(3, "a")],
        [_reclaim(1, 4), _return(4, "a", "b")],
        [_reclaim(1, 4), _return(2, "a"), _return(9, "a")],
        [_leave(0, "a", "b"), Loan(time=0, servers=1, gpu_type="O"), _leave(1, "a"), _return(2, "b")],
        [_leave(0, "a", "b"), Loan(time=1, servers=1, among=["a"]), _leave(2, "a")],
        [Reclaim(time=0, deadline=2, servers=1, gpu_type="N"), Loan(time=1, servers=3), _return(3, "c")],
        [Loan(time=0, servers=3)],
    ],
)
def test_possible_events(events: list[Event]) -> None:
    """A machine that may be away, given up or brought may leave or return, and events may share an instant."""
    refuse_impossible(events, _TYPES)
