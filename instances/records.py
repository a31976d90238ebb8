"""Records: lines of JSON that somebody's program has written, compressed."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gsopt.errors import InvalidInput

#: Most characters of a record, a hundred times those of the ones at hand.
_LONGEST = 10_000_000


def compressed_lines(path: Path) -> list[Mapping[str, Any]]:
    """Read a record: a value in each line of JSON, compressed by gzip; empty where there is no file.

    Raises
    ------
    InvalidInput
        The file cannot be read, or is no such record.

    Examples
    --------
    >>> compressed_lines(Path("no such file"))
    []
    """
    if not path.is_file():
        return []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            text = file.read(_LONGEST)
        return [json.loads(line) for line in text.splitlines()]
    except (OSError, EOFError, ValueError) as error:
        raise InvalidInput(str(path), "", "", f"must be lines of JSON, compressed by gzip: {error}") from None
