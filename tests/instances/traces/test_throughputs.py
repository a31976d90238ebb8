"""The table of throughputs of Gavel's simulator."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces.throughputs import read_throughputs
from tests.instances.traces.samples import THROUGHPUTS


def test_throughputs_alone_are_read(tmp_path: Path) -> None:
    """Pairs and workers far apart are left out, 0 stays 0, and types keep the order of the file."""
    path = tmp_path / "a.json"
    path.write_text(THROUGHPUTS)
    read = read_throughputs(path)
    assert read == {
        "('LM (batch size 5)', 1)": {"v100": 9.5, "k80": 0.0},
        "('LM (batch size 5)', 4)": {"v100": 20.0},
    }
    assert list(read["('LM (batch size 5)', 1)"]) == ["v100", "k80"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"v100": 7}', "v100: 7: must be an object of throughputs"),
        ('{"v100": {"a": {"null": -1}}}', "v100.a.null: -1: must be iterations per second"),
        ('{"v100": {"a": 7}}', "v100.a.null: None: must be iterations per second"),
    ],
)
def test_a_bad_table_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    """What is no table of throughputs is refused with file, field, value and rule."""
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=line):
        read_throughputs(path)
