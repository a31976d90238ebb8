"""Trees of scikit-learn."""

import pytest

from gsopt.errors import InvalidInput
from gsopt.interference import Predictor, trees
from gsopt.interference.predictors import boosted_trees, nearest, regression_tree
from gsopt.method import name_of
from tests.gsopt.interference.tables import EIGHT


@pytest.mark.parametrize("predictor", [regression_tree, boosted_trees])
def test_without_scikit_learn_one_line_says_so(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the predictor and the remedy; the others need nothing."""
    monkeypatch.setattr(trees, "find_spec", lambda _: None)
    with pytest.raises(InvalidInput, match=r'needs scikit-learn: pip install "gsopt\[predict\]"$') as caught:
        predictor(EIGHT)
    assert caught.value.value == name_of(predictor)
    assert nearest(EIGHT).slowdowns([]) == []
