"""The readers of measured pairs."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import Profile
from instances.interference import gavel, lucid
from instances.interference.reading import assemble
from tests.instances.interference.samples import GAVEL, HEAVY, LIGHT, ODD, gavel_file, lucid_folder


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


BERT, PPO = "BERT on SQuAD (batch size 32, amp)", "PPO on Lunar (batch size 64)"


def test_slowdowns_are_one_over_relative_speeds(tmp_path: Path) -> None:
    """A job that is faster than alone has the slowdown 1; beside itself the mean of both speeds counts."""
    reading = lucid(lucid_folder(tmp_path))
    assert reading.table.slowdowns == {PPO: {BERT: 1 / 0.8, PPO: 1.0}, BERT: {PPO: 2.0, BERT: 1 / 0.5}}
    assert (reading.left_out, reading.raised) == ((), ((PPO, PPO),))


def test_a_pair_in_which_one_stood_still_is_left_out(tmp_path: Path) -> None:
    """One speed of 0 is enough: the two did not run together."""
    path = lucid_folder(tmp_path)
    path.write_text(path.read_text().replace("0,0.8,", "0,0,"))
    reading = lucid(path)
    assert reading.left_out == ((PPO, BERT),)
    assert reading.table.slowdowns == {PPO: {PPO: 1.0}, BERT: {BERT: 2.0}}


def test_features_are_what_a_job_uses_alone(tmp_path: Path) -> None:
    """They come from the other table, whose configurations without pairs are left out."""
    table = lucid(lucid_folder(tmp_path)).table
    assert [profile.name for profile in table.profiles] == [BERT, PPO]
    assert table.by_name[BERT].features == {
        "batch size": 32,
        "mixed precision": 1,
        "samples per second": 100.5,
        "GPU utilisation (%)": 99.5,
        "memory utilisation (%)": 60,
        "memory (MiB)": 16000,
    }


def test_the_other_table_may_lie_elsewhere(tmp_path: Path) -> None:
    """Folders of the repository and a path of one's own give the same."""
    pairs = lucid_folder(tmp_path)
    moved = (tmp_path / "analyzer/single_data.csv").rename(tmp_path / "single.csv")
    assert lucid(pairs, alone=str(moved)).table.couples == ((BERT, BERT), (BERT, PPO), (PPO, PPO))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("data/colocate_info.csv", "Lunar,1,64,0,0.8", "Lunar,2,64,0,0.8", "row 2: gpu_num1: 2: must be 1"),
        ("data/colocate_info.csv", "0,0.8,", "0,fast,", "row 2: speed1: 'fast': must be a number"),
        ("data/colocate_info.csv", "0,0.8,", "0,-1,", "row 2: speed1: -1.0: must be at least 0"),
        ("data/colocate_info.csv", "2,PPO", "2,PPO,1", "row 4: must have 14 values, not 16"),
        (
            "data/colocate_info.csv",
            "PPO,Lunar,1,64,0,1.04",
            "BERT,SQuAD,1,32,1,1.04",
            "must be there only once",
        ),
        ("analyzer/single_data.csv", "BERT", "Bert", "BERT on SQuAD (batch size 32, amp)': must be in it"),
        ("analyzer/single_data.csv", "99.5", "high", "row 2: gpu_util: 'high': must be a number"),
        ("analyzer/single_data.csv", "gmem_util", "use", "header"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(
    file: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    """Measurements are not repaired: one line names the file, the row and the rule."""
    pairs = lucid_folder(tmp_path)
    path = tmp_path / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InvalidInput) as caught:
        lucid(pairs)
    assert caught.value.source == str(path)
    assert message in str(caught.value)


def test_the_published_table(traces: Path) -> None:
    """There are 1,388 pairs of 56 configurations; in 513 of them some job is faster than alone."""
    reading = lucid(traces)
    assert (len(reading.table.couples), len(reading.table.profiles), len(reading.raised)) == (1388, 56, 513)
    assert reading.left_out == ()


PROFILES = [Profile(name=name, features={}) for name in "ab"]


def test_what_was_not_as_measured_is_counted() -> None:
    """Pairs without speeds and those with a job that is faster than alone are told apart."""
    reading = assemble("x", PROFILES, [(("a", "a"), (1.5, 0.7)), (("a", "b"), None), (("b", "b"), (1.0, 1.0))])
    assert reading.table.slowdowns == {"a": {"a": 1.0}, "b": {"b": 1.0}}
    assert reading.summary == "2 pairs; 1 without speeds left out; 1 faster than alone read as 1"


def test_a_pair_of_strangers_is_refused() -> None:
    """The line names the table and the configuration."""
    with pytest.raises(InvalidInput, match=r"^x: slowdowns: 'z': must be the name of a profile"):
        assemble("x", PROFILES, [(("a", "z"), (0.5, 0.5))])
