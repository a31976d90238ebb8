"""Field: a value in another program's file, with its location for error messages."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from gsopt.core.errors import InvalidInput, shorten

#: Maximum length of a name: clusters allow 253 characters, but problems only 200.
LONGEST_NAME = 200

_LONGEST_TEXT = 65_536
_MOST_DIGITS = 18
_WHOLE = re.compile(rf"[+-]?\d{{1,{_MOST_DIGITS}}}", re.ASCII)
_LATEST = 253_402_300_799  # seconds; the end of the year 9999


class Field:
    """A value in a JSON or YAML file, with its path.

    The value is None if it is missing or null.

    YAML is read without type conversion, so numbers and booleans may be strings.
    """

    __slots__ = ("above", "key", "source", "value")

    def __init__(self, source: str, value: Any, above: "Field | None" = None, key: "str | int" = "") -> None:
        self.source, self.value, self.above, self.key = source, value, above, key

    def __getitem__(self, key: str) -> "Field":
        value = self.value if self.value is None or isinstance(self.value, dict) else self.mapping()
        return Field(self.source, None if value is None else value.get(key), self, key)

    def __bool__(self) -> bool:
        """Return whether there is a value."""
        return self.value is not None

    def __iter__(self) -> "Iterator[Field]":
        """Yield the entries of a list, or none if the list is missing."""
        if self.value is None:
            return iter(())
        if not isinstance(self.value, list):
            self.refuse("must be a list")
        return (Field(self.source, each, self, index) for index, each in enumerate(self.value))

    @property
    def path(self) -> str:
        """Location of the value in the file, such as ``items[3].spec.nodeName``."""
        parts: list[str] = []
        field: Field | None = self
        while field is not None and field.above is not None:
            key = field.key
            shown = key if isinstance(key, str) and key.isprintable() and len(key) <= LONGEST_NAME else None
            parts.append(f"[{key}]" if isinstance(key, int) else f".{shorten(key) if shown is None else shown}")
            field = field.above
        return "".join(reversed(parts)).lstrip(".")

    def refuse(self, rule: str) -> NoReturn:
        """Raise `InvalidInput` with a one-line message that states the file, field, value and rule."""
        raise InvalidInput(self.path, shorten(self.value), rule, source=self.source)

    def mapping(self) -> Mapping[str, Any]:
        """Return the value, which must be a mapping; an empty mapping if it is missing."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            self.refuse("must be a mapping")
        return self.value

    def entries(self) -> "Iterator[tuple[str, Field]]":
        """Return the entries of a mapping as pairs of key and field."""
        return ((key, Field(self.source, value, self, key)) for key, value in self.mapping().items())

    def named(self) -> "Iterator[tuple[str, Field]]":
        """Yield the entries of a mapping whose keys must be valid names, such as those of resources."""
        for key, field in self.entries():
            if not key or len(key) > LONGEST_NAME or not key.isprintable():
                field.refuse(f"must have a name of 1 to {LONGEST_NAME} characters, without control characters")
            yield key, field

    def text(self) -> str:
        """Return the value, which must be a string; an empty string if it is missing."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            self.refuse("must be a string")
        if len(self.value) > _LONGEST_TEXT:
            self.refuse(f"must have at most {_LONGEST_TEXT:,} characters")
        return self.value

    def texts(self) -> dict[str, str]:
        """Return a mapping of strings to strings, such as labels.

        Numbers and booleans are converted to strings.
        """
        return {key: field.scalar() for key, field in self.entries()}

    def scalar(self) -> str:
        """Return the value (a string, number or boolean) as a string; an empty string if it is missing."""
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return str(self.value) if isinstance(self.value, int | float) else self.text()

    def name(self) -> str:
        """Return the value, which must be a printable name.

        Unlike for `text`, a missing value is an error.
        """
        found = self.text()
        if not found:
            self.refuse("must be a name")
        if len(found) > LONGEST_NAME:
            self.refuse(f"must have at most {LONGEST_NAME} characters")
        if not found.isprintable():
            self.refuse("must have no line breaks or other control characters")
        return found

    def whole(self, default: int = 0, *, least: int | None = None, most: int | None = None) -> int:
        """Return the value, which must be an integer within the given limits; the default if it is missing."""
        if self.value is None:
            return default
        number = self.value
        if isinstance(number, str) and _WHOLE.fullmatch(number):
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or abs(number) >= 10**_MOST_DIGITS:
            self.refuse(f"must be a whole number of at most {_MOST_DIGITS} digits")
        if least is not None and number < least:
            self.refuse(f"must be at least {least}")
        if most is not None and number > most:
            self.refuse(f"must be at most {most:,}")
        return number

    def truth(self) -> bool:
        """Return the value, which must be a boolean; False if it is missing."""
        if self.value is None or isinstance(self.value, bool):
            return bool(self.value)
        if self.value not in ("true", "false", "True", "False"):
            self.refuse("must be true or false")
        return str(self.value).lower() == "true"

    def time(self) -> float | None:
        """Return a time such as ``2026-01-31T12:00:00Z`` as a Unix timestamp, or None if it is missing."""
        text = self.text()
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            self.refuse("must be a time such as 2026-01-31T12:00:00Z")
        try:
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (OverflowError, ValueError):
            self.refuse("must be a time such as 2026-01-31T12:00:00Z")

    def seconds(self) -> float | None:
        """Return the value as a Unix timestamp, or None if it is missing or 0, which means no time."""
        number = self.whole()
        if not 0 <= number <= _LATEST:
            self.refuse("must be seconds since 1970")
        return float(number) if number else None
