"""Starting: who comes first of those that wait."""

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.aryl.epoch import Waiting
from heuristics.policies.aryl.schedulers.starting import in_order, require_order
from tests.heuristics.policies.aryl.schedulers.epochs import crowded


def test_ties_go_by_release() -> None:
    """Jobs that are as long, or as large, start in the order of their release."""
    epoch = crowded([Waiting(2, 0.0, 6.0, 2), Waiting(1, 1.0, 6.0, 2), Waiting(0, 2.0, 4.0, 3)])
    for order, expected in (("release", [2, 1, 0]), ("time", [0, 2, 1]), ("area", [2, 1, 0])):
        assert [job.job for job in in_order(epoch, order)] == expected  # type: ignore[arg-type]


def test_bad_order() -> None:
    """An order that there is not is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^order: 'lifo': must be one of release, time, area$"):
        require_order("lifo")
