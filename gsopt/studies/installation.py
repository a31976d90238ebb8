"""Installation: the versions and the code on which the results of a study depend."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from gsopt.core.errors import InvalidInput
from gsopt.core.versions import versions

#: Versions, keyed by the names of packages.
Installation = Mapping[str, str]

#: The folder that contains the four packages, and their names.
_HOME = Path(__file__).resolve().parents[2]
_OURS = ("formulations", "gsopt", "heuristics", "instances")

_MISSING = "not installed"


@cache
def installation() -> Installation:
    """Return the versions on which results depend, and a hash of the sources of gsopt.

    The last number of Python's version is left out, so that versions that differ only in it count as equal.
    """
    found = versions()
    python = found["python"].rpartition(".")[0]
    return {"gsopt": found["gsopt"], "code of gsopt": _code(), **found, "python": python}


def refuse_difference(ours: Installation) -> None:
    """Raise `InvalidInput` if this installation differs from the one with which a study was started."""
    here = installation()
    for name in {**ours, **here}:
        found, wanted = here.get(name, _MISSING), ours.get(name, _MISSING)
        if found != wanted:
            raise InvalidInput(name, found, f"must be {wanted}, as where the study was started")


def _code() -> str:
    """Return a hash of the sources of the four packages."""
    found = sha256()
    for package in _OURS:
        for path in sorted((_HOME / package).rglob("*.py")):
            found.update(path.relative_to(_HOME).as_posix().encode() + b"\0")
            found.update(path.read_bytes() + b"\0")
    return found.hexdigest()[:12]
