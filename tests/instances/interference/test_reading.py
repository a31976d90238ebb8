"""What a reading of measured pairs says."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import Profile
from instances.interference.reading import assemble

PROFILES = [Profile(name=name, features={}) for name in "ab"]


def test_what_was_not_as_measured_is_counted() -> None:
    """Pairs without speeds and those with a job that is faster than alone are told apart."""
    reading = assemble("x", PROFILES, [(("a", "a"), (1.5, 0.7)), (("a", "b"), None), (("b", "b"), (1.0, 1.0))])
    assert reading.table.slowdowns == {"a": {"a": 1.0}, "b": {"b": 1.0}}
    assert reading.summary == "2 pairs; 1 without speeds left out; 1 faster than alone read as 1"


def test_a_pair_of_strangers_is_refused() -> None:
    """The line names the table and the configuration."""
    with pytest.raises(InvalidInput, match=r"^x: slowdowns: 'z': must be the name of a profile"):
        assemble("x", PROFILES, [(("a", "z"), (0.5, 0.5))])
