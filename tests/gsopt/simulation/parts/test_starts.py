"""Starts: which GPUs a job takes, and in which sub-batches it computes on them."""

from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.simulation import Decider, State
from gsopt.simulation.parts import Match
from gsopt.simulation.parts.accumulation import fits, memory_left, sub_batches
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.castor.pairing import Pairing
from tests.heuristics.policies.shared import halves, held, job, machine, run


def largest_that_fits(state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match | None:
    """Let all share that have the memory."""
    names, left = sub_batches(state.jobs[job]), memory_left(state, gpus)
    return next((Match(-1 / (1 + partner), name) for name in names if fits(state.jobs[job], name, left)), None)


def anybody(state: State, **options: Any) -> Decider:
    """Let jobs share in the order of their numbers."""
    return Colocating(state, key=lambda job: job, judge=largest_that_fits, **options)


def paired(state: State) -> Decider:
    """Pair jobs by their numbers."""
    return Pairing(state, key=lambda job: job, judge=largest_that_fits)


def beside_the_first(state: State) -> Decider:
    """Let jobs share with the first job only."""
    return Colocating(state, lambda job: job, lambda _s, _j, partner, _g: None if partner else Match(0))


def machines(*sizes: tuple[int, int]) -> Cluster:
    """Return machines of (GPUs, bytes of each)."""
    made = [Machine(name=f"m{i}", gpus=gpus, memory=memory) for i, (gpus, memory) in enumerate(sizes)]
    return Cluster(racks=[Rack(name="r", machines=made)])


def test_free_gpus_are_near_the_shared_ones() -> None:
    """What is missing comes from the machines of the shared GPUs, and then from where most is free."""
    jobs = job("a", 0, 9, 3), job("c", 0, 9, 5), job("d", 1, 9, 7)
    replayed = run(beside_the_first, *jobs, cluster=machines((4, 8), (4, 8), (6, 8)))
    assert held(replayed, "d")[0] == (1, (0, 1, 2, 3, 4, 5, 6), "")


@pytest.mark.parametrize(("memory", "mode"), [(8, ""), (4, "2 steps"), (2, "4 steps")])
def test_a_free_gpu_may_need_smaller_sub_batches(memory: int, mode: str) -> None:
    """The whole batch fits beside the partner, and on the free GPU what its memory allows."""
    new = job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.8, 3), halves(2, 0.7, 2, steps=4)])
    cluster = machines((1, 16), (1, memory))
    assert held(run(anybody, job("a", 0, 9, 1, memory=9), new, cluster=cluster), "b")[0] == (1, (0, 1), mode)


def test_too_little_memory_anywhere_leaves_a_job_waiting() -> None:
    """GPUs on which no sub-batch fits do not count."""
    new = job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.8, 3)])
    cluster = machines((1, 16), (1, 2), (1, 8))
    replayed = run(anybody, job("a", 0, 4, 1, memory=14), new, cluster=cluster)
    assert held(replayed, "b")[0] == (4, (0, 2), "")


@pytest.mark.parametrize("policy", [anybody, paired])
def test_a_batch_that_fits_nowhere_is_divided(policy: Any) -> None:
    """Where no GPU of the cluster has the memory for the whole batch a job starts in sub-batches on its own."""
    new = job("b", 0, 3, 2, memory=9, modes=[halves(2, 0.5, 4)])
    assert held(run(policy, new, cluster=machine(2, memory=8)), "b") == [(0, (0, 1), "2 steps")]


def test_a_batch_that_would_fit_is_not_divided() -> None:
    """Where larger GPUs are only occupied a job waits for them rather than run slowly on small ones."""
    new = job("b", 1, 3, 1, memory=9, modes=[halves(1, 0.5, 4)])
    replayed = run(anybody, job("a", 0, 4, 1, memory=16), new, cluster=machines((1, 16), (1, 8)))
    assert held(replayed, "b") == [(4, (0,), "")]
