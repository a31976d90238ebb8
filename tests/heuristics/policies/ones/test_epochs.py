"""Epochs: whole passes over the data set, and when the next one ends."""

from collections.abc import Iterable
from typing import Any

from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.scenario import Overhead
from gsopt.scenario.training import Training
from gsopt.simulation import Action, Resize, Start, State, Wake, simulate
from heuristics.policies.ones.epochs import Epochs
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

_LARGE = Mode(name="large", menu=[(1, 2.0)], samples=80)


def _watch(job: Job, change_at: int | None = None, **physics: Any) -> list[tuple[Any, int]]:
    """Return when how many whole epochs were counted, asking at the ends of epochs only."""
    epochs, seen = Epochs(), []

    def decide(state: State) -> Iterable[Action]:
        for number in epochs.passed(state, state.running):
            seen.append((state.now, epochs.whole(number)))
            if epochs.whole(number) == change_at:
                yield Resize(number, 1, "large")
        yield from map(Start, state.arrived)
        if (time := epochs.next_end(state)) is not None:
            yield Wake(time)

    simulate(bundle([job]), doing(decide), cluster=1, exact=True, **physics)
    return seen


def _job(**fields: Any) -> Job:
    training = Training(epoch=10, samples=40)
    given: dict[str, Any] = {"duration": 8, "modes": [_LARGE], "training": training} | fields
    return Job(name="a", release_date=0, gpus=1, **given)


def test_ends_follow_the_mode() -> None:
    """An epoch takes two seconds, and half of one in a mode of twice the speed and twice the samples."""
    assert _watch(_job()) == [(2, 1), (4, 2), (6, 3)]
    assert _watch(_job(), change_at=2) == [(2, 1), (4, 2), (4.5, 3), (5, 4), (5.5, 5)]


def test_ends_are_found_through_overheads_and_phases() -> None:
    """Overheads and slow phases put ends off, however often one has to ask."""
    assert _watch(_job(), overheads=Overhead(start=3)) == [(5, 1), (7, 2), (9, 3)]
    slow = [Phase(until=0.5, slowdown=3), Phase(until=1)]
    assert _watch(_job(phases=slow))[0] == (6, 1)


def test_overheads_cause_one_look_too_many() -> None:
    """A job of short epochs after a long overhead is looked at once before it is over, and not again."""
    asked = []
    epochs = Epochs()

    def decide(state: State) -> Iterable[Action]:
        asked.append(state.now)
        epochs.passed(state, state.running)
        yield from map(Start, state.arrived)
        if (time := epochs.next_end(state)) is not None:
            yield Wake(time)

    simulate(bundle([_job()]), doing(decide), cluster=1, exact=True, overheads=Overhead(start=1000))
    assert asked == [0, 2, 1002, 1004, 1006, 1008]


def test_jobs_without_training() -> None:
    """They have no epochs, and no end of one."""
    assert _watch(_job(training=None, modes=[])) == []


def test_forgotten_jobs_begin_anew() -> None:
    """A job that has gone has no whole epochs any more."""
    epochs = Epochs()
    assert epochs.whole(3) == 0
    epochs.forget([3])
    assert epochs.whole(3) == 0
