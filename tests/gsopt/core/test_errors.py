"""Errors."""

import pickle

import pytest

from gsopt.core.errors import GsoptError, InvalidInput, require, shorten


def test_message_is_one_line_of_file_field_value_rule() -> None:
    """InvalidInput names file, field, value and rule in this order and leaves out what is empty."""
    assert str(InvalidInput("a.json", "demand", "-1", "must be >= 0")) == "a.json: demand: -1: must be >= 0"
    assert str(InvalidInput("", "method", "'x'", "must be known")) == "method: 'x': must be known"


def test_invalid_input_is_both_kinds_of_error() -> None:
    """Callers may catch it as a GsoptError or as a ValueError."""
    assert issubclass(InvalidInput, GsoptError)
    assert issubclass(InvalidInput, ValueError)


def test_invalid_input_survives_pickling() -> None:
    """The error reaches the parent of a process pool with all its fields."""
    error = InvalidInput("a.json", "demand", "-1", "must be >= 0")
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    "value", [10**400, 10**5000, "x" * 10_000, list(range(1000))], ids=["long", "huge", "text", "list"]
)
def test_shortened_values_fit_a_line(value: object) -> None:
    """Any value is shown in at most sixty characters and without a line break."""
    assert len(shorten(value)) <= 60
    assert "\n" not in shorten(value)


def test_a_rule_that_holds_is_silent() -> None:
    """Nothing is raised when the rule holds."""
    require(True, "servers", 1, "must be at least 1")


def test_a_broken_rule_is_one_short_line() -> None:
    """The message names argument, value and rule, and shortens a long value."""
    with pytest.raises(InvalidInput) as caught:
        require(False, "servers", -(10**400), "must be at least 1")

    assert str(caught.value) == (
        "servers: -100000000000000000000000000... (402 characters): must be at least 1"
    )
