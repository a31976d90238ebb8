"""Standing instances: what regenerating a committed suite does with names and with proofs that still hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from gsopt.problem import About, Problem
from gsopt.problems.reader import read_problem

P = TypeVar("P", bound=Problem[Any])


def changed(problem: P, **changes: Any) -> P:
    """Give a problem with some fields changed, and every rule checked anew.

    Examples
    --------
    >>> from instances.reclaiming import figure_5
    >>> changed(figure_5(), demand=3).demand
    3
    """
    fields = {name: getattr(problem, name) for name in type(problem).model_fields}  # without cached properties
    return type(problem)(**{**fields, **changes})


def renamed(problem: P, name: str) -> P:
    """Name a problem after its place below its decision's folder."""
    return changed(problem, name=f"{problem.word}/{name}")


def with_about(problem: P, facts: Mapping[str, Any]) -> P:
    """Add facts, such as a proven optimum, to what a problem says of itself."""
    return changed(problem, about=About(**{**dict(problem.about or About()), **facts}))


def with_kept_proof(problem: P, path: Path) -> P:
    """Take over the proof in the committed file, if the data there are the same."""
    if not path.exists():
        return problem
    standing = read_problem(path)
    if standing.about is None or changed(problem, about=standing.about) != standing:
        return problem
    kept = standing.about.model_dump(include={"objective", "bound", "proved_by"})
    return with_about(problem, kept)
