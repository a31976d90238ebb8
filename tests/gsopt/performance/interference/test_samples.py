"""What is learnt from."""

from math import log

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import PairTable, Profile
from gsopt.performance.interference.samples import Samples


def test_both_directions_are_samples() -> None:
    """A row has the job's own features before its partner's, and the logarithm of its own slowdown."""
    profiles = [
        Profile(name="a", features={"x": 0.0, "n": 0.0}),
        Profile(name="b", features={"x": 0.0, "n": -1.0}),
    ]
    samples = Samples(PairTable(profiles=profiles, slowdowns={"a": {"b": 2.0}, "b": {"a": 1.0}}))
    assert samples.features == ("n", "x", "partner's n", "partner's x")
    assert samples.rows == [[0, 0, -log(2), 0], [-log(2), 0, 0, 0]]
    assert samples.logs == [log(2), 0]


def test_nothing_to_learn_from_is_refused() -> None:
    """A table without pairs, and one without features, are refused in one line."""
    a = Profile(name="a", features={})
    with pytest.raises(InvalidInput, match=r"^t: slowdowns: must hold a pair to learn from$"):
        Samples(PairTable(name="t", profiles=[a], slowdowns={}))
    with pytest.raises(InvalidInput, match=r"^t: features: must hold one to learn from$"):
        _ = Samples(PairTable(name="t", profiles=[a], slowdowns={"a": {"a": 1.0}})).rows
