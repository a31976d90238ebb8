"""Accumulation: which modes are sub-batches, what fits, and what a pair is made of."""

from collections.abc import Iterable
from fractions import Fraction

import pytest

from gsopt.performance.colocation import Pair, SubBatch
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Action, Start, State, simulate
from gsopt.simulation.parts import Pairs
from gsopt.simulation.parts.accumulation import fits, memory_left, sub_batches
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing
from tests.heuristics.policies.shared import machine


@pytest.mark.parametrize(
    "mode",
    [
        Mode(name="one step", menu=[(2, 0.5)]),
        Mode(name="another batch", menu=[(2, 0.5)], steps=2, batch_size=32),
        Mode(name="another type", menu=[(2, 0.5)], steps=2, gpu_type="T4"),
        Mode(name="other GPUs", menu=[(1, 0.5), (4, 1.5)], steps=2),
    ],
    ids=lambda mode: mode.name,
)
def test_what_is_no_sub_batch(mode: Mode) -> None:
    """A mode that is not divided, trains otherwise, or is for other GPUs is none."""
    own = Mode(name="own", menu=[(2, 0.5)], steps=2, batch_size=64)
    job = Job(name="a", release_date=0, duration=1, gpus=2, batch_size=64, modes=[mode, own])
    assert sub_batches(job) == ("", "own")


def test_memory() -> None:
    """What is left is that of the fullest GPU; a need or a size that is not known fits."""
    lean = Mode(name="lean", menu=[(1, 0.5)], memory=3, steps=2)
    job = Job(name="a", release_date=0, duration=1, gpus=1, memory=6, modes=[lean])
    assert [fits(job, "", left) for left in (5, 6, None)] == [False, True, True]
    assert [fits(job, "lean", left) for left in (2, 3)] == [False, True]
    assert fits(job.model_copy(update={"memory": None}), "", 0)
    seen: list[int | None] = []

    def decide(state: State) -> Iterable[Action]:
        if state.arrived:
            yield Start(0, (1,), "lean")
            seen.extend(memory_left(state, gpus) for gpus in [(0,), (0, 1), ()])

    for memory in (8, None):
        simulate(bundle([job]), doing(decide), cluster=machine(2, memory))
    assert seen == [8, 5, None, None, None, None]


def test_pairs() -> None:
    """Work is counted in seconds at the speeds that both have alone, over the tier of the shared GPUs."""
    half = Mode(name="half", menu=[(2, 0.5)], memory=1, steps=2)
    jobs = [
        Job(name="a", release_date=0, duration=9, gpus=2, model="cnn"),
        Job(name="b", release_date=3, duration=4, gpus=2, model="gan", memory=2, modes=[half]),
    ]
    speed = Speed(
        tiers={name: TierPenalty(machine=0, rack=0.5, network=1) for name in ("cnn", "gan")},
        interference={"cnn": {"gan": 1.25}, "gan": {"cnn": 3.0}},
    )
    found: list[SubBatch] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, (1, 2))
        elif state.arrived:
            found.extend(Pairs().of(state, 1, 0, (1, 2)))
            yield Start(1, (0, 3))

    cluster = Cluster.uniform(racks=1, machines=2, gpus=2)
    simulate(bundle(jobs), doing(decide), cluster=cluster, speed=speed, share_limit=2, exact=True)
    slowdowns = Fraction(5, 4), Fraction(3)
    left = (9 - 3 / Fraction(3, 2)) * Fraction(3, 2)
    assert found == [
        SubBatch("", Pair(left, Fraction(6), *slowdowns, seconds_whole=Fraction(6)), memory=2),
        SubBatch("half", Pair(left, Fraction(12), *slowdowns, seconds_whole=Fraction(6)), memory=1),
    ]
