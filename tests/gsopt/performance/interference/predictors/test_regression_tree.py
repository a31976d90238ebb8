"""The regression tree."""

import pytest

from gsopt.performance.interference.predictors import regression_tree
from tests.gsopt.performance.interference.tables import EIGHT, ruled


def test_leaves() -> None:
    """Leaves of one sample know the table, larger ones have the geometric mean; importance is a share."""
    prediction = regression_tree(EIGHT, leaf=1)
    assert prediction.slowdowns([(EIGHT.by_name["b"], EIGHT.by_name["g"])]) == pytest.approx([1 + 0.25 * 1.5])
    pairs = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]
    assert len(set(regression_tree(EIGHT, depth=1).slowdowns(pairs))) == 2
    assert len(set(regression_tree(EIGHT, leaf=64).slowdowns(pairs))) == 1
    table = ruled({"a": 1, "b": 4}, lambda _, other: 2 * other)
    a = table.by_name["a"]
    assert regression_tree(table, leaf=4).slowdowns([(a, a)]) == pytest.approx([4.0])
    table = ruled({name: place for place, name in enumerate("abcdef")}, lambda mine, _: 1 + mine)
    assert regression_tree(table).importance == pytest.approx({"load": 1.0, "partner's load": 0.0})
