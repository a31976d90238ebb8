"""AlloX: jobs of one GPU in the best orders, its form in Gavel's rounds, and the port in Sia and Ares."""

from functools import partial
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Policy, Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import sjf
from heuristics.policies.allox.allox import allox
from heuristics.policies.allox.allox_port import allox_port
from instances.scenarios import sia
from instances.traces import gavel as read
from tests.effort import cases
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import pieces, traces

#: Completion times of the 12 jobs of one GPU of Gavel's artifact evaluation on four V100s, in its simulator.
PUBLISHED = (
    *(666.948, 3082.210, 6544.301, 981.640, 899.994, 1983.838, 3192.633, 3770.488, 4303.259, 4518.820),
    *(4963.120, 1234.385),
)

TYPED = Cluster(
    racks=[Rack(name="r", machines=[Machine(name=k, gpus=n, gpu_type=k) for k, n in (("v100", 1), ("k80", 2))])]
)
SLOW = Speed(gpu_types={"k80": 4.0})


def made(*sizes: tuple[float, float], **options: Any) -> Replay:
    """Run jobs of (release date, duration) on a fast GPU and two slow ones."""
    return simulate(singles(*sizes), allox, cluster=TYPED, speed=SLOW, record=True, **options)


def singles(*sizes: tuple[float, float]) -> Workload:
    """Make jobs of one GPU of (release date, duration)."""
    return workload(*((*size, 1) for size in sizes))


def test_on_one_type_it_is_shortest_job_first() -> None:
    """On GPUs that are all alike, jobs start as under shortest job first, whatever ties."""
    for seed in range(cases(16)):
        random = Random(seed)
        jobs = singles(*((random.randint(0, 20), random.randint(1, 15)) for _ in range(12)))
        gpus = random.randint(1, 4)
        assert simulate(jobs, allox, cluster=gpus).start_times == simulate(jobs, sjf, cluster=gpus).start_times


def test_short_jobs_are_first_on_the_fast_gpu() -> None:
    """Two jobs of 10 s have it one after the other; one of 30 s ends earlier after both than elsewhere."""
    run = made((0, 30), (0, 10), (0, 10))
    assert run.completion_times == (50, 10, 20)


def test_a_job_takes_a_slow_gpu_where_the_queue_is_long() -> None:
    """Of five jobs of 10 s, the last ones would wait longer than they take on slow GPUs."""
    assert sorted(made(*[(0.0, 10.0)] * 6).completion_times) == [10, 20, 30, 40, 40, 40]


def test_orders_are_made_anew_for_who_comes() -> None:
    """A job that waits for the fast GPU waits longer when a shorter one comes."""
    assert made((0, 20), (1, 20), (15, 5)).completion_times == (20, 45, 25)


def test_users_with_little_service_come_first() -> None:
    """With half of the users, the job of the user that has had less goes before a shorter one of the other."""
    jobs = singles((0, 10), (1, 2), (1, 5))
    users = {"j0": "ann", "j1": "ann", "j2": "bob"}
    assert simulate(jobs, allox, cluster=1).start_times == (0, 10, 12)
    assert simulate(jobs, allox, cluster=1, alpha=0.5, users=users).start_times == (0, 15, 10)


def test_the_oldest_come_first_where_few_enter() -> None:
    """With the least part of the jobs, only as many enter as GPUs are free: first come, first served."""
    jobs = singles((0, 10), (1, 8), (2, 1))
    assert simulate(jobs, allox, cluster=1, alpha=0.01).start_times == (0, 10, 18)


def test_in_rounds_it_is_gavels() -> None:
    """Mean, makespan and all jobs but two, whose places cost the same, are as in its simulator."""
    folder = traces()
    jobs = [job for job in read(folder).workload.jobs if job.gpus == 1]
    run = simulate(Workload(jobs=jobs), allox, cluster=4, rounds="original", bound=False)
    found = [float(time or 0) for time in run.completion_times]
    assert sum(found) / 12 == pytest.approx(3011.803, rel=1e-3)
    assert max(found) == pytest.approx(6544.301, rel=1e-3)
    apart = [i for i in range(12) if found[i] != pytest.approx(PUBLISHED[i], rel=1e-3)]
    assert apart in ([], [8, 10])


def test_in_rounds_it_is_no_shortest_job_first() -> None:
    """Until orders are made anew, those that came first run on what is left."""
    jobs = singles((0, 300), (0, 1000), (400, 2000), (500, 100))
    first = simulate(jobs, allox, cluster=2, rounds="original").start_times
    assert first != simulate(jobs, sjf, cluster=2).start_times


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3}, {"rounds": "original", "interval": 5, "renewal": 20}])
def test_always_legal(options: dict[str, Any]) -> None:
    """Every decision is legal and every figure the judge's, on all types, where GPUs come and go."""
    random = Random(3)
    jobs = singles(*((random.randint(0, 20), random.randint(1, 15)) for _ in range(7)))
    changes = [CapacityChange(time=5, gpus=1), CapacityChange(time=30, gpus=3)]
    given: list[dict[str, Any]] = [
        {"cluster": Cluster.plain(3), "capacity_changes": changes},
        {"cluster": TYPED, "speed": SLOW, "capacity_changes": changes, "overheads": {"": Overhead(start=1.0)}},
    ]
    scenarios = [Scenario(workload=jobs, **each) for each in given]
    assert check_policy(allox, scenarios, **options) == 4


def test_nothing_to_do_is_done() -> None:
    """Without jobs there are no decisions; a job alone starts at once."""
    assert simulate(Workload(jobs=[]), allox, cluster=2).metrics.jobs == 0
    assert made((0, 3)).completion_times == (3,)


@pytest.mark.parametrize("options", [{}, {"rounds": "original"}])
def test_jobs_of_several_gpus_are_refused(options: dict[str, Any]) -> None:
    """A job of two GPUs is one line."""
    jobs = Workload(jobs=[Job(name="wide", release_date=0, duration=1, gpus=2)])
    with pytest.raises(Unsupported, match="job 'wide' demands 2 GPUs, but AlloX orders only jobs of one GPU"):
        simulate(jobs, allox, cluster=2, **options)


def test_rounds_and_orders_are_as_long_as_they_are_said_to_be() -> None:
    """In Gavel's form it makes a difference how long a round is, and how long orders count."""
    jobs = singles((0, 900), (0, 500), (0, 500), (400, 500))
    run = partial(simulate, jobs, allox, cluster=1, rounds="original", bound=False)
    given: list[dict[str, Any]] = [{}, {"interval": 100}, {"renewal": 100}]
    assert len({run(**options).completion_times for options in given}) == 3


@pytest.mark.parametrize(
    ("policy", "options", "line"),
    [
        (allox, {"alpha": 0}, "alpha: 0: must be above 0 and at most 1"),
        (allox, {"rounds": "port"}, "rounds: 'port': must be one of original"),
        (allox, {"users": "ann"}, "users: 'ann': must be the users of jobs by name, or None"),
        (allox, {"interval": 0}, "interval: 0: must be a finite number of seconds"),
        (allox, {"rounds": "original", "users": {}}, "users: {}: must be None in rounds"),
        (allox, {"rounds": "original", "interval": 0}, "interval: 0: must be a finite"),
        (allox, {"rounds": "original", "renewal": -1}, "renewal: -1: must be a finite"),
        (allox_port, {"alpha": 2}, "alpha: 2: must be above 0 and at most 1"),
        (allox_port, {"interval": 0}, "interval: 0: must be a finite number of seconds"),
    ],
)
def test_bad_options_are_refused(policy: Policy, options: dict[str, Any], line: str) -> None:
    """An option out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        simulate(singles((0, 1)), policy, cluster=1, **options)


def test_every_job_counts_as_one() -> None:
    """Two jobs are first on two GPUs, but both need them all: they take turns, until one is complete."""
    run = simulate(workload((0, 700, 2), (0, 720, 2), (0, 900, 2)), allox_port, cluster=2, record=True)
    assert [each.job for each in pieces(run)][:4] == ["j0", "j1", "j0", "j2"]


def test_the_shortest_is_first() -> None:
    """On one GPU the shortest of three jobs holds it to its end, and then the next one."""
    run = simulate(workload((0, 900, 1), (0, 360, 1), (0, 500, 1)), allox_port, cluster=1)
    assert run.completion_times == (1980, 360, 860)


def test_a_part_of_the_jobs_is_put_in_order() -> None:
    """Where only the oldest has a say it is first, however long it is, and then the next, as rounds begin."""
    jobs = singles((0, 900), (0, 360), (0, 500))
    run = partial(simulate, jobs, allox_port, cluster=1, alpha=0.3)
    assert run(interval=360).completion_times == (900, 1440, 1940)
    assert run(interval=100).completion_times == (900, 1260, 1800)


def test_the_port_is_always_legal() -> None:
    """Every decision is legal and every figure the judge's, also where GPUs come and go."""
    some = workload((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1))
    changes = [CapacityChange(time=15, gpus=2), CapacityChange(time=200, gpus=4)]
    scenarios = [
        Scenario(workload=some, cluster=Cluster.plain(4)),
        Scenario(workload=some, cluster=Cluster.uniform(machines=2, gpus=2), capacity_changes=changes),
    ]
    assert check_policy(allox_port, scenarios, interval=7) == 4


#: Seconds until the first 12 jobs of Sia's Philly workload 6 are complete on four nodes, in its simulator.
PORTED = (11893, 11842, 16745, 6045, 16017, 7537, 11131, 10859, 11160, 11112, 14954, 10918)


def test_as_its_authors_simulate_it() -> None:
    """Every job completes in the second in which it does there."""
    folder = traces()
    scenario = sia(folder, number=6, nodes=4, jobs=12)
    run = simulate(scenario, allox_port, round_length=360, bound=False)
    pairs = zip(run.completion_times, scenario.workload.jobs, strict=True)
    assert [round(float(time or 0) - job.release_date) for time, job in pairs] == list(PORTED)
