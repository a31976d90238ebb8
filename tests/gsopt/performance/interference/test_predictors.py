"""What every predictor must do, and each of them by hand."""

from math import expm1, isfinite, sqrt

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import PairTable, Predictor, Profile, predictors
from gsopt.performance.interference.predictors import (
    boosted_trees,
    nearest,
    overall_mean,
    regression_tree,
    row_means,
)
from tests.gsopt.performance.interference.tables import EIGHT, ruled

PREDICTORS: dict[str, Predictor] = {name: getattr(predictors, name) for name in predictors.__all__}
PAIRS = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]

every_predictor = pytest.mark.parametrize("predictor", PREDICTORS.values(), ids=PREDICTORS)


def beside_itself(slowdowns: dict[str, float], features: list[float]) -> PairTable:
    """Return configurations with a feature each, in the order of the features, measured beside themselves."""
    names = sorted(slowdowns, key=int)
    profiles = [profile(name, x) for name, x in zip(names, features, strict=True)]
    return PairTable(profiles=profiles, slowdowns={name: {name: each} for name, each in slowdowns.items()})


def profile(name: str, x: float, **more: float) -> Profile:
    """Return a configuration with one feature or more."""
    return Profile(name=name, features={"x": x, **more})


@every_predictor
def test_every_predictor(predictor: Predictor) -> None:
    """Equal slowdowns are predicted, the same twice; one pair is enough and none is refused."""
    table = ruled({"a": 0, "b": 1, "c": 2}, lambda _, __: 1.5)
    new = Profile(name="z", features={"load": 7})
    known = table.by_name["a"]
    found = predictor(table).slowdowns([(new, known), (known, new), (new, new)])
    assert found == pytest.approx([1.5] * 3)
    assert predictor(EIGHT).slowdowns(PAIRS) == predictor(EIGHT).slowdowns(PAIRS)
    with pytest.raises(InvalidInput, match="must hold a pair to learn from"):
        predictor(EIGHT.only([]))
    table = ruled({"a": 1}, lambda _, __: 2.0)
    assert predictor(table).slowdowns([(table.profiles[0],) * 2]) == pytest.approx([2.0])


@every_predictor
@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e300])
def test_features_of_any_size(predictor: Predictor, scale: float) -> None:
    """Tiny, huge and negative features, and the largest slowdowns, give finite slowdowns of at least 1."""
    table = ruled({"a": -scale, "b": 0.0, "c": scale}, lambda mine, other: 1e6 if mine > other else 1.0)
    found = predictor(table).slowdowns([(one, other) for one in table.profiles for other in table.profiles])
    assert all(isfinite(each) and each >= 1 for each in found)
    assert len(found) == 9


def test_more_trees_come_closer() -> None:
    """More trees have smaller errors on what was seen; at a small rate they stay near the mean."""
    measured = [EIGHT.slowdowns[one.name][other.name] for one, other in PAIRS]
    errors = [
        sum(abs(value - true) for value, true in zip(found, measured, strict=True))
        for found in (boosted_trees(EIGHT, trees=trees).slowdowns(PAIRS) for trees in (1, 10, 100))
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 10
    found = boosted_trees(EIGHT, trees=1, rate=1e-6).slowdowns(PAIRS)
    assert max(found) - min(found) < 1e-5


def test_nearest_weighs_by_distance() -> None:
    """A measured pair is given back; in between both ends count as ratios by one over their distance."""
    twin = Profile(name="twin", features={"load": 0.75})
    assert nearest(EIGHT).slowdowns([(twin, EIGHT.by_name["h"])]) == pytest.approx([1 + 0.75 * 1.75])
    table = beside_itself({"1": 1.0, "2": 4.0}, [-1, 1])
    middle = profile("m", 0)
    for neighbours in (2, 9):
        assert nearest(table, neighbours=neighbours).slowdowns([(middle, middle)]) == pytest.approx([2.0])
    table = beside_itself({"1": 1.0, "2": 8.0}, [0, 7])  # logarithms 0 and 3
    third = profile("m", 1)  # logarithm 1, in units of log 2
    assert nearest(table).slowdowns([(third, third)]) == pytest.approx([2.0])
    assert nearest(table).slowdowns([(third, table.profiles[0])])[0] < sqrt(8)


def test_nearest_takes_the_first_of_equals() -> None:
    """The first measured of those that are as near decides; a constant feature is one unit of distance."""
    middle = profile("m", 0)
    for table, expected in (
        (beside_itself({"2": 4.0, "1": 1.0}, [-1, 1]), 4.0),
        (beside_itself({str(n): 2.0 + n for n in range(39, -1, -1)}, [(-1) ** n for n in range(40)]), 41.0),
    ):
        assert nearest(table, neighbours=1).slowdowns([(middle, middle)]) == pytest.approx([expected])
    ends = [profile(name, x, same=0) for name, x in (("a", -1), ("b", 1))]
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 4.0}})
    other = profile("m", -1, same=expm1(1))  # sqrt 2 from a, and sqrt 10 from b
    share = sqrt(2) / (sqrt(2) + sqrt(10))
    assert nearest(table).slowdowns([(other, other)]) == pytest.approx([4.0**share])


def test_overall_mean_is_geometric() -> None:
    """The mean of slowdowns of 1 and 9 is 3, for every pair."""
    table = ruled({"a": 1, "b": 9}, lambda _, other: other)
    assert overall_mean(table).slowdowns([(table.profiles[0],) * 2]) == pytest.approx([3.0])


def test_leaves_of_the_regression_tree() -> None:
    """Leaves of one sample know the table, larger ones have the geometric mean; importance is a share."""
    prediction = regression_tree(EIGHT, leaf=1)
    assert prediction.slowdowns([(EIGHT.by_name["b"], EIGHT.by_name["g"])]) == pytest.approx([1 + 0.25 * 1.5])
    assert len(set(regression_tree(EIGHT, depth=1).slowdowns(PAIRS))) == 2
    assert len(set(regression_tree(EIGHT, leaf=64).slowdowns(PAIRS))) == 1
    table = ruled({"a": 1, "b": 4}, lambda _, other: 2 * other)
    a = table.by_name["a"]
    assert regression_tree(table, leaf=4).slowdowns([(a, a)]) == pytest.approx([4.0])
    table = ruled({name: place for place, name in enumerate("abcdef")}, lambda mine, _: 1 + mine)
    assert regression_tree(table).importance == pytest.approx({"load": 1.0, "partner's load": 0.0})


def test_row_means() -> None:
    """Products of what jobs suffer and do are given back; a stranger is like the mean."""
    table = ruled({"a": 1, "b": 2, "c": 5}, lambda mine, other: 3 * mine * other**2)
    a, b = table.by_name["a"], table.by_name["b"]
    assert row_means(table).slowdowns([(a, b), (b, a)]) == pytest.approx([12, 6])
    table = ruled({"a": 1, "b": 4}, lambda _, other: other).only([("a", "a"), ("b", "b")])
    stranger = ruled({"z": 1}).by_name["z"]
    assert row_means(table).slowdowns([(stranger, stranger)]) == pytest.approx([2.0])
