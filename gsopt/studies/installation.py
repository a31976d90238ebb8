"""Installation: the versions and the code on which the results of a study depend."""

import platform
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gsopt.core.errors import InvalidInput

#: Versions by name.
Installation = Mapping[str, str]

#: Where the four packages lie, side by side, and what they are called.
_HOME = Path(__file__).resolve().parents[2]
_OURS = ("formulations", "gsopt", "heuristics", "instances")

_MISSING = "not installed"

#: Packages that compute; what only checks or shows leaves results as they are.
_PACKAGES = (
    "gsopt",
    "numpy",
    "scipy",
    "networkx",
    "pyomo",
    "highspy",
    "ortools",
    "pyscipopt",
    "deap",
    "numba",
    "scikit-learn",
)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed, by name, gsopt first."""
    first, *others = _PACKAGES
    found = {first: _version(first), "python": platform.python_version()}
    found |= {name: _version(name) for name in others}
    return {name: number for name, number in found.items() if number}


def _version(package: str) -> str:
    """Return the version of a package; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@cache
def installation() -> Installation:
    """Return what is installed here: the `versions`, and a fingerprint of the sources of gsopt.

    Versions of Python count as one while they differ in their last number only.
    """
    found = versions()
    python = found["python"].rpartition(".")[0]
    return {"gsopt": found["gsopt"], "code of gsopt": _code(), **found, "python": python}


def refuse_difference(ours: Installation) -> None:
    """Refuse what is installed here where it differs from what is installed where a study was started."""
    here = installation()
    for name in {**ours, **here}:
        found, wanted = here.get(name, _MISSING), ours.get(name, _MISSING)
        if found != wanted:
            raise InvalidInput(name, found, f"must be {wanted}, as where the study was started")


def _code() -> str:
    """Fingerprint the sources of the four packages."""
    found = sha256()
    for package in _OURS:
        for path in sorted((_HOME / package).rglob("*.py")):
            found.update(path.relative_to(_HOME).as_posix().encode() + b"\0")
            found.update(path.read_bytes() + b"\0")
    return found.hexdigest()[:12]
