"""The reader of node faults, and the servers that it draws."""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.outages import Outage
from instances.traces.faults import DAYS, FILE, SERVERS, drawn_outages, server_outages

_DAY = 86_400


def _entry(server: str, day: float, kind: str = "fault_start") -> dict[str, Any]:
    return {"node_id": server, "event_time": day, "event_type": kind, "fault_type": {"Level": "x"}}


def _end(server: str, day: float) -> dict[str, Any]:
    return _entry(server, day, "fault_end")


def _written(folder: Path, entries: Any) -> Path:
    path = folder / "faults.json"
    path.write_text(json.dumps(entries))
    return path


def test_faults_become_outages(tmp_path: Path) -> None:
    """Overlapping faults are one outage, one of no length lasts a step, and the other servers have none."""
    entries = [_entry("b", 1), _entry("a", 1), _entry("b", 2), _end("b", 3), _end("b", 4), _end("a", 4)]
    entries += [_entry("a", 5), _end("a", 5)]
    found = server_outages(_written(tmp_path, entries))
    assert found[:2] == (
        (Outage(_DAY, 4 * _DAY),),
        (Outage(_DAY, 4 * _DAY), Outage(5 * _DAY, 5 * _DAY + 8.64)),
    )
    assert (len(found), set(found[2:])) == (SERVERS, {()})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "must be a JSON list of faults"),
        ({"a": 1}, "must be a JSON list of faults"),
        ([3], "entry 1: event_time: None: must be a number of days"),
        ([_entry("a", 1), _entry("b", True)], "entry 2: event_time: True: must be a number of days"),
        ([_entry("a", 2), _entry("b", 1)], "entry 2: event_time: 1: must be between 2, the time of the entry"),
        ([_entry("a", 350)], "entry 1: event_time: 350: must be between 0"),
        ([_entry("a", float("nan"))], "entry 1: event_time: nan: must be between 0"),
        ([_entry("a", 1, "fault")], "entry 1: event_type: 'fault': must be fault_start or fault_end"),
        ([_entry("a", 1) | {"node_id": 7}], "entry 1: node_id: 7: must be a text"),
        ([_entry("a", 1), _end("b", 2)], "entry 2: event_type: 'fault_end': must follow a fault_start"),
        ([_entry("a", 1)], "node_id: 'a': must have an end of every fault"),
        (
            [e for n in range(401) for e in (_entry(f"{n}", 1), _end(f"{n}", 1))],
            "node_id: 401: must be at most",
        ),
    ],
)
def test_bad_entries_are_refused(tmp_path: Path, entries: Any, message: str) -> None:
    """An entry that cannot be used is one line that names it, as histories cannot do without it."""
    with pytest.raises(InvalidInput) as error:
        server_outages(_written(tmp_path, entries))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_draws_keep_histories_and_their_common_time() -> None:
    """Each server is drawn once before any is drawn again, and all of a round keep their common time."""
    histories = [(Outage(100.0 * n, 100.0 * n + 10 + n),) for n in range(5)]
    names = [f"m{n}" for n in range(12)]
    for seed in range(30):
        drawn = drawn_outages(histories, names, seed=seed)
        assert list(drawn) == names
        assert drawn == drawn_outages(histories, names, seed=seed)
        for first in (0, 5):
            lengths = [sum(end - begin for begin, end in drawn[name]) for name in names[first : first + 5]]
            assert sorted(map(round, lengths)) == [10, 11, 12, 13, 14]
            begins = sorted(own[0].begin for own in (drawn[name] for name in names[first : first + 5]))
            gaps = [round(late - early) for early, late in itertools.pairwise(begins)]
            assert gaps.count(100) >= 3  # one pair may be on both sides of time 0
        assert all(0 <= begin < end <= DAYS * _DAY for own in drawn.values() for begin, end in own)
    assert drawn_outages(histories, names, seed=1) != drawn_outages(histories, names, seed=2)


def test_the_real_trace(traces: Path) -> None:
    """The file has 584 faults of 231 servers, which are 582 outages; a server is down 2.3 % of the time."""
    entries = json.loads(gzip.decompress((traces / FILE).read_bytes()))
    found = server_outages(traces)
    assert [sum(e["event_type"] == kind for e in entries) for kind in ("fault_start", "fault_end")] == [584] * 2
    assert (len(found), sum(map(bool, found)), sum(map(len, found))) == (400, 231, 582)
    down = sum(end - begin for own in found for begin, end in own)
    assert round(down / (SERVERS * DAYS * _DAY), 4) == 0.0231
    for server in {e["node_id"] for e in entries}:
        times = [(e["event_time"], e["event_type"]) for e in entries if e["node_id"] == server]
        assert len(times) % 2 == 0
