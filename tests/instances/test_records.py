"""Lines of JSON, compressed."""

import gzip
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.records import compressed_lines


def test_each_line_is_a_value(tmp_path: Path) -> None:
    """Lines are read in their order."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b'{"a": 1}\n7\n'))
    assert compressed_lines(tmp_path / "a.gz") == [{"a": 1}, 7]


@pytest.mark.parametrize(
    "data",
    [b"{}", gzip.compress(b"{"), gzip.compress(b"7")[:-3]],
    ids=["not compressed", "no JSON", "cut short"],  # compressed bytes hold the time
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """What is not compressed, cut short, or no JSON is named."""
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(InvalidInput, match="compressed by gzip"):
        compressed_lines(tmp_path / "a.gz")
