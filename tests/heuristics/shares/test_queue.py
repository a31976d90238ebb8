"""A strict queue."""

from gsopt.core.result import Status
from heuristics.shares import queue
from tests.strategies.shares import alike, small


def test_the_first_that_does_not_fit_holds_up_all() -> None:
    """The third job would fit, but the second, which does not, comes first."""
    solution = queue(alike({"gpus": 2}, {"gpus": 3}, {}, gpus=4, criterion="fifo")).solution
    assert solution is not None
    assert set(solution.shares) == {"a"}


def test_the_fastest_type_with_room_is_taken() -> None:
    """The first job takes the fast GPU, the second what is left."""
    solution = queue(small("runs-on-one-type-only")).solution
    assert solution is not None
    assert solution.shares == {"a": {"v100": 1.0}, "b": {"k80": 1.0}}


def test_without_an_end_there_is_no_solution() -> None:
    """Where completion counts and somebody waits there is no solution; where all fit there is."""
    waiting = queue(alike({}, {}, gpus=1, criterion="makespan"))
    assert (waiting.status, waiting.message) == (Status.UNKNOWN, "jobs that wait would never end")
    assert queue(alike({}, {}, gpus=2, criterion="makespan")).objective == 1
