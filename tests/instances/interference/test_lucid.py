"""The reader of Lucid's pairs."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.interference import lucid
from tests.instances.interference.samples import lucid_folder

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
