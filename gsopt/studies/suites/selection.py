"""Selection: functions that select committed instances, and group and count them by suite."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation import catalogue
from gsopt.evaluation.tables import Column

R = TypeVar("R")


def select(what: Iterable[str]) -> list[str]:
    """Return the names of the committed instances that are selected, without repetition.

    `what` contains names of decisions, suites and instances. If it is empty, all instances are selected. Raise
    `InvalidInput` for an unknown name.
    """
    known = catalogue.names()
    found: dict[str, None] = {}
    for wanted in what:
        below = f"{wanted.rstrip('/')}/"
        members = [name for name in known if name == wanted or name.startswith(below)]
        if not members:
            raise InvalidInput("suites", shorten(wanted), "is not a decision, suite or committed instance")
        found |= dict.fromkeys(members)
    return list(found) if what else known


def by_suite(rows: Iterable[R], suite: Callable[[R], str]) -> dict[str, list[R]]:
    """Group items, each of which belongs to a suite, by the name of the suite."""
    found: dict[str, list[R]] = {}
    for row in rows:
        found.setdefault(suite(row), []).append(row)
    return found


def counted(
    suites: Mapping[str, Sequence[R]], kinds: Iterable[StrEnum], kind_of: Callable[[R], StrEnum]
) -> list[Column]:
    """Return the columns of a table that counts the instances of each suite, in total and by kind."""
    counts = [Counter(map(kind_of, rows)) for rows in suites.values()]
    return [
        Column("suite", list(suites), right=False),
        Column("instances", [str(len(rows)) for rows in suites.values()]),
        *(Column(kind.value, [str(count[kind] or "-") for count in counts]) for kind in kinds),
    ]
