"""How predictors do on pairs that they have not seen."""

from math import sqrt

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation import catalogue
from gsopt.performance.interference import PairTable, Prediction, evaluate, predicted
from gsopt.performance.interference.predictors import nearest, overall_mean, regression_tree
from tests.gsopt.performance.interference.tables import EIGHT, ruled
from tests.unwrap import unwrap


def _always(value: float) -> Prediction:
    return Prediction(lambda pairs: [value for _ in pairs], {"load": value - 1})


def _measured(reader: str, options: dict[str, str]) -> PairTable:
    """Return a published table, or skip the test."""
    folder = catalogue.data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of public traces")
    table: PairTable = catalogue.interference_readers()[reader](folder, **options).table
    return table


def test_errors_by_hand() -> None:
    """1.5 is off from 1 and 2 by a half and a quarter; importance is the mean over splits."""
    table = ruled({"a": 1, "b": 2}, lambda mine, _: mine)
    found = evaluate(table, lambda _: _always(1.5))
    assert found.directions == 4
    assert (found.mean_absolute, found.root_mean_square, found.largest) == (0.5, 0.5, 0.5)
    assert found.mean_relative == (0.5 + 0.25) / 2
    mixed = evaluate(ruled({"a": 1, "b": 4}, lambda mine, _: mine), lambda _: _always(2.0))
    assert (mixed.mean_absolute, mixed.largest) == (1.5, 2)
    assert mixed.root_mean_square == pytest.approx(sqrt(2.5))
    values = iter([1.5, 2.5])
    table = EIGHT.only([("a", "b"), ("c", "d")])
    assert evaluate(table, lambda _: _always(next(values)), folds=2).importance == {"load": 1.0}
    assert list(evaluate(EIGHT, regression_tree).importance.values()) == sorted(
        evaluate(EIGHT, regression_tree).importance.values(), reverse=True
    )
    assert evaluate(EIGHT, nearest).importance == {}
    with pytest.raises(InvalidInput, match=r"^ruled: slowdowns: 1 pairs: must hold enough pairs"):
        evaluate(EIGHT.only([("a", "b")]), overall_mean)


def test_who_knows_the_answers_has_no_error() -> None:
    """Directions are not mixed up: both slowdowns of each pair are held against their own."""

    def oracle(learnt: PairTable) -> Prediction:
        assert learnt.couples != EIGHT.couples
        return Prediction(lambda pairs: [EIGHT.slowdowns[one.name][other.name] for one, other in pairs])

    uneven = ruled({"a": 1, "b": 2, "c": 3}, lambda mine, other: mine + 2 * other)
    told = Prediction(lambda pairs: [uneven.slowdowns[one.name][other.name] for one, other in pairs])
    for found in (evaluate(EIGHT, oracle), evaluate(uneven, lambda _: told, by="configuration")):
        assert (found.largest, found.decisions.alike, found.decisions.deviation) == (0, 1, 0)


def test_computation_and_memory_matter_most_on_measured_tables() -> None:
    """On Lucid's table a job's GPU utilisation and its partner's memory utilisation lead; none has a half."""
    importance = evaluate(_measured("lucid", {}), regression_tree).importance
    assert {*list(importance)[:2]} == {"GPU utilisation (%)", "partner's memory utilisation (%)"}
    assert max(importance.values()) < 0.5


def test_decisions_within_ten_percent_say_little() -> None:
    """On Gavel's V100 one slowdown for all pairs is off by less than that, and loses a third of savings."""
    decisions = evaluate(_measured("gavel", {"gpu": "v100"}), overall_mean).decisions
    assert decisions.deviation < 0.1
    assert unwrap(decisions.lost) > 0.3


@pytest.mark.parametrize(
    ("reader", "options"), [("gavel", {"gpu": "v100"}), ("gavel", {"gpu": "p100"}), ("lucid", {})]
)
def test_the_tree_beats_knowing_nothing_on_measured_tables(reader: str, options: dict[str, str]) -> None:
    """On held-out pairs of published tables its error is less than half the mean's, and it decides better."""
    table = _measured(reader, options)
    tree, mean = evaluate(table, regression_tree), evaluate(table, overall_mean)
    assert tree.mean_relative < mean.mean_relative / 2
    assert tree.decisions.alike > mean.decisions.alike
    assert tree.decisions.deviation < min(0.1, mean.decisions.deviation)
    assert unwrap(tree.decisions.lost) < 0.1


def test_a_predicted_table_is_what_is_evaluated() -> None:
    """The predicted table has every pair in both directions, with the errors that the evaluation reports."""
    table = predicted(EIGHT, nearest, folds=4, seed=3)
    assert table.couples == EIGHT.couples
    assert table.profiles == EIGHT.profiles
    errors = [
        abs(slowdown - EIGHT.slowdowns[one][other])
        for one, row in table.slowdowns.items()
        for other, slowdown in row.items()
    ]
    found = evaluate(EIGHT, nearest, folds=4, seed=3)
    assert found.largest == max(errors)
    assert found.mean_absolute == pytest.approx(sum(errors) / len(errors))
