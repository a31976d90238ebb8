"""Gandiva in Gavel's simulator: pairs in rounds."""

from functools import cache
from statistics import mean
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies.gandiva.gandiva_packing import gandiva_packing
from instances import data_folder
from instances.interference import gavel as read_pairs
from instances.traces import gavel as read
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import held, job, machine, run


@cache
def published() -> Scenario:
    """Return the 15 jobs of Gavel's artifact evaluation on four V100s, which share GPUs as was measured."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or holds no traces of Gavel")
    measured = read_pairs(folder).table.slowdowns
    jobs = [
        each.model_copy(update={"model": _configuration(each) if each.gpus == 1 else "wide"})
        for each in read(folder).workload.jobs
    ]
    assert {each.model for each in jobs} - {"wide"} <= measured.keys()
    return Scenario(
        workload=bundle(jobs),
        cluster=Cluster.uniform(machines=1, gpus=4),
        speed=Speed(interference=measured, default_interference=1e6),  # no speed: they do not run together
        share_limit=2,
    )


def _configuration(job: Job) -> str:
    """Return the name that the table of pairs has for a job; two models have one batch size only."""
    return job.model if job.model in {"A3C", "CycleGAN"} else f"{job.model} (batch size {job.batch_size})"


def played(scenario: Scenario, **options: Any) -> Replay:
    """Run it."""
    return simulate(scenario, gandiva_packing, bound=False, **options)


def test_random_pairs_are_as_good_as_its_authors() -> None:
    """The mean over draws lies within a deviation of theirs, 3,367.7 +- 193.5 s, and so does the makespan."""
    scenario = published()
    runs = [played(scenario, seed=seed) for seed in range(20)]
    assert mean(float(each.metrics.mean_jct or 0) for each in runs) == pytest.approx(3367.7, abs=193.5)
    assert mean(float(each.metrics.makespan or 0) for each in runs) == pytest.approx(6993.4, abs=407.8)


#: Seconds at which the 15 jobs are complete in Gavel's simulator with the best pairs, where two things about
#: pairs are changed in it: a job is complete when its own steps are done, and goes on alone at its speed alone;
#: and what is left over goes to jobs, not to pairs without a share.
COMPLETE = (
    *(1795.318, 2381.677, 3971.944, 6381.618, 3612.144, 2148.557, 2665.043, 2996.785),
    *(2854.670, 879.487, 3042.421, 884.213, 3385.880, 3346.503, 2768.937),
)


def test_the_best_pairs_run_as_its_authors_have_them() -> None:
    """Every job is complete when it is there, to a thousandth: rounds, steps, turns and leftovers agree."""
    best = played(published(), pairing="exact")
    assert [float(each) for each in best.completion_times] == pytest.approx(COMPLETE, rel=1e-3)


def test_the_best_pairs_are_better_than_random_ones() -> None:
    """The mean completion time is less than that of three drawings."""
    scenario = published()
    best = float(played(scenario, pairing="exact").metrics.mean_jct or 0)
    assert best < mean(float(played(scenario, seed=seed).metrics.mean_jct or 0) for seed in range(3))


def test_who_gains_most_is_paired() -> None:
    """Of three jobs the two that disturb each other least share the GPU, the third has turns of its own."""
    three = [job(name, 0, 360, 1) for name in "abc"]
    slow = {"a": {"b": 1.8, "c": 1.25}, "b": {"a": 1.8, "c": 1.8}, "c": {"a": 1.25, "b": 1.8}}
    best = run(gandiva_packing, *three, cluster=machine(1), slowdowns=slow, pairing="exact")
    assert [each[0] for each in held(best, "a")] == [each[0] for each in held(best, "c")]
    assert held(best, "b")[0][0] == 360


def test_jobs_that_fit_are_not_packed() -> None:
    """With a GPU for each, nobody shares; with one GPU fewer, two do."""
    two = [job(name, 0, 300, 1) for name in "ab"]
    assert run(gandiva_packing, *two, cluster=machine(2), slowdown=1.5).completion_times == (300, 300)
    assert run(gandiva_packing, *two, cluster=machine(1), slowdown=1.25).completion_times == (375, 375)


def test_pairs_are_of_one_size_and_fit_the_memory() -> None:
    """Jobs of other sizes, and those whose memory is not enough for both, take turns."""
    sizes = [job("a", 0, 300, 1), job("b", 0, 300, 2)]
    assert run(gandiva_packing, *sizes, cluster=machine(2)).metrics.sharing == 0
    large = [job(name, 0, 300, 1, memory=5) for name in "ab"]
    assert run(gandiva_packing, *large, cluster=machine(1, memory=8)).metrics.sharing == 0
    assert run(gandiva_packing, *large, cluster=machine(1, memory=16)).metrics.sharing == 1


@pytest.mark.parametrize("pairing", ["random", "exact"])
def test_pairs_run_only_where_the_memory_is_enough_for_both(pairing: str) -> None:
    """A pair that fits the larger GPU is not put on the smaller one when that is left over."""
    sizes = {"large": 16, "small": 8}
    machines = [Machine(name=name, gpus=1, gpu_type=name, memory=memory) for name, memory in sizes.items()]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    four = [job(name, 0, 2000, 1, memory=6) for name in "abcd"]
    assert run(gandiva_packing, *four, cluster=cluster, pairing=pairing).metrics.sharing > 0


def test_jobs_that_cannot_run_together_are_no_pair() -> None:
    """Where one would make next to no progress, turns are taken."""
    two = [job(name, 0, 300, 1) for name in "ab"]
    assert run(gandiva_packing, *two, cluster=machine(1), slowdown=5000.0).metrics.sharing == 0


def test_a_pair_that_loses_is_given_up() -> None:
    """Jobs that make less progress together than in turns end all the same, as pairs are made anew."""
    jobs = [job("a", 0, 3000, 1), job("b", 0, 3000, 1), job("late", 400, 10, 1)]
    lost = run(gandiva_packing, *jobs, cluster=machine(1), slowdown=3.0, renewal=720)
    assert lost.metrics.completed == 3


def test_always_legal() -> None:
    """Every decision is legal and every figure the judge's, also without racks and where GPUs come and go."""
    sizes = [(0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1), (90, 30, 1)]
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))
    changes = [CapacityChange(time=15, gpus=2), CapacityChange(time=200, gpus=4)]
    racks: dict[str, Any] = {"cluster": Cluster.uniform(machines=2, gpus=2), "share_limit": 2}
    scenarios = [
        Scenario(workload=jobs, cluster=Cluster.plain(4)),
        Scenario(workload=jobs, **racks, speed=Speed(default_interference=1.5)),
        Scenario(workload=jobs, **racks, capacity_changes=changes, overheads={"": Overhead(start=1.0)}),
    ]
    for pairing, given in (("random", scenarios[:2]), ("exact", scenarios[2:])):
        check_policy(gandiva_packing, given, pairing=pairing, interval=8, renewal=20)


def test_rounds_are_as_long_as_they_are_said_to_be() -> None:
    """Two jobs take turns of 100 s, and a round ends with its job."""
    replayed = run(
        gandiva_packing,
        job("a", 0, 150, 1),
        job("b", 0, 150, 1),
        cluster=machine(1),
        interval=100,
        share_limit=1,
    )
    assert replayed.completion_times == (250, 300)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"pairing": "best"}, "pairing: 'best': must be one of random, exact"),
        ({"interval": 0}, "interval: 0: must be a finite number of seconds, at least"),
        ({"renewal": -1}, "renewal: -1: must be a finite number of seconds, at least"),
        ({"seed": "luck"}, "seed: 'luck': must be a whole number"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        run(gandiva_packing, job("a", 0, 1, 1), cluster=machine(1), **options)
