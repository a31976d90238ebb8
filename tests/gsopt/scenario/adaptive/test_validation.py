"""The course of trainings."""

import pytest
from pydantic import ValidationError

from gsopt.scenario.adaptive.validation import Epoch, Validation


@pytest.mark.parametrize("field", ["progress", "iterations"])
def test_progress_and_iterations_rise(field: str) -> None:
    """An epoch that ends where the one before does is refused."""
    first = Epoch(progress=10, iterations=10, sqr=1, var=1)
    second = Epoch(progress=20, iterations=20, sqr=1, var=1).model_copy(update={field: 10.0})
    with pytest.raises(ValidationError, match=rf"epochs\[1\].{field}: 10.0: must rise"):
        Validation(batch=8, epochs=[first, second])


def test_gradients_are_not_all_nothing() -> None:
    """Of mean and variance of the gradients one may be 0, not both."""
    assert Epoch(progress=1, iterations=1, sqr=0, var=1).sqr == 0
    with pytest.raises(ValidationError, match=r"sqr: 0.0: must not be 0 where var is 0 too"):
        Epoch(progress=1, iterations=1, sqr=0, var=0)
