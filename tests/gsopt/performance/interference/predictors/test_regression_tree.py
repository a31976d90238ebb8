"""The regression tree."""

import pytest

from gsopt.performance.interference.predictors import regression_tree
from tests.gsopt.performance.interference.tables import EIGHT, ruled


def test_leaves_of_one_sample_know_the_table() -> None:
    """A tree that may ask as much as it wants gives back what it has seen."""
    prediction = regression_tree(EIGHT, leaf=1)
    assert prediction.slowdowns([(EIGHT.by_name["b"], EIGHT.by_name["g"])]) == pytest.approx([1 + 0.25 * 1.5])


def test_one_question_has_two_answers() -> None:
    """With depth 1 there are two leaves, and a leaf of 64 samples leaves none to ask."""
    pairs = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]
    assert len(set(regression_tree(EIGHT, depth=1).slowdowns(pairs))) == 2
    assert len(set(regression_tree(EIGHT, leaf=64).slowdowns(pairs))) == 1


def test_a_leaf_is_the_geometric_mean() -> None:
    """Errors count as ratios: a half and a double are as far from 1."""
    table = ruled({"a": 1, "b": 4}, lambda _, other: 2 * other)
    a = table.by_name["a"]
    assert regression_tree(table, leaf=4).slowdowns([(a, a)]) == pytest.approx([4.0])


def test_importance_is_a_share_of_what_matters() -> None:
    """The only feature that slowdowns depend on has all of it."""
    table = ruled({name: place for place, name in enumerate("abcdef")}, lambda mine, _: 1 + mine)
    assert regression_tree(table).importance == pytest.approx({"load": 1.0, "partner's load": 0.0})
