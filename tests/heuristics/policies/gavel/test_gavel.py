"""Gavel: its authors' simulator on their artifact's jobs, objectives, and scenarios of all kinds."""

from collections.abc import Mapping
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.gavel.gavel import gavel
from instances import data_folder
from instances.scenarios import sia
from instances.traces import gavel as read
from tests.gsopt.simulation.scenarios import bundle

#: Completion times of the 15 jobs of the artifact evaluation on four V100s, in the authors' simulator.
PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "max_min": (
        *(2106.818, 4377.260, 5601.607, 7623.497, 3141.461, 3779.717, 5223.216, 4992.371, 4850.256),
        *(1239.500, 4303.066, 2684.081, 5238.269, 4962.989, 4114.110),
    ),
    "finish_time": (
        *(2826.867, 5440.432, 5225.462, 7607.020, 3861.530, 3779.883, 4503.706, 4975.894, 5193.770),
        *(1239.501, 4663.192, 1604.200, 4518.759, 4946.512, 4474.236),
    ),
    "makespan": (
        *(4626.812, 5459.955, 4881.804, 5468.535, 4581.511, 5219.201, 5223.071, 4992.226, 5209.779),
        *(5397.647, 4663.221, 5402.373, 5238.124, 4962.844, 5556.781),
    ),
}

#: Seconds from submission to completion of the first 12 jobs of Sia's Philly workload 6 on four nodes of four
#: GPUs, under max-min fairness in Sia's port of Gavel.
PORTED = {
    "cifar10-0": 10_453,
    "cifar10-1": 10_402,
    "deepspeech2-2": 17_105,
    "cifar10-3": 12_525,
    "bert-4": 16_257,
    "cifar10-5": 11_857,
    "cifar10-6": 9331,
    "cifar10-7": 11_579,
    "cifar10-8": 9000,
    "cifar10-9": 11_832,
    "bert-10": 13_874,
    "cifar10-11": 8758,
}

TYPED = Cluster(
    racks=[Rack(name="r", machines=[Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("v100", "k80")])]
)


def jobs(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs)."""
    return bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))


@pytest.mark.parametrize("objective", PUBLISHED)
def test_as_its_authors_simulate_it(objective: str) -> None:
    """Every job completes within a thousandth of the time at which it does there."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or holds no traces of Gavel")
    workload = read(folder).workload
    run = simulate(workload, gavel, cluster=4, objective=objective, bound=False)
    assert run.completion_times == pytest.approx(PUBLISHED[objective], rel=1e-3)


def test_as_its_port_runs_it() -> None:
    """Every job completes in the second in which it does there."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or holds no workloads of Sia")
    scenario = sia(folder / "sia/workloads/philly/workload-6.csv", nodes=4, jobs=12)
    run = simulate(scenario, gavel, rounds="port", bound=False)
    jct = dict(zip((job.name for job in scenario.workload.jobs), run.jct, strict=True))
    assert jct == PORTED


SCENARIOS = [
    Scenario(
        workload=jobs((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1)),
        cluster=Cluster.plain(4),
        overheads={"": Overhead(start=2.0)},
        capacity_changes=[CapacityChange(time=20, gpus=3), CapacityChange(time=60, gpus=4)],
    ),
    Scenario(workload=jobs((0, 50, 1), (3, 20, 2), (10, 35, 2)), cluster=Cluster.uniform(machines=2, gpus=2)),
    Scenario(
        workload=jobs((0, 50, 1), (0, 20, 2), (10, 35, 2), (10, 9, 1)),
        cluster=TYPED,
        speed=Speed(gpu_types={"k80": 3.0}),
    ),
    Scenario(workload=jobs(), cluster=Cluster.plain(1)),
    Scenario(workload=jobs((0, 5, 1), (0, 5, 1)), cluster=Cluster.plain(1)),
]


@pytest.mark.parametrize(
    ("objective", "rounds"),
    [("max_min", "original"), ("finish_time", "port"), ("makespan", "original"), ("fifo", "port")],
)
def test_it_passes_the_check(objective: str, rounds: str) -> None:
    """Whatever counts, it replays scenarios of all kinds legally, and every job completes."""
    options: dict[str, Any] = {"objective": objective, "rounds": rounds, "interval": 15, "renewal": 40}
    assert check_policy(gavel, SCENARIOS, **options) == 2 * len(SCENARIOS)


def test_the_fast_type_goes_to_who_gains_from_it() -> None:
    """Of two jobs on a GPU of each type, the one that is hardly slower on the slow type has it more often."""
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("v100", "k80")]
    made = bundle(
        Job(
            name=name,
            release_date=0,
            duration=3600,
            gpus=1,
            gpu_type="v100",
            modes=[Mode(name="k80", menu=[(1, speed)], gpu_type="k80")],
        )
        for name, speed in (("much", 0.1), ("little", 0.9))
    )
    run = simulate(made, gavel, cluster=Cluster(racks=[Rack(name="r", machines=machines)]), record=True)
    assert run.schedule is not None
    placed = {each.job: each.placement for each in run.schedule.segments[:2]}
    assert placed == {"much": (0,), "little": (1,)}


def test_fifo_is_by_linear_programs_or_a_strict_queue() -> None:
    """The paper's lets a small job pass one that does not fit, the code's queue does not."""
    workload = jobs((0, 100, 3), (0, 100, 4), (0, 100, 1))
    options: dict[str, Any] = {"objective": "fifo", "bound": False}
    assert simulate(workload, gavel, cluster=4, **options).start_times == (0, 100, 0)
    assert simulate(workload, gavel, cluster=4, shares="queue", **options).start_times == (0, 100, 200)


def test_water_filling_raises_who_can_have_more() -> None:
    """Beside a large job that is held down by itself the others get what is left of the time, and not less."""
    workload = jobs((0, 3600, 4), (0, 3600, 1), (0, 3600, 1))
    runs = [
        simulate(workload, gavel, cluster=4, shares=name, bound=False) for name in ("exact", "water_filling")
    ]
    assert all(run.metrics.completed == 3 for run in runs)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"objective": "jct"}, "objective: 'jct': must be one of max_min, finish_time, makespan, fifo"),
        ({"rounds": "fixed"}, "rounds: 'fixed': must be one of original, port"),
        ({"isolated": "never"}, "isolated: 'never': must be one of accumulated, present"),
        ({"interval": 0}, "interval: 0: must be a finite number of seconds, at least"),
        ({"renewal": -1}, "renewal: -1: must be a finite number of seconds, at least"),
        ({"restart": -1}, "restart: -1: must be a finite number of seconds, at least 0"),
        ({"shares": "simplex"}, "shares: 'simplex': "),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as caught:
        simulate(jobs((0, 1, 1)), gavel, cluster=1, **options)
    assert str(caught.value).startswith(line)
