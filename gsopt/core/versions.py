"""Versions: the versions of gsopt, Python, and the packages on which results depend."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

#: Packages that can affect results, unlike those that only check or display them.
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
    """Return the versions of gsopt, Python and installed packages that can affect results, keyed by name."""
    first, *others = _PACKAGES
    found = {first: _version(first), "python": platform.python_version()}
    found |= {name: _version(name) for name in others}
    return {name: number for name, number in found.items() if number}


def _version(package: str) -> str:
    """Return the version of a package, or an empty string if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def show_versions() -> None:
    """Print the information that a bug report needs: the platform, and the versions that can affect results.

    Examples
    --------
    >>> show_versions()  # doctest: +ELLIPSIS
    platform ...
    """
    found = {"platform": platform.platform(), **versions()}
    sys.stdout.writelines(f"{name:13} {number}\n" for name, number in found.items())
