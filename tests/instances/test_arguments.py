"""Arguments of generators."""

import pytest

from gsopt.errors import InvalidInput
from instances.arguments import require


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
