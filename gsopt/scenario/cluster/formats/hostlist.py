"""Host lists: Slurm's short notation for many names, such as ``node[001-004,7]``."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, product
from math import prod
from typing import NamedTuple

from gsopt.core.errors import shorten

#: Largest number of names in one file, which is also the largest number of GPUs in a cluster.
MOST_NAMES = 1_000_000

_MOST_DIGITS = 18  # of a number; more are text
_PARTS = re.compile(r"[^\[\],\s]+|\[[^\[\]]*\]")  # of a pattern: plain text, or numbers in brackets
_PATTERN = re.compile(rf"(?:{_PARTS.pattern})+")
_RANGE = re.compile(rf"(\d{{1,{_MOST_DIGITS}}})(?:-(\d{{1,{_MOST_DIGITS}}}))?", re.ASCII)
_NUMBERED = re.compile(rf"(.*?)(\d{{1,{_MOST_DIGITS}}})", re.ASCII)


def expand(text: str, most: int = MOST_NAMES) -> list[str]:
    """Return the names in a host list, in their given order.

    Raise `ValueError` if `text` is not a host list or has more than `most` names. The error message states the
    rule that was broken.
    """
    patterns = [[_choices(part) for part in _PARTS.findall(pattern)] for pattern in _patterns(text)]
    if sum(prod(choices.size() for choices in pattern) for pattern in patterns) > most:
        raise ValueError(f"must have at most {most:,} names")
    return ["".join(chosen) for pattern in patterns for chosen in product(*map(_Choices.names, pattern))]


def compress(names: Iterable[str]) -> str:
    """Return the given names as a host list, in the same order."""
    runs: list[_RunOfNames] = []
    for name in names:
        if not (runs and runs[-1].takes(name)):
            runs.append(_RunOfNames.begun(name))
        else:
            runs[-1] = runs[-1]._replace(last=runs[-1].last + 1)
    groups = groupby(enumerate(runs), key=lambda each: each[1].stem if each[1].digits else each[0])
    return ",".join(_written([run for _, run in group]) for _, group in groups)


class _Choices(NamedTuple):
    """The alternatives at one place of a pattern: a fixed string, or ranges of numbers with their widths."""

    text: str
    ranges: Sequence[tuple[range, int]]

    def size(self) -> int:
        """Return the number of alternatives."""
        return sum(len(numbers) for numbers, _ in self.ranges) if self.ranges else 1

    def names(self) -> list[str]:
        """Return the alternatives as strings."""
        if not self.ranges:
            return [self.text]
        return [str(number).zfill(width) for numbers, width in self.ranges for number in numbers]


class _RunOfNames(NamedTuple):
    """A run of names with consecutive numbers, or one name without a number."""

    stem: str
    digits: str = ""
    last: int = 0

    @classmethod
    def begun(cls, name: str) -> "_RunOfNames":
        numbered = _NUMBERED.fullmatch(name)
        return cls(numbered[1], numbered[2], int(numbered[2])) if numbered else cls(name)

    @property
    def width(self) -> int:
        """Number of digits to which numbers are padded with zeros; 0 if they are not padded."""
        return len(self.digits) if self.digits.startswith("0") else 0

    def takes(self, name: str) -> bool:
        """Check whether a name continues the run with the next number."""
        number = str(self.last + 1).zfill(self.width)
        return bool(self.digits) and len(number) <= _MOST_DIGITS and name == f"{self.stem}{number}"

    def numbers(self) -> str:
        """Return the numbers of the run as a string."""
        if int(self.digits) == self.last:
            return self.digits
        return f"{self.digits}-{str(self.last).zfill(self.width)}"


def _written(runs: Sequence[_RunOfNames]) -> str:
    """Return the runs with the same stem as a string."""
    first = runs[0]
    numbers = ",".join(run.numbers() for run in runs if run.digits)
    is_one = len(runs) == 1 and numbers == first.digits
    return f"{first.stem}{numbers}" if is_one else f"{first.stem}[{numbers}]"


def _patterns(text: str) -> list[str]:
    """Split a host list at the commas outside brackets."""
    found = _PATTERN.findall(text)
    if not found or ",".join(found) != text:
        raise ValueError("must be names such as node[001-004,7],login")
    return found


def _choices(part: str) -> _Choices:
    if not part.startswith("["):
        return _Choices(part, ())
    ranges = []
    for piece in part[1:-1].split(","):
        bounds = _RANGE.fullmatch(piece.strip())
        if bounds is None:
            raise ValueError(f"must have numbers and ranges in its brackets, not {shorten(piece)}")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if last < first:
            raise ValueError(f"must have ranges that do not fall, unlike {piece}")
        ranges.append((range(first, last + 1), len(bounds[1])))
    return _Choices("", ranges)
