"""Unwrap: values that may be None, where a test says that they are not."""

from typing import TypeVar, overload

from gsopt.core.numbers.grid import Number

T = TypeVar("T")


@overload
def unwrap(value: Number | None) -> Number: ...  # mypy joins the types of numbers to object


@overload
def unwrap(value: T | None) -> T: ...


def unwrap(value: T | None) -> T:
    """Return a value, or fail where there is none."""
    assert value is not None
    return value
