"""Arguments: checks on the arguments of generators."""

from pathlib import Path

from gsopt.core.errors import InvalidInput, require


def at_least(least: int, **numbers: float) -> None:
    """Raise `InvalidInput` unless every number is at least `least`."""
    for name, number in numbers.items():
        require(number >= least, name, number, f"must be at least {least}")


def fractions(**parts: float) -> None:
    """Raise `InvalidInput` unless every number is between 0 and 1."""
    for name, part in parts.items():
        require(0 <= part <= 1, name, part, "must be between 0 and 1")


def ascending(shortest: int, longest: int) -> None:
    """Raise `InvalidInput` unless the shortest duration is at least 1 and at most the longest."""
    at_least(1, shortest=shortest)
    require(longest >= shortest, "longest", longest, f"must be at least the {shortest} of the shortest")


def required(path: str | Path | None) -> str | Path:
    """Return the folder of public traces, or raise `InvalidInput` if none is given."""
    if path is None:
        raise InvalidInput("path", "", "is required: the folder of public traces")
    return path
