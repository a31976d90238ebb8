"""Records: readers for decisions that published simulators recorded in gzipped JSON Lines files."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error, read_bytes
from gsopt.core.problem import Problem

P = TypeVar("P", bound=Problem[Any])

#: Maximum number of bytes of JSON in a file, far more than the known files have.
_LONGEST = 10_000_000


def compressed_lines(path: Path) -> list[Mapping[str, Any]]:
    """Return the objects in a gzipped file of JSON lines, or an empty list if the file does not exist.

    Raise `InvalidInput` if the file is not of this form, or contains more than 10 MB of JSON.
    """
    if not path.is_file():
        return []
    data = read_bytes(path)
    try:
        return [json.loads(line) for line in _unzipped(data).splitlines()]
    except (OSError, EOFError, ValueError) as error:
        raise InvalidInput(
            "", "", f"must be lines of JSON, compressed by gzip: {error}", source=str(path)
        ) from None


def _unzipped(data: bytes) -> str:
    """Return the text in gzipped data, or raise `ValueError` if it is too long."""
    with gzip.open(BytesIO(data)) as file:
        text = file.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise ValueError(f"more than {_LONGEST:,} bytes")
    return text.decode()


def recorded_decisions(path: Path, problem: Callable[[Mapping[str, Any]], P]) -> Iterator[P]:
    """Yield a problem for each line of a file, in which a simulator recorded one decision per line.

    Raise `InvalidInput` for a line that is not a decision.
    """
    for number, record in enumerate(compressed_lines(path), start=1):
        try:
            made = problem(record)
        except ValidationError as error:
            raise first_error(f"{path}, line {number}", error) from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            rule = f"must be a decision of the simulator: {error!r}"
            raise InvalidInput("", shorten(record), rule, source=f"{path}, line {number}") from None
        yield made
