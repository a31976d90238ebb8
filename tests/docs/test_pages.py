"""Writing pages."""

from pathlib import Path

from pages import write


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    """Files that are as they should be keep their time, others are written, and those of old are removed."""
    write(tmp_path, {"a.rst": "a", "b/c.rst": b"c", "old.rst": "old"})
    before = (tmp_path / "a.rst").stat().st_mtime_ns
    write(tmp_path, {"a.rst": "a", "b/c.rst": "new"})

    assert (tmp_path / "a.rst").stat().st_mtime_ns == before
    assert (tmp_path / "b" / "c.rst").read_text() == "new"
    assert not (tmp_path / "old.rst").exists()
