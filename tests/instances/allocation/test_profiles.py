"""The reader of measured scaling curves."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.allocation.profiles import curves


def test_reads_one_curve_per_row(tmp_path: Path) -> None:
    """Each batch size is a curve; blank, nan and 0 are not measured."""
    (tmp_path / "bert.csv").write_text("global_batch_size,1,2,4\n64,1.5,2.5,nan\n128,0.5,,0\n")
    assert curves(tmp_path) == {"bert-64": {1: 1.5, 2: 2.5}, "bert-128": {1: 0.5}}


@pytest.mark.parametrize("text", ["", "batch,one\n64,1\n", "batch,1\n64,fast\n", "batch,1\n64,1,2\n"])
def test_damaged_tables_give_one_line(tmp_path: Path, text: str) -> None:
    """Empty tables, words for numbers and rows of the wrong length are refused, naming the file."""
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="must be a table of numbers") as caught:
        curves(tmp_path)
    assert caught.value.source == str(path)


def test_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    """A folder in the place of a table is refused."""
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        curves(tmp_path)
