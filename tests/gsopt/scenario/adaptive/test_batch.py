"""How batches are processed."""

from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.scenario.adaptive.batch import split
from gsopt.scenario.adaptive.limits import Limits
from tests.effort import cases

LIMITS = Limits(initial_batch=32, most_batch=2048, least_local=8, most_local=64)


@settings(max_examples=cases(200), deadline=None)
@given(batch_size=st.integers(32, 2048), gpus=st.integers(1, 64))
def test_a_batch_is_split_into_parts_that_fit(batch_size: int, gpus: int) -> None:
    """Every part fits on a GPU, parts are as few as may be, and together they are no less than the batch."""
    batch = split(batch_size, gpus, LIMITS)
    assert 1 <= batch.local <= LIMITS.most_local
    assert batch.over(gpus) <= LIMITS.most_batch
    least = 1 if gpus == 1 and batch_size > LIMITS.initial_batch else 0
    assert batch.steps == max(ceil(ceil(batch_size / gpus) / LIMITS.most_local) - 1, least)
    slack = gpus * (batch.steps + 1)
    assert min(batch_size, LIMITS.most_batch - slack) <= batch.over(gpus) < batch_size + slack + gpus
