"""Catalogue: finds the methods, policies, instances and readers when they are asked for.

Of all of gsopt it alone reaches `formulations`, `heuristics` and `instances`.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gsopt.errors import InvalidInput, shorten
from gsopt.job import Workload
from gsopt.method import Method
from gsopt.problem import Problem
from gsopt.problems.reader import problem_types
from gsopt.simulation.policy import Policy


def load(name: str) -> Problem[Any]:
    """Load a committed instance by name, or any instance file by path.

    Raises
    ------
    InvalidInput
        There is no such instance, or the file breaks a rule.

    Examples
    --------
    >>> load("reclaiming/aryl-figure-5").demand
    2
    """
    problem: Problem[Any] = import_module("instances").load(name)
    return problem


def names(prefix: str = "") -> list[str]:
    """List the names of the committed instances that start with a prefix.

    Examples
    --------
    >>> "reclaiming/aryl-figure-5" in names("reclaiming")
    True
    """
    found: list[str] = import_module("instances").names(prefix)
    return found


def exact_methods(word: str) -> dict[str, Method]:
    """Give the exact methods of a decision by name; the one called ``exact`` is the default.

    Examples
    --------
    >>> "exact" in exact_methods("reclaiming")
    True
    """
    return _exports("formulations", word)


def heuristics(word: str) -> dict[str, Method]:
    """Give the heuristics of a decision by name.

    Examples
    --------
    >>> "greedy" in heuristics("reclaiming")
    True
    """
    return _exports("heuristics", word)


def methods(word: str) -> dict[str, Method]:
    """Give every method of a decision by name, exact ones first."""
    return exact_methods(word) | heuristics(word)


def generators(word: str) -> dict[str, Callable[..., Any]]:
    """Give the instance generators of a decision by name; those of workloads for the word ``workloads``."""
    return _named_exports("instances.workloads") if word == "workloads" else _exports("instances", word)


def policies() -> dict[str, Policy]:
    """Give the online policies by name.

    Examples
    --------
    >>> "srtf" in policies()
    True
    """
    return _named_exports("heuristics.policies")


def trace_readers() -> dict[str, Callable[..., Any]]:
    """Give the readers of public traces by name.

    Examples
    --------
    >>> "philly" in trace_readers()
    True
    """
    return _named_exports("instances.traces")


def data_folder() -> Path | None:
    """Give the folder of public traces that ``GSOPT_DATA`` names; None when it names none."""
    folder: Path | None = import_module("instances").data_folder()
    return folder


def real_instances(word: str) -> list[Problem[Any]]:
    """Give the instances that the decision takes from real data; empty where the data are not at hand.

    The data folder is named by the environment variable ``GSOPT_DATA``.
    """
    folder = data_folder()
    reader = getattr(_package("instances", word), "from_data", None)
    return [] if folder is None or reader is None else list(reader(folder))


def demo_workload() -> tuple[Workload, int]:
    """Give the workload on which the demo compares policies, and a number of GPUs that it keeps busy.

    A busy day of the Philly trace where the data are at hand, else generated arrivals.
    """
    folder = data_folder()
    if folder is not None and (folder / "philly").is_dir():
        window = (50 * 86400.0, 51 * 86400.0)
        return trace_readers()["philly"](folder, window=window, max_gpus=128).workload, 128
    return generators("workloads")["poisson"](jobs=1000, gpus=32, load=1.0), 32


def find_method(word: str, name: str) -> Method:
    """Find one method of a decision by name.

    Raises
    ------
    InvalidInput
        The decision has no such method.

    Examples
    --------
    >>> find_method("reclaiming", "greedy").__name__
    'greedy'
    """
    known = methods(word)
    if name not in known:
        raise InvalidInput("", "method", shorten(name), f"must be one of {', '.join(known)}")
    return known[name]


def _exports(package: str, word: str) -> dict[str, Any]:
    module = _package(package, word)
    return {} if module is None else _named_exports(module.__name__)


def _named_exports(package: str) -> dict[str, Any]:
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


def _package(package: str, word: str) -> ModuleType | None:
    if word not in problem_types():
        raise InvalidInput(
            "", "decision", shorten(word), f"must be one of {', '.join(sorted(problem_types()))}"
        )
    name = f"{package}.{word}"
    return import_module(name) if find_spec(name) else None
