"""Conf: a reader for lines of Slurm's configuration files, such as ``SwitchName=s1 Nodes=node[1-4]``."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster.formats.hostlist import expand

#: Settings with which a line may begin, each with the settings that may follow in the line.
KINDS: Mapping[str, tuple[str, ...]] = {
    "SwitchName": ("SwitchName", "Switches", "Nodes", "LinkSpeed"),
    "BlockName": ("BlockName", "Nodes"),
    "BlockSizes": ("BlockSizes",),
    "NodeName": (),  # any; it has dozens that say nothing about GPUs
}
_KINDS = {key.lower(): key for key in KINDS}
_SETTING = re.compile(r"([A-Za-z]+)=(?:\"([^\"]*)\"|(\S*))")
_NODE_COMMENT = re.compile(r"^\s*#\s*(?=NodeName=)", re.IGNORECASE)


class Line(NamedTuple):
    """A line (with its continuations): its number, first setting (`kind`), and values by lower-case setting."""

    number: int
    kind: str
    values: Mapping[str, str]

    @property
    def place(self) -> str:
        """The line number, as used in messages."""
        return f"line {self.number}"

    def names(self, source: str, key: str) -> list[str]:
        """Return the names in the host list of a setting, or an empty list if the setting is missing."""
        text = self.values.get(key.lower())
        if text is None:
            return []
        try:
            return expand(text)
        except ValueError as error:
            raise InvalidInput(f"{self.place}: {key}", shorten(text), str(error), source=source) from None


def read_lines(source: str, text: str) -> list[Line]:
    r"""Read the lines with settings, including comments that begin with ``NodeName=``."""
    return [_line(source, number, line) for number, line in _logical(text)]


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with settings and their numbers, without comments and with continued lines joined."""
    begun, start = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        stated = _NODE_COMMENT.sub("", line, count=1).partition("#")[0].rstrip()
        start = start if begun else number
        if stated.endswith("\\"):
            begun += stated[:-1]
            continue
        if whole := (begun + stated).strip():
            yield start, whole
        begun = ""
    if begun.strip():
        yield start, begun.strip()


def _line(source: str, number: int, text: str) -> Line:
    """Split a line into its settings. The first setting determines the line's kind."""
    place, values, end = f"line {number}", {}, 0
    for setting in _SETTING.finditer(text):
        if text[end : setting.start()].strip():
            break
        end, key = setting.end(), setting[1].lower()
        if key in values:
            raise InvalidInput(place, setting[1], "must not occur twice in one line", source=source)
        values[key] = setting[2] or setting[3] or ""
        if not values[key]:
            raise InvalidInput(place, setting[1], "must have a value", source=source)
    if text[end:].strip():
        raise InvalidInput(
            place, shorten(text[end:].strip()), "must be settings such as Nodes=n[1-4]", source=source
        )
    kind = _KINDS.get(next(iter(values)), "")
    if not kind:
        rule = f"must begin with {', '.join(KINDS)}"
        raise InvalidInput(place, shorten(text), rule, source=source)
    for key in values:
        if KINDS[kind] and key not in map(str.lower, KINDS[kind]):
            rule = f"must be one of {', '.join(KINDS[kind])}"
            raise InvalidInput(place, shorten(key), rule, source=source)
    return Line(number, kind, values)
