"""YAML: a safe reader for the part of the language that data files need."""

from typing import Any

import yaml

from gsopt.core.errors import InvalidInput, shorten

_DEEPEST = 16
_LONGEST = 4 * 2**20  # characters; ten thousand machines, each with its own domain, take a quarter of that

#: Limits for streams of documents, such as all pods of a cluster.
DEEPEST = 64
_LONGEST_STREAM = 64 * 2**20
_MOST_DOCUMENTS = 1_000_000

#: Plain scalars that stand for null in such a stream.
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


def parse_yaml(source: str, text: str) -> Any:
    r"""Read YAML that consists of mappings, sequences and strings. Every scalar is returned as a string.

    If scalars were converted, node names such as ``0010`` would become numbers. Aliases are rejected, because
    they may expand to a thousand times the size of the text. The result for an empty text is None.
    """
    found = _parsed(source, text, longest=_LONGEST, deepest=_DEEPEST, most=1)
    return found[0] if found else None


def parse_documents(source: str, text: str) -> list[Any]:
    r"""Read a stream of YAML documents, which may be longer and deeper than for `parse_yaml`.

    Unquoted scalars that stand for null, such as ``~``, become None. `parse_yaml` returns them as strings.
    """
    return _parsed(source, text, longest=_LONGEST_STREAM, deepest=DEEPEST, most=_MOST_DOCUMENTS)


def _parsed(source: str, text: str, *, longest: int, deepest: int, most: int) -> list[Any]:
    if len(text) > longest:
        raise InvalidInput(
            "", f"{len(text):,} characters", f"must be at most {longest:,} characters", source=source
        )
    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return _Events(source, events, deepest, most).read()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it contains characters that YAML forbids"
        is_deep = "nesting depth" in problem  # libyaml has a limit of its own
        rule = "must be nested less deeply" if is_deep else f"must be YAML: {problem}"
        raise InvalidInput(where, "", rule, source=source) from None


class _Events:
    """A converter from the events of a YAML parser to data."""

    def __init__(self, source: str, events: Any, deepest: int, most: int) -> None:
        self.source, self.events, self.deepest, self.most = source, events, deepest, most

    def read(self) -> list[Any]:
        """Return the documents; an empty file contains none."""
        found: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if len(found) == self.most:
                    number = "one document" if self.most == 1 else f"at most {self.most:,} documents"
                    raise self._refused(event, "", f"must be {number}")
                found.append(self._value(next(self.events), 0))
        return found

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            is_nothing = self.most > 1 and not event.style and event.value in _NOTHING
            return None if is_nothing else event.value
        if isinstance(event, yaml.AliasEvent):
            raise self._refused(event, shorten(f"*{event.anchor}"), "must not be an alias")
        if depth == self.deepest:
            raise self._refused(event, "", "must be nested less deeply")
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self._values(yaml.SequenceEndEvent, depth))
        return self._mapping(depth)

    def _values(self, end: type, depth: int) -> Any:
        while not isinstance(event := next(self.events), end):
            yield self._value(event, depth + 1)

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._refused(event, "", "must have strings as keys")
            if event.value in found:
                raise self._refused(event, shorten(event.value), "must not occur twice in one mapping")
            found[event.value] = self._value(next(self.events), depth + 1)
        return found

    def _refused(self, event: Any, value: str, rule: str) -> InvalidInput:
        return InvalidInput(f"line {event.start_mark.line + 1}", value, rule, source=self.source)
