"""Race: the least rank first, and what a step that does not fit ends."""

from typing import NamedTuple

import pytest

from heuristics.policies.optimus.race import by_time_saved, race


class Step(NamedTuple):
    """A step of so many GPUs."""

    rank: float
    gpus: int


@pytest.mark.parametrize(("stops", "order"), [(False, [1, 1]), (True, [1])])
def test_a_step_that_does_not_fit_ends_its_contender_or_all(stops: bool, order: list[int]) -> None:
    """Of two GPUs the step of three is not granted; the others go on unless the race stops."""
    asking = [[Step(2.0, 3), Step(0.0, 1)], [Step(1.0, 1), Step(3.0, 1)]]
    left = [2]

    def take(_: int, step: Step) -> bool:
        if step.gpus > left[0]:
            return False
        left[0] -= step.gpus
        return True

    assert [place for place, _ in race(map(iter, asking), take, stops=stops)] == order


def test_equals_go_in_the_order_of_their_names() -> None:
    """Of equal ranks the candidate that is named first goes first."""
    asking = [[Step(1.0, 1)] * 2, [Step(1.0, 1)]]
    assert [place for place, _ in race(map(iter, asking), lambda *_: True)] == [0, 0, 1]


def test_time_saved_counts_per_gpu() -> None:
    """A step that saves as much with more GPUs ranks behind, and one that saves nothing has no rank."""
    assert by_time_saved(9.0, 3.0, 1) < by_time_saved(9.0, 3.0, 2)
    assert by_time_saved(3.0, 9.0, 1) is None
