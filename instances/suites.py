"""Suites: shared functions that turn generated instances into files, for the suites of all decisions."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

from gsopt.core.enumeration import brute_force
from gsopt.core.files import write
from gsopt.core.problem import About, Problem
from gsopt.core.result import plain
from gsopt.evaluation.space import Pick, Space
from gsopt.problems.reader import read_problem

P = TypeVar("P", bound=Problem[Any])

#: Origin of an instance that is neither published nor random.
HANDMADE = About(source="made by hand")

#: Fields of `about` that describe the known optimum or bound.
_KNOWN = {"objective", "bound", "proved_by", "found_by", "since"}

#: The folder of all instances; the name of an instance is its path in this folder.
FOLDER = Path(__file__).parent


def changed(problem: P, **changes: Any) -> P:
    """Return a problem with some fields changed, after validating it again."""
    fields = {name: getattr(problem, name) for name in type(problem).model_fields}  # without cached properties
    return type(problem)(**{**fields, **changes})


def renamed(problem: P, name: str) -> P:
    """Return a problem with the name ``<decision>/<name>``, such as ``scheduling/small/one-job``."""
    return changed(problem, name=f"{problem.word}/{name}")


def in_folder(folder: str, *parts: Mapping[str, P]) -> list[P]:
    """Return the problems in `parts`, renamed to their paths, such as ``scheduling/small/one-job``."""
    return [renamed(problem, f"{folder}/{name}") for part in parts for name, problem in part.items()]


def picked(space: Space, picks: Mapping[str, str]) -> dict[str, Any]:
    """Return instances of a space, keyed by name; `picks` maps each name to the string form of its `Pick`."""
    found = {name: space.problem(Pick.read(pick)) for name, pick in picks.items()}
    about = {"source": f"the worst of {space.about}"}
    return {name: with_about(problem, about) for name, problem in found.items() if problem is not None}


def with_about(problem: P, facts: Mapping[str, Any]) -> P:
    """Return a problem with additional facts in `about`, such as a proven optimum."""
    return changed(problem, about=About(**{**dict(problem.about or About()), **facts}))


def with_kept_proof(problem: P, path: Path) -> P:
    """Return a problem with the known results from its committed file, if that contains the same problem."""
    if not path.exists():
        return problem
    standing = read_problem(path)
    if standing.about is None or changed(problem, about=standing.about) != standing:
        return problem
    return with_about(problem, standing.about.model_dump(include=_KNOWN))


def proven(problem: P) -> P:
    """Return a tiny problem with its optimum, which is found by enumeration.

    The optimum is None if the problem is infeasible.
    """
    optimum = brute_force(problem)
    value = None if optimum is None else plain(optimum[0])
    return with_about(problem, {"objective": value, "bound": value, "proved_by": "brute force"})


def regenerate(
    problems: Iterable[P],
    folder: Path = FOLDER,
    *,
    prove: Callable[[P], P] | None = None,
    today: date | None = None,
) -> list[Path]:
    """Write generated instances to files, and return their paths.

    The known results in a file are kept as long as the problem stays the same. If there are none, `prove` finds
    the optimum, which is dated `today`, by default the current date. Without `prove`, the file contains no
    results at first. ``gsopt suites verify --update`` adds solutions, and optima that are proven later.
    """
    day = {"since": today or datetime.now(UTC).date()}
    paths: list[Path] = []
    for problem in problems:
        path = folder / f"{problem.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        standing = with_kept_proof(problem, path)
        known = standing.about is not None and standing.about.since is not None
        write(standing if known or prove is None else with_about(prove(standing), day), path)
        paths.append(path)
    return paths
