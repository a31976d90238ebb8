"""Named: schedulers by name."""

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.aryl import schedulers
from heuristics.policies.aryl.schedulers.named import scheduler_named
from tests.heuristics.policies.aryl.schedulers.epochs import assert_legal, drawn


@pytest.mark.parametrize("name", sorted(set(schedulers.__all__) - {"gandiva"}))
def test_every_scheduler(name: str) -> None:
    """Each listed scheduler is found, and is new each time."""
    assert_legal(drawn(5), scheduler_named(name))
    assert scheduler_named(name) is not scheduler_named(name)


def test_options() -> None:
    """Options are those of the scheduler's function."""
    assert [scheduler_named("afs", {"blocks": blocks}).blocks for blocks in (True, False)] == [True, False]


def test_bad_name() -> None:
    """A scheduler that there is not is refused in one line, and an option that it has not."""
    with pytest.raises(InvalidInput, match=r"^scheduler: 'lifo': must be two_phase, or one of afs, .*optimus$"):
        scheduler_named("lifo")
    with pytest.raises(InvalidInput, match=r"^scheduler_options: 'gain': is no option of fifo; it has blocks$"):
        scheduler_named("fifo", {"gain": "base"})
