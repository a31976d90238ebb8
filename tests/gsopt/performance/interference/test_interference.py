"""Tables of measured pairs, what is learnt from them, and what predictions are worth."""

from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.files import read_data, write
from gsopt.core.method import name_of
from gsopt.performance.interference import (
    PairTable,
    Prediction,
    Predictor,
    Profile,
    compare_decisions,
    splits,
    trees,
)
from gsopt.performance.interference.predictors import boosted_trees, nearest, regression_tree
from gsopt.performance.interference.samples import Samples
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed
from tests.gsopt.performance.interference.tables import EIGHT, ruled

# Tables of measured pairs


A, B, C = (Profile(name=name, features={"load": load}) for name, load in (("a", 0.9), ("b", 0.3), ("c", 0.5)))
PLAIN_A, PLAIN_B = Profile(name="a", features={}), Profile(name="b", features={})
SLOWDOWNS = {"b": {"a": 1.5, "b": 1.0}, "a": {"b": 1.25}}


def test_tables(tmp_path: Path) -> None:
    """Pairs are listed once with both directions, nothing is made up, and a file gives the same table."""
    assert PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).couples == (("a", "b"), ("b", "b"))
    assert PairTable(profiles=[B, A], slowdowns=SLOWDOWNS).couples == (("b", "b"), ("b", "a"))
    part = PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).only([("b", "a")])
    assert part.slowdowns == {"a": {"b": 1.25}, "b": {"a": 1.5}}
    assert part.couples == (("a", "b"),)
    assert part.profiles == (A, B, C)
    assert part.only([]).couples == ()
    with pytest.raises(InvalidInput, match=r"^pair: \('a', 'c'\): must have been measured$"):
        PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).only([("a", "c")])
    speed = Speed(interference=PairTable(profiles=[A, B], slowdowns=SLOWDOWNS).slowdowns)
    a, b = (Job(name=name, release_date=0, duration=1, gpus=1, model=name) for name in "ab")
    assert (speed.rate(a, 1, partners=[b]), speed.rate(b, 1, partners=[a])) == (1 / 1.25, 1 / 1.5)
    table = PairTable(name="mine", profiles=[A, B], slowdowns=SLOWDOWNS)
    write(table, tmp_path / "pairs.json")
    assert read_data(PairTable, tmp_path / "pairs.json") == table


@pytest.mark.parametrize(
    ("profiles", "slowdowns", "rule"),
    [
        ([A, A], {}, "must differ from every other name"),
        ([A, Profile(name="b", features={})], {}, "must be those of the first: load"),
        ([A], {"x": {}}, "must be the name of a profile"),
        ([A], {"a": {"x": 2.0}}, "must be the name of a profile"),
        ([A, B], {"a": {"b": 2.0}}, "needs that of b beside a"),
        ([A], {"a": {"a": 0.99}}, "greater than or equal to 1"),
        ([A], {"a": {"a": float("nan")}}, "finite"),
    ],
    ids=["double", "features", "unknown", "unknown partner", "one direction", "faster", "not a number"],
)
def test_what_is_no_table_is_refused(profiles: Any, slowdowns: Any, rule: str) -> None:
    """Names must exist once, features agree, both directions be there, and slowdowns be at least 1."""
    with pytest.raises(ValidationError, match=rule):
        PairTable(profiles=profiles, slowdowns=slowdowns)


# What is learnt from


def test_both_directions_are_samples() -> None:
    """A row has the job's features before its partner's, the logarithm of its slowdown, and must be there."""
    profiles = [
        Profile(name="a", features={"x": 0.0, "n": 0.0}),
        Profile(name="b", features={"x": 0.0, "n": -1.0}),
    ]
    samples = Samples(PairTable(profiles=profiles, slowdowns={"a": {"b": 2.0}, "b": {"a": 1.0}}))
    assert samples.features == ("n", "x", "partner's n", "partner's x")
    assert samples.rows == [[0, 0, -log(2), 0], [-log(2), 0, 0, 0]]
    assert samples.logs == [log(2), 0]
    with pytest.raises(InvalidInput, match=r"^t: slowdowns: must hold a pair to learn from$"):
        Samples(PairTable(name="t", profiles=[PLAIN_A], slowdowns={}))
    with pytest.raises(InvalidInput, match=r"^t: features: must have at least one to learn from$"):
        _ = Samples(PairTable(name="t", profiles=[PLAIN_A], slowdowns={"a": {"a": 1.0}})).rows


# What is learnt from, and what is held out


def test_splits() -> None:
    """Every pair is held out once with both directions, or with its configuration, as a seed says."""
    found = list(splits(EIGHT))
    assert sorted(couple for _, held_out in found for couple in held_out) == sorted(EIGHT.couples)
    assert {len(held_out) for _, held_out in found} == {7, 8}
    assert all({*learnt.couples} == {*EIGHT.couples} - {*held_out} for learnt, held_out in found)
    for learnt, held_out in splits(EIGHT):
        for first, second in held_out:
            assert second not in learnt.slowdowns.get(first, {})
            assert first not in learnt.slowdowns.get(second, {})
    found = list(splits(EIGHT, folds=4, by="configuration"))
    assert len(found) == 4
    for learnt, held_out in found:
        seen = {name for couple in learnt.couples for name in couple}
        assert len(seen) == 6
        assert all({*couple} - seen for couple in held_out)
        assert len(learnt.couples) + len(held_out) == len(EIGHT.couples)
    drawn, again, others = (list(splits(EIGHT, seed=seed)) for seed in (1, 1, 2))
    assert drawn == again != others
    assert list(splits(EIGHT.only([("a", "b")]))) == []
    assert list(splits(EIGHT.only([]), by="configuration")) == []
    assert len(list(splits(EIGHT.only([("a", "b"), ("c", "d")]), folds=9))) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [({"folds": 1}, "folds: 1: must be at least 2"), ({"by": "x"}, "by: 'x': must be one")],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    """Wrong options are one line."""
    with pytest.raises(InvalidInput, match=message):
        list(splits(PairTable(profiles=[], slowdowns={}), **options))


# What a prediction gives


def test_filled_tables() -> None:
    """Estimates stay between 1 and the longest, and only gaps are filled."""
    pairs = [(PLAIN_A, PLAIN_A), (PLAIN_A, PLAIN_B), (PLAIN_B, PLAIN_B)]
    assert Prediction(lambda _: [0.2, 3.5, 1e9]).slowdowns(pairs) == [1.0, 3.5, 1e6]
    table = PairTable(profiles=[PLAIN_A, PLAIN_B], slowdowns={"a": {"b": 1.25}, "b": {"a": 1.0}})
    prediction = Prediction(lambda pairs: [2.0 if one.name == "a" else 3.0 for one, _ in pairs])
    assert prediction.filled(table) == {"a": {"a": 2.0, "b": 1.25}, "b": {"a": 1.0, "b": 3.0}}


# What predicted slowdowns do to who shares


GOOD = ruled({"a": 0.25, "b": 0.25}, lambda _, __: 1.25).only([("a", "b")])
BAD = ruled({"a": 2, "b": 2}, lambda _, __: 3.0).only([("a", "b")])


def test_savings_by_hand() -> None:
    """Right predictions lose nothing, never sharing all that it saves; either job may be the new one."""
    for table in (GOOD, BAD):
        slowdowns = table.slowdowns["a"]["b"], table.slowdowns["b"]["a"]
        found = compare_decisions(table, [(("a", "b"), slowdowns)])
        assert (found.alike, found.deviation, found.cases) == (1, 0, 14)
        assert found.benefit == found.benefit_measured
        assert found.lost in (None, 0)
    found = compare_decisions(GOOD, [(("a", "b"), (9.0, 9.0))], ratios=[1.0])
    assert (found.alike, found.sharing, found.benefit, found.lost) == (0, 1, 1, 1)
    assert found.benefit_measured == pytest.approx(2 / 1.25)
    assert found.deviation == pytest.approx(1 - 1.25 / 2)
    found = compare_decisions(BAD, [(("a", "b"), (1.0, 1.0))], ratios=[1.0])
    assert (found.alike, found.sharing, found.benefit_measured, found.lost) == (0, 0, 1, None)
    assert found.benefit == pytest.approx(2 / 3)
    table = ruled({"a": 0, "b": 1}, lambda mine, _: 3.0 if mine else 1.25).only([("a", "a"), ("b", "b")])
    found = compare_decisions(table, [(("a", "a"), (1, 1)), (("b", "b"), (1, 1))], ratios=[1.0])
    assert (found.cases, found.alike, found.sharing) == (2, 0.5, 0.5)
    assert found.lost == pytest.approx(float(Fraction(3) / Fraction(1, 2)))
    table = ruled({"a": 0, "b": 1}, lambda mine, _: 3.0 if mine else 1.0).only([("a", "b"), ("b", "b")])
    found = compare_decisions(table, [(("a", "b"), (1.0, 3.0))], ratios=[0.5])
    # Beside a, which ends at 0.5 s, b has done a sixth by then: it ends at 4/3 instead of 3/2 s, and the two
    # share. If b is the running one it ends at 7/6 and a at 1 s, worse than the 1/2 and 3/2 of waiting.
    assert found.benefit_measured == pytest.approx((1.125 + 1) / 2)
    assert (found.sharing, found.alike) == (0.5, 1)
    assert compare_decisions(table, [(("b", "b"), (3.0, 3.0))], ratios=[0.5, 1]).cases == 2


@pytest.mark.parametrize(
    ("predicted", "ratios", "message"),
    [
        ([(("a", "z"), (1.0, 1.0))], [1.0], r"pair: \('a', 'z'\): must have been measured"),
        ([(("a", "b"), (0.5, 1.0))], [1.0], "slowdown_running: 0.5: must be at least 1"),
        ([(("a", "b"), (1.0, 1.0))], [0.0], "ratios: 0.0: must be numbers above 0"),
        ([(("a", "b"), (1.0, 1.0))], [float("inf")], "ratios: inf: must be numbers above 0"),
        ([(("a", "b"), (1.0, 1.0))], [], "predicted: must hold a pair, and ratios a number"),
        ([], [1.0], "predicted: must hold a pair, and ratios a number"),
    ],
)
def test_nothing_to_decide_is_refused(predicted: Any, ratios: list[float], message: str) -> None:
    """Unknown pairs, speed-ups, ratios that are none and empty inputs are one line."""
    with pytest.raises(InvalidInput, match=message):
        compare_decisions(GOOD, predicted, ratios=ratios)


@pytest.mark.parametrize("ratio", [1e-9, 1e9])
def test_lengths_of_any_ratio(ratio: float) -> None:
    """Beside a job that is almost done, or takes almost for ever, the right predictions still lose nothing."""
    found = compare_decisions(GOOD, [(("a", "b"), (1.25, 1.25))], ratios=[ratio])
    assert (found.alike, found.deviation) == (1, 0)
    assert found.lost in (None, 0)


# Trees of scikit-learn


@pytest.mark.parametrize(
    ("predictor", "options", "message"),
    [
        (regression_tree, {"leaf": 0}, "leaf: 0: must be at least 1"),
        (regression_tree, {"depth": 0}, "depth: 0: must be at least 1"),
        (regression_tree, {"seed": -1}, "seed: -1: must be at least 0"),
        (boosted_trees, {"trees": 0}, "trees: 0: must be at least 1"),
        (boosted_trees, {"depth": -1}, "depth: -1: must be at least 1"),
        (boosted_trees, {"rate": 0.0}, "rate: 0.0: must be above 0"),
        (boosted_trees, {"rate": float("nan")}, "rate: nan: must be above 0"),
        (boosted_trees, {"seed": 2**32}, "seed: 4294967296: must be at least 0"),
        (nearest, {"neighbours": 0}, "neighbours: 0: must be at least 1"),
    ],
)
def test_bad_options_are_one_line(predictor: Any, options: dict[str, Any], message: str) -> None:
    """Nothing that scikit-learn would refuse gets there."""
    with pytest.raises(InvalidInput, match=message):
        predictor(EIGHT, **options)


@pytest.mark.parametrize("predictor", [regression_tree, boosted_trees])
def test_without_scikit_learn_one_line_says_so(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the predictor and the remedy; the others need nothing."""
    monkeypatch.setattr(trees, "find_spec", lambda _: None)
    with pytest.raises(InvalidInput, match=r"needs scikit-learn: pip install scikit-learn$") as caught:
        predictor(EIGHT)
    assert caught.value.value == name_of(predictor)
    assert nearest(EIGHT).slowdowns([]) == []
