"""Instances: committed benchmark instances, generators of further instances, and readers of public traces.

Every decision (type of problem) has a folder with JSON files, one per instance. The name of an instance is its
path, such as ``reclaiming/aryl-figure-5``. Its best known solution, if any, is in ``solutions``, under the same
name. The generators of a decision are the names in its package's ``__all__``. They raise `InvalidInput` if an
argument is out of range.

Examples
--------
>>> from instances import load, names
>>> load("reclaiming/aryl-figure-5").demand
2
>>> "reclaiming/aryl-figure-5" in names("reclaiming")
True
"""

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Frozen, Problem
from gsopt.problems.reader import read_problem, read_solution

__all__ = ["best_solution", "data_folder", "load", "names"]

_HERE = Path(__file__).parent

#: Where the best known solutions are, in files named like their instances.
SOLUTIONS = _HERE / "solutions"

#: Smallest similarity of two names, from 0 to 1, at which one is suggested for the other.
_CLOSE = 0.7


def load(name: str | Path) -> Problem[Any]:
    """Load a committed instance by name, or an instance file by path.

    The attribute `name` of a committed instance is the name by which it was loaded.

    Raises
    ------
    InvalidInput
        The instance does not exist, or the file cannot be read or breaks a rule.

    Examples
    --------
    >>> load("reclaiming/aryl-figure-5").about.objective
    1.0
    >>> load("reclaiming/aryl-figure-55")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: instance: 'reclaiming/aryl-figure-55': is no file and no \
committed instance; close: reclaiming/aryl-figure-5
    """
    if _is_committed(str(name)):
        return read_problem(_HERE / f"{name}.json").model_copy(update={"name": str(name)})
    if Path(name).suffix == ".json" or _is_file(name):
        return read_problem(name)
    close = get_close_matches(str(name), names(), cutoff=_CLOSE)
    hint = f"; close: {', '.join(close)}" if close else ""
    raise InvalidInput("instance", shorten(str(name)), f"is no file and no committed instance{hint}")


def names(prefix: str = "") -> list[str]:
    """List the names of the committed instances that start with a prefix, in alphabetical order.

    The files themselves are not read.

    Examples
    --------
    >>> names("reclaiming/aryl")
    ['reclaiming/aryl-figure-5']
    """
    files = (path for path in _HERE.rglob("*.json") if not path.is_relative_to(SOLUTIONS))
    found = (path.relative_to(_HERE).with_suffix("").as_posix() for path in files)
    return sorted(name for name in found if name.startswith(prefix))


def best_solution(name: str) -> Frozen | None:
    """Return the best known solution of a committed instance, or None if none is stored.

    Raises
    ------
    InvalidInput
        The instance does not exist, or a file cannot be read or breaks a rule.

    Examples
    --------
    >>> best_solution("reclaiming/aryl-figure-5")
    ReclaimingSolution(servers=('s1', 's2'))
    """
    problem, file = load(name), SOLUTIONS / f"{name}.json"
    return read_solution(file, problem) if _is_committed(name) and file.exists() else None


def data_folder() -> Path | None:
    """Return the folder of public traces given by the environment variable ``GSOPT_DATA``.

    Returns
    -------
    Path or None
        None if the variable is unset or empty, or does not name a folder.

    Examples
    --------
    >>> folder = data_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    named = os.environ.get("GSOPT_DATA", "")
    return Path(named) if named and Path(named).is_dir() else None


def _is_committed(name: str) -> bool:
    """Check whether a name is one of `names`, without listing them all."""
    path = Path(name)
    inside = path.as_posix() == name and not path.is_absolute() and ".." not in path.parts
    return inside and path.parts[:1] != (SOLUTIONS.name,) and _is_file(_HERE / f"{name}.json")


def _is_file(name: str | Path) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # longer than any file's name may be
        return False
