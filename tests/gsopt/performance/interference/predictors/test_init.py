"""What all predictors have in common."""

from math import isfinite

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import PairTable, Predictor, Profile, predictors
from tests.gsopt.performance.interference.tables import EIGHT, ruled

PREDICTORS: dict[str, Predictor] = {name: getattr(predictors, name) for name in predictors.__all__}

pytestmark = pytest.mark.parametrize("predictor", PREDICTORS.values(), ids=PREDICTORS)


def test_every_predictor(predictor: Predictor) -> None:
    """Equal slowdowns are predicted, the same twice; one pair is enough and none is refused."""
    table = ruled({"a": 0, "b": 1, "c": 2}, lambda _, __: 1.5)
    new = Profile(name="z", features={"load": 7})
    known = table.by_name["a"]
    found = predictor(table).slowdowns([(new, known), (known, new), (new, new)])
    assert found == pytest.approx([1.5] * 3)
    pairs = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]
    assert predictor(EIGHT).slowdowns(pairs) == predictor(EIGHT).slowdowns(pairs)
    with pytest.raises(InvalidInput, match="must hold a pair to learn from"):
        predictor(EIGHT.only([]))
    a = Profile(name="a", features={"load": 1})
    found = predictor(PairTable(profiles=[a], slowdowns={"a": {"a": 2.0}})).slowdowns([(a, a)])
    assert found == pytest.approx([2.0])


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e300])
def test_features_of_any_size(predictor: Predictor, scale: float) -> None:
    """Tiny, huge and negative features, and the largest slowdowns, give finite slowdowns of at least 1."""
    table = ruled({"a": -scale, "b": 0.0, "c": scale}, lambda mine, other: 1e6 if mine > other else 1.0)
    pairs = [(one, other) for one in table.profiles for other in table.profiles]
    found = predictor(table).slowdowns(pairs)
    assert all(isfinite(each) and each >= 1 for each in found)
    assert len(found) == 9
