"""The reader of Gavel's pairs."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.interference import gavel
from tests.instances.interference.samples import GAVEL, HEAVY, LIGHT, ODD, gavel_file


def test_slowdowns_are_speeds_alone_over_speeds_beside(tmp_path: Path) -> None:
    """Every job's speed is the one in its own row; a pair that stands there as 0 is left out."""
    reading = gavel(gavel_file(tmp_path))
    assert reading.table.slowdowns == {
        LIGHT: {LIGHT: 10 / 8, HEAVY: 2.0, ODD: 1.0},
        HEAVY: {LIGHT: 2 / 1.6, ODD: 2.0},
        ODD: {LIGHT: 4 / 3.2, HEAVY: 2.0, ODD: 4 / 2.5},
    }
    assert (reading.left_out, reading.raised) == (((HEAVY, HEAVY),), ())
    assert reading.table.name == "gavel v100"


def test_features_are_batch_and_speeds(tmp_path: Path) -> None:
    """Batches are read from names, and what did not run on another type, or is not there, has 0."""
    profiles = gavel(gavel_file(tmp_path)).table.by_name
    assert profiles[LIGHT].features == {
        "batch size": 5,
        "iterations per second": 10,
        "samples per second": 50,
        "times faster than on k80": 5,
    }
    assert profiles[HEAVY].features["times faster than on k80"] == 0
    assert profiles[ODD].features["batch size"] == 1


def test_names_without_gpus_and_packed_files(tmp_path: Path) -> None:
    """The file of single-GPU jobs, which names configurations alone, gives the same, also as a gzip file."""
    packed = tmp_path / "oracle.json.gz"
    packed.write_bytes(gzip.compress(json.dumps({"v100": GAVEL, "k80": {LIGHT: {"null": 2.0}}}).encode()))
    assert gavel(packed) == gavel(gavel_file(tmp_path))


def test_what_did_not_run_alone_is_left_out(tmp_path: Path) -> None:
    """Without a speed to compare with there is no slowdown."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"v100": {"a": {"null": 0, "a": [1.0, 1.0]}}}))
    reading = gavel(path)
    assert (reading.table.profiles, reading.table.couples, reading.left_out) == ((), (), (("a", "a"),))


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"v100": {}}, {"gpu": "a100"}, "gpu: 'a100': must be one of v100"),
        ({"v100": 3}, {}, "v100: must be an object of throughputs"),
        ({"v100": {"a": 3}}, {}, "v100: must be an object of throughputs"),
        ({"v100": {"a": {}}}, {}, "v100.a.null: None: must be iterations per second"),
        ({"v100": {"a": {"null": -1}}}, {}, "v100.a.null: -1: must be iterations per second"),
        ({"v100": {"a": {"null": True}}}, {}, "v100.a.null: True: must be iterations per second"),
        ({"v100": {"a": {"null": 1, "a": 2}}}, {}, "v100.a.a: 2: must be the iterations per second of both"),
        ({"v100": {"a": {"null": 1, "a": ["x", 2]}}}, {}, "v100.a.a: 'x': must be iterations per second"),
        (
            {"v100": {"a": {"null": 1e9, "a": [1e-9, 1e-9]}}},
            {},
            "slowdowns.a.a: 9.999999999999999e+17: input should be",
        ),
    ],
)
def test_what_is_no_such_table_is_refused(data: Any, options: Any, message: str, tmp_path: Path) -> None:
    """One line names the type, the configurations and the value."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InvalidInput) as caught:
        gavel(path, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[1]", b"{", b"\x1f\x8b"])
def test_other_files_are_refused(data: bytes, tmp_path: Path) -> None:
    """Empty, binary, cut-off files and other JSON are refused in one line that names the file."""
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as caught:
        gavel(path)
    assert caught.value.source == str(path)


def test_the_published_tables(traces: Path) -> None:
    """The three types have 330, 340 and 306 pairs of 351, and slowdowns up to 11, 3.6 and 4.3."""
    worst = {}
    for gpu in ("v100", "p100", "k80"):
        table = gavel(traces, gpu=gpu).table
        slowdowns = [slowdown for row in table.slowdowns.values() for slowdown in row.values()]
        worst[gpu] = len(table.couples), round(max(slowdowns), 1)
    assert worst == {"v100": (330, 11.0), "p100": (340, 3.6), "k80": (306, 4.3)}
