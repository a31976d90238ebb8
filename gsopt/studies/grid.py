"""Grid: the points that an entry of a study file spans, one for each combination of option values."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from gsopt.core.errors import InvalidInput, shorten

#: Maximum number of cells in a study. If there are more, a list is most likely in the wrong place.
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Label:
    """The name of an instance, a group or a method in a table, with the options that are part of the name."""

    base: str
    shown: Mapping[str, Any]

    def __str__(self) -> str:
        return self.without()

    def without(self, *names: str) -> str:
        """Return the name without the options of the given names."""
        options = ", ".join(
            f"{key}={described(value)}" for key, value in self.shown.items() if key not in names
        )
        return f"{self.base}({options})" if options else self.base


@dataclass(frozen=True)
class Point:
    """One combination of option values of an entry in a study file."""

    values: Mapping[str, Any]  # the entry with one value per option, without its label
    spanned: frozenset[str]  # options for which the entry has a list of values
    label: str  # the entry's own label; empty if it has none

    def name(self, base: str, options: Mapping[str, Any], *, leaving: Collection[str] = ()) -> Label:
        """Return the name of this point in tables.

        If the entry has a label of its own, the name is that label with the options for which the entry has a
        list of values. Otherwise, it is `base` with all options. The options in `leaving` are omitted.
        """
        shown = {
            key: value
            for key, value in options.items()
            if key not in leaving and (key in self.spanned or not self.label)
        }
        return Label(self.label or base, shown)


def points(entry: str | Mapping[str, Any], name: str) -> Iterator[Point]:
    """Yield every point of an entry.

    A plain string stands for an object whose only key is `name`, with that string as its value.
    """
    options = {name: entry} if isinstance(entry, str) else dict(entry)
    label = options.pop("label", "")
    if not isinstance(label, str):
        raise InvalidInput("label", shorten(label), "must be a string")
    for key, value in options.items():
        if value == []:
            raise InvalidInput(key, "[]", "must hold a value")
    lists = {key: value if isinstance(value, list) else [value] for key, value in options.items()}
    if prod(map(len, lists.values())) > MOST_CELLS:
        raise InvalidInput("", "", f"must span at most {MOST_CELLS:,} cells")
    spanned = frozenset(key for key, value in options.items() if isinstance(value, list))
    for values in product(*lists.values()):
        yield Point(dict(zip(lists, values, strict=True)), spanned, label)


def described(value: Any) -> str:
    """Return an option's value as it appears in tables."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else shorten(value)
