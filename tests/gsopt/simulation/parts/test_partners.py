"""Partners: who has GPUs to itself, and who has been refused already."""

from collections.abc import Iterable

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Phase
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import Action, Start, State, Stop, Wake, simulate
from gsopt.simulation.parts import Match, Partners
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

MACHINE = Cluster.uniform(machines=1, gpus=4)

#: Jobs on three GPUs and on one, and a third that waits.
JOBS = [Job(name=name, release_date=0, duration=9, gpus=gpus) for name, gpus in [("a", 3), ("b", 1), ("c", 2)]]


class Refusing:
    """A judge that counts how often it is asked, and refuses."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int, tuple[int, ...]]] = []

    def __call__(self, _state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match | None:
        """Note the pair, and refuse it."""
        self.asked.append((job, partner, gpus))
        return None


def asked_over_time(jobs: list[Job], *actions: list[Action], **options: object) -> list[list[tuple[int, int]]]:
    """Ask for partners of the third job at one second after the other, and give the pairs that are judged."""
    judge, steps = Refusing(), iter(actions)
    partners, seen = Partners(judge), list[list[tuple[int, int]]]()

    def decide(state: State) -> Iterable[Action]:
        yield from next(steps, [])
        if state.now < len(actions):
            judge.asked.clear()
            partners.update(state)
            partners.of(state, 2)
            seen.append([(job, partner) for job, partner, _ in judge.asked])
            yield Wake(state.now + 1)

    simulate(bundle(jobs), doing(decide), cluster=MACHINE, share_limit=2, **options)  # type: ignore[arg-type]
    return seen


def test_a_refusal_is_remembered() -> None:
    """A pair is judged once, and again only if the running job has other GPUs to itself."""
    start: list[Action] = [Start(0, (0, 1, 2)), Start(1, (3,))]
    moved: list[Action] = [Stop(1), Start(1, (2,))]
    assert asked_over_time(JOBS, start, [], moved, []) == [[(2, 0), (2, 1)], [], [(2, 0)], []]


def test_a_refusal_ends_where_more_may_be_left() -> None:
    """A running job with phases may have more seconds left later, and one that lost its GPUs more work."""
    start: list[Action] = [Start(0, (0, 1, 2)), Start(1, (3,))]
    slower = JOBS[0].model_copy(update={"phases": (Phase(until=0.5), Phase(until=1, slowdown=2))})
    assert asked_over_time([slower, *JOBS[1:]], start, []) == [[(2, 0), (2, 1)], [(2, 0)]]
    drop = [CapacityChange(time=1, gpus=3), CapacityChange(time=1.5, gpus=4)]
    again: list[Action] = [Start(1, (3,))]
    assert asked_over_time(JOBS, start, [], again, [], capacity_changes=drop)[1:3] == [[], [(2, 1)]]


@pytest.mark.parametrize(("share_limit", "room"), [(1, [0, 0, 0]), (2, [4, 2, 4]), (3, [4, 2, 4])])
def test_room(share_limit: int, room: list[int]) -> None:
    """GPUs of one job count, where two may be on one; a third never comes."""
    partners, seen = Partners(lambda _state, _job, _partner, gpus: Match(gpus)), list[int]()

    def decide(state: State) -> Iterable[Action]:
        partners.update(state)
        if state.now == 0:
            yield Start(0, (0, 1, 2))
            yield Start(1, (3,))
            partners.refresh(state, 0)
            partners.refresh(state, 1)
            seen.append(partners.room)
            yield Wake(1)
        elif state.now == 1:
            if share_limit > 1:
                assert [each.gpus for each in partners.of(state, 2)] == [(0, 1, 2), (3,)]
                yield Start(2, (0, 3))
                partners.refresh(state, 2)
            seen.append(partners.room)
            yield Wake(2)
        elif state.now == 2:
            if share_limit > 1:
                yield Stop(2)
            partners.update(state)
            seen.append(partners.room)
        elif state.completed:
            yield from [Start(2)] if state.free == 4 and 2 not in state.completed else []

    simulate(bundle(JOBS), doing(decide), cluster=MACHINE, share_limit=share_limit)
    assert seen == room


def test_only_gpus_of_the_type_count() -> None:
    """Of a running job on GPUs of two types a job that needs one of them gets only those."""
    machines = [Machine(name=name, gpus=2, gpu_type=name) for name in ("old", "new")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    waiting = Job(name="c", release_date=0, duration=9, gpus=1, gpu_type="new")
    found: list[tuple[int, ...]] = []

    def decide(state: State) -> Iterable[Action]:
        partners = Partners(lambda _state, _job, _partner, gpus: Match(gpus))
        if state.now == 0:
            yield Start(0, (0, 1, 2))
            yield Wake(1)
        elif state.now == 1:
            partners.update(state)
            found.extend(each.gpus for each in partners.of(state, 2))
            yield Start(2, (2,))
            yield Start(1, (3,))

    simulate(bundle([*JOBS[:2], waiting]), doing(decide), cluster=cluster, share_limit=2)
    assert found == [(2,)]
