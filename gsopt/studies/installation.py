"""Installation: the versions and the code on which the results of a study depend."""

import platform
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gsopt.errors import InvalidInput

#: Packages that compute; tests hold this list against what `gsopt` depends on.
PACKAGES = (
    "deap",
    "highspy",
    "networkx",
    "numba",
    "numpy",
    "ortools",
    "pyomo",
    "pyscipopt",
    "scikit-learn",
    "scipy",
)

#: Where the four packages lie, side by side, and what they are called.
_HOME = Path(__file__).resolve().parents[2]
_OURS = ("formulations", "gsopt", "heuristics", "instances")

#: Names and versions: Python, gsopt and its code, then the packages.
Installation = tuple[tuple[str, str], ...]


@cache
def installation() -> Installation:
    """Give what is installed here.

    Two versions of Python count as one while they differ in their last number only.

    Examples
    --------
    >>> dict(installation())["gsopt"]
    '0.1.0'
    """
    python = ".".join(platform.python_version_tuple()[:2])
    ours = [("Python", python), ("gsopt", _version("gsopt")), ("code of gsopt", _code())]
    return (*ours, *((name, _version(name)) for name in PACKAGES))


def refuse_difference(ours: Installation) -> None:
    """Refuse what is installed here where it differs from what is installed where the study was begun.

    Raises
    ------
    InvalidInput
        A version or the code differs; the first that does is named.

    Examples
    --------
    >>> refuse_difference(installation())
    >>> refuse_difference((("gsopt", "0.0.1"),))
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: gsopt: 0.1.0: must be 0.0.1, as where the study was started
    """
    here = dict(installation())
    for name, wanted in ours:
        found = here.get(name, _version(name))
        if found != wanted:
            raise InvalidInput("", name, found, f"must be {wanted}, as where the study was started")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _code() -> str:
    """Fingerprint the sources of the four packages."""
    found = sha256()
    for path in _sources():
        found.update(path.relative_to(_HOME).as_posix().encode() + b"\0")
        found.update(path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def _sources() -> Iterator[Path]:
    for package in _OURS:
        yield from sorted((_HOME / package).rglob("*.py"))
