"""Trees of scikit-learn."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.method import name_of
from gsopt.performance.interference import Predictor, trees
from gsopt.performance.interference.predictors import boosted_trees, nearest, regression_tree
from tests.gsopt.performance.interference.tables import EIGHT


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
    with pytest.raises(InvalidInput, match=r'needs scikit-learn: pip install "gsopt\[predict\]"$') as caught:
        predictor(EIGHT)
    assert caught.value.value == name_of(predictor)
    assert nearest(EIGHT).slowdowns([]) == []
