"""Pages: written into the source of the site before Sphinx reads it; only what changed is written."""

from collections.abc import Mapping
from pathlib import Path


def write(folder: Path, pages: Mapping[str, str | bytes]) -> None:
    """Make a folder hold these files and no others, and leave alone what is as it should be."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        data = text.encode() if isinstance(text, str) else text
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def title(text: str) -> str:
    """Return a heading of reStructuredText."""
    return f"{text}\n{'=' * len(text)}"


def block(*lines: str, indent: int = 3) -> str:
    """Indent lines, as the content of a directive."""
    return "\n".join(" " * indent + line if line else "" for line in "\n".join(lines).splitlines())
