"""AlloX in the simulators of Sia and Ares."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.allox.allox_port import allox_port
from instances import data_folder
from instances.scenarios import sia
from tests.gsopt.simulation.scenarios import bundle


def jobs(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs)."""
    return bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))


def test_every_job_counts_as_one() -> None:
    """Two jobs are first on two GPUs, but both need them all: they take turns, until one is complete."""
    run = simulate(jobs((0, 700, 2), (0, 720, 2), (0, 900, 2)), allox_port, cluster=2, record=True)
    assert run.schedule is not None
    assert [each.job for each in run.schedule.segments][:4] == ["j0", "j1", "j0", "j2"]


def test_the_shortest_is_first() -> None:
    """On one GPU the shortest of three jobs holds it to its end, and then the next one."""
    run = simulate(jobs((0, 900, 1), (0, 360, 1), (0, 500, 1)), allox_port, cluster=1)
    assert run.completion_times == (1980, 360, 860)


def test_a_part_of_the_jobs_is_put_in_order() -> None:
    """Where only the oldest has a say it is first, however long it is, and then the next, as rounds begin."""
    times = [
        simulate(
            jobs((0, 900, 1), (0, 360, 1), (0, 500, 1)), allox_port, cluster=1, alpha=0.3, interval=interval
        ).completion_times
        for interval in (360, 100)
    ]
    assert times == [(900, 1440, 1940), (900, 1260, 1800)]


def test_always_legal() -> None:
    """Every decision is legal and every figure the judge's, also where GPUs come and go."""
    some = jobs((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1))
    changes = [CapacityChange(time=15, gpus=2), CapacityChange(time=200, gpus=4)]
    scenarios = [
        Scenario(workload=some, cluster=Cluster.plain(4)),
        Scenario(workload=some, cluster=Cluster.uniform(machines=2, gpus=2), capacity_changes=changes),
    ]
    assert check_policy(allox_port, scenarios, interval=7) == 4


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"alpha": 2}, "alpha: 2: must be above 0 and at most 1"),
        ({"interval": 0}, "interval: 0: must be a finite number of seconds"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        simulate(jobs((0, 1, 1)), allox_port, cluster=1, **options)


#: Seconds until the first 12 jobs of Sia's Philly workload 6 are complete on four nodes, in its simulator.
PUBLISHED = (11893, 11842, 16745, 6045, 16017, 7537, 11131, 10859, 11160, 11112, 14954, 10918)


def test_as_its_authors_simulate_it() -> None:
    """Every job completes in the second in which it does there."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or holds no workloads of Sia")
    scenario = sia(folder, number=6, nodes=4, jobs=12)
    run = simulate(scenario, allox_port, round_length=360, bound=False)
    pairs = zip(run.completion_times, scenario.workload.jobs, strict=True)
    assert [round(float(time or 0) - job.release_date) for time, job in pairs] == list(PUBLISHED)
