"""Divisions of the time among jobs and pairs."""

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.scenario.speed import Speed
from gsopt.simulation import Decider, Replay, State, simulate
from gsopt.simulation.parts.inventory import Inventory
from heuristics.policies.gandiva.packing import PackedShares, Pairing
from heuristics.policies.gavel.ledger import Portions
from heuristics.policies.gavel.rounds import Rounds
from tests.gsopt.simulation.scenarios import bundle


class Division(NamedTuple):
    """What a division gave."""

    parts: Portions
    pairs: Mapping[int, int]


def divisions(
    *jobs: Job,
    gpus: int = 1,
    pairing: Pairing = "random",
    seed: int = 0,
    slow: Speed | None = None,
    cluster: Cluster | None = None,
) -> list[Division]:
    """Run jobs on one machine, or a cluster, and give every division."""
    found: list[Division] = []

    def watched(state: State) -> Decider:
        packing = PackedShares(pairing, seed=seed)

        def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
            found.append(Division(packing(state, jobs, inventory), dict(packing.pairs)))
            return found[-1].parts

        return Rounds(state, divide, renewal=360, pairs=lambda: packing.pairs)

    cluster = cluster or Cluster.uniform(machines=1, gpus=gpus)
    simulate(bundle(jobs), watched, cluster=cluster, share_limit=2, speed=slow, bound=False)
    return found


@pytest.mark.parametrize("pairing", ["random", "exact"])
@pytest.mark.parametrize("gpus", [1, 2])
def test_units_have_equal_parts(pairing: Pairing, gpus: int) -> None:
    """Three jobs that each take all GPUs are a pair and a job, each with half of the time."""
    jobs = (Job(name=name, release_date=0, duration=100, gpus=gpus) for name in "abc")
    parts, pairs = divisions(*jobs, gpus=gpus, pairing=pairing)[0]
    assert len(pairs) == 2
    assert all(pairs[other] == job for job, other in pairs.items())
    units = [job for job in range(3) if pairs.get(job, job) >= job]
    expected: dict[int, dict[str, float]] = {job: {"gpu": 0.5} if job in units else {} for job in range(3)}
    assert {job: dict(own) for job, own in parts.items()} == expected


def _of_kinds(**machines: int) -> Cluster:
    """Return machines of one GPU each, of a type and with a memory."""
    listed = [Machine(name=kind, gpus=1, gpu_type=kind, memory=memory) for kind, memory in machines.items()]
    return Cluster(racks=[Rack(name="r", machines=listed)])


def test_no_unit_has_more_than_all_of_the_time() -> None:
    """A pair on three of five GPUs, on which no other fits beside it, has all of the time and no more."""
    jobs = [Job(name=name, release_date=0, duration=100, gpus=3) for name in "ab"]
    assert divisions(*jobs, gpus=5, pairing="exact")[0].parts == {0: {"gpu": 1.0}, 1: {}}


@pytest.mark.parametrize("seed", range(5, 17))
def test_as_many_draws_as_jobs(seed: int) -> None:
    """Of three jobs, two of one size, these are a pair if one of three draws gives them."""
    jobs = [
        Job(name=name, release_date=0, duration=100, gpus=size) for name, size in [("a", 1), ("b", 1), ("c", 2)]
    ]
    random = Random(seed)
    drawn = any({*random.sample([0, 1, 2], 2)} == {0, 1} for _ in jobs)
    assert divisions(*jobs, gpus=2, seed=seed)[0].pairs == ({0: 1, 1: 0} if drawn else {})


def test_jobs_of_one_model_are_told_apart_by_their_memory() -> None:
    """Of three jobs of one model those two are the best pair whose memory fits together."""
    jobs = [
        Job(name=name, release_date=0, duration=100, gpus=1, model="m", memory=memory)
        for name, memory in [("a", 4), ("b", 4), ("c", 14)]
    ]
    assert divisions(*jobs, pairing="exact", cluster=_of_kinds(x=16))[0].pairs == {0: 1, 1: 0}


def test_jobs_of_one_model_are_told_apart_by_their_gpus() -> None:
    """Of three jobs of one model those two are the best pair that run on one type, and have a part there."""
    jobs = [
        Job(name=name, release_date=0, duration=100, gpus=1, model="m", gpu_type=kind)
        for name, kind in [("a", "x"), ("b", ""), ("c", "y")]
    ]
    parts, pairs = divisions(*jobs, pairing="exact", cluster=_of_kinds(x=16, y=16))[0]
    other = pairs[1]
    assert pairs == {1: other, other: 1}
    assert parts[min(1, other)] == {"x" if other == 0 else "y": 0.5}


@pytest.mark.parametrize("pairing", ["random", "exact"])
def test_both_of_a_pair_make_progress(pairing: Pairing) -> None:
    """Where one of two stands still beside the other, which does not mind, they are no pair."""
    jobs = [Job(name=name, release_date=0, duration=100, gpus=1, model=name) for name in "ab"]
    slow = Speed(interference={"a": {"b": 1.0}, "b": {"a": 5000.0}})
    assert divisions(*jobs, pairing=pairing, slow=slow)[0].pairs == {}


def test_a_pair_is_parted_where_the_memory_for_both_is_gone() -> None:
    """Two of three jobs share the only GPU that has the memory; without it all take turns on the other one."""
    machines = [Machine(name=f"{memory}", gpus=1, memory=memory) for memory in (8, 16)]
    jobs = bundle([Job(name=name, release_date=0, duration=3000, gpus=1, memory=6) for name in "abc"])

    def packed(state: State) -> Decider:
        packing = PackedShares()
        return Rounds(state, packing, pairs=lambda: packing.pairs)

    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    less = [CapacityChange(time=500, gpus=1)]
    run = simulate(jobs, packed, cluster=cluster, share_limit=2, capacity_changes=less, bound=False)
    assert run.metrics.completed == 3


def test_a_pair_that_loses_is_drawn_anew() -> None:
    """Jobs that do less together than in turns part at the next division, and others stay together."""
    make = partial(Job, gpus=1, duration=3000)
    jobs = [make(name=n, model=n, release_date=0) for n in "ab"] + [make(name="c", model="c", release_date=400)]
    apart = {"a": {"b": 3.0}, "b": {"a": 3.0}}
    speed, slower = Speed(), Speed(interference=apart)
    kept = [divisions(*jobs, gpus=1, seed=seed, slow=speed)[1].pairs for seed in range(5)]
    assert kept == [{0: 1, 1: 0}] * 5
    anew = [divisions(*jobs, gpus=1, seed=seed, slow=slower)[1].pairs for seed in range(5)]
    assert any(pairs.get(0) != 1 for pairs in anew)


def test_who_has_lost_a_partner_has_no_share() -> None:
    """The job whose partner is complete has what is left over, until the time is divided again."""

    def divide(*_given: object) -> Portions:
        return {0: {"gpu": 0.9}, 1: {}, 2: {"gpu": 0.1}}

    def paired(state: State) -> Decider:
        return Rounds(state, divide, pairs=lambda: {0: 1, 1: 0})

    sizes = {"a": 2000.0, "b": 100.0, "c": 2000.0}
    jobs = bundle(Job(name=name, release_date=0, duration=size, gpus=1) for name, size in sizes.items())
    one = Cluster.uniform(machines=1, gpus=1)
    run: Replay = simulate(jobs, paired, cluster=one, share_limit=2, record=True)
    assert run.schedule is not None
    begun = {(each.job, each.start) for each in run.schedule.segments}
    assert {("a", 0), ("b", 0), ("c", 360)} <= begun
    assert run.completion_times[2] == 2360


def test_of_equal_pairs_that_goes_first_whose_later_job_came_first() -> None:
    """Of the pairs of the first with the last and of the two between, with equal shares, the latter begins."""

    def divide(*_given: object) -> Portions:
        return {0: {"gpu": 0.5}, 1: {"gpu": 0.5}, 2: {}, 3: {}}

    def paired(state: State) -> Decider:
        return Rounds(state, divide, pairs=lambda: {0: 3, 1: 2, 2: 1, 3: 0})

    jobs = bundle(Job(name=name, release_date=0, duration=500, gpus=1) for name in "abcd")
    one = Cluster.uniform(machines=1, gpus=1)
    assert simulate(jobs, paired, cluster=one, share_limit=2).start_times == (360, 0, 0, 360)
