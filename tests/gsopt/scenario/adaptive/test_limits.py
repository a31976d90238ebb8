"""Limits of batches."""

import pytest
from pydantic import ValidationError

from gsopt.scenario.adaptive.limits import Limits

LIMITS = Limits(initial_batch=64, most_batch=2048, least_local=8, most_local=96)


def test_a_job_has_gpus_for_its_largest_batch() -> None:
    """As many GPUs as the largest batch gives the least local one each, and always one."""
    assert LIMITS.most_gpus == 256
    assert LIMITS.model_copy(update={"most_batch": 64, "least_local": 96}).most_gpus == 1


@pytest.mark.parametrize(
    ("field", "value"), [("most_batch", 63), ("most_local", 7), ("initial_batch", 0), ("least_local", 1.5)]
)
def test_impossible_limits_are_refused(field: str, value: float) -> None:
    """The most is at least the least, and all are whole samples; the message names the field."""
    with pytest.raises(ValidationError, match=field):
        Limits(**{**LIMITS.model_dump(), field: value})
