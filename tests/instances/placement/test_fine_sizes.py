"""Fine sizes: hundreds of sizes of one resource."""

import pytest

from gsopt.core.errors import InvalidInput
from instances.placement import fine_sizes


def test_sizes_are_fine() -> None:
    """There are nearly as many sizes as workers, all of GPUs alone."""
    problem = fine_sizes()

    assert len({demand[0] for demand in problem.demands}) > 190
    assert not any(any(demand[1:]) for demand in problem.demands)


def test_no_workers_are_refused() -> None:
    """There is at least one worker."""
    with pytest.raises(InvalidInput, match="workers: 0"):
        fine_sizes(workers=0)
