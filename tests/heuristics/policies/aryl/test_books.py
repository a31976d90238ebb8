"""Who holds what."""

from types import SimpleNamespace
from typing import Any

from gsopt.simulation.policy import Resize, Start
from heuristics.policies.aryl.books import Books
from tests.heuristics.policies.aryl.books import books, crew, form


def _with_gpus(given: Books) -> Books:
    """Let all GPUs be there and free."""
    total = int(given.machines.gpus.sum())
    state: Any = SimpleNamespace(
        servers=given.machines.names, capacity=total, free_gpus=lambda: tuple(range(total))
    )
    assert given.look(state)
    assert not given.look(state)
    return given


def test_room_and_idle() -> None:
    """Room is what base workers leave, and idle what flexible ones leave of that."""
    given = books(2, 0)
    crew(given, 0, form(given, "training", 2, 1, (1.0, 1.5, 2.0)), {0: 1}, {0: 1, 1: 1})
    assert (given.room.tolist(), given.idle.tolist()) == ([6, 8], [4, 6])
    given.end(0)
    assert (given.idle.tolist(), given.guests(0), given.crews, given.elastic) == ([8, 8], [], {}, {})


def test_commit_keeps_gpus_that_stay() -> None:
    """A job that grows keeps its GPUs, and one that shrinks keeps its first ones on every machine."""
    given = _with_gpus(books(2, 0))
    one = crew(given, 0, form(given, "training", 2, 1, (1.0, 1.5, 2.0)), {0: 1})
    assert list(given.commit()) == [Start(0, (0, 1))]
    given.put_flexible(one, 0, 1)
    given.put_flexible(one, 1, 1)
    assert list(given.commit()) == [Resize(0, (0, 1, 2, 3, 8, 9))]
    given.put_flexible(one, 0, -1)
    other = crew(given, 1, form(given, "training", 2, 1, mode="m"), {0: 1})
    assert list(given.commit()) == [Resize(0, (0, 1, 8, 9)), Start(1, (2, 3), "m")]
    assert other.held == (2, 3)


def test_nothing_is_decided_where_nothing_changes() -> None:
    """A worker that is taken off and put back where it was is no change."""
    given = _with_gpus(books(1, 0))
    one = crew(given, 0, form(given, "training", 2, 1, (1.0, 1.5)), {0: 1}, {0: 1})
    assert len(list(given.commit())) == 1
    given.put_flexible(one, 0, -1)
    given.put_flexible(one, 0, 1)
    assert given.unbooked == [one]
    assert list(given.commit()) == []


def test_jobs_that_are_left_out() -> None:
    """Jobs that are about to lose everything are not told to go on."""
    given = _with_gpus(books(1, 1))
    one = crew(given, 0, form(given, "inference", 4, 1), {1: 1})
    assert list(given.commit(but=[0])) == []
    assert (given.on([1]), given.on([0])) == ([0], [])
    assert one.held == ()


def test_machines_come_and_go_beside_workers() -> None:
    """What is there is what is free and what workers hold."""
    given = _with_gpus(books(2, 0))
    crew(given, 0, form(given, "training", 2, 1, (1.0, 2.0)), {0: 1}, {0: 1})
    list(given.commit())
    state: Any = SimpleNamespace(servers=("v0",), capacity=8, free_gpus=lambda: (4, 5, 6, 7))
    assert given.look(state)
    assert (given.there.tolist(), given.room.tolist(), given.idle.tolist()) == ([8, 0], [6, 0], [4, 0])
