"""The rough schedule from which the search for prices starts is close to good schedules of small batches."""

from random import Random

import numpy as np
import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.bounds.prices.demand import Demand
from gsopt.schedule.bounds.prices.fluid import Fluid, fluid_schedule
from gsopt.schedule.bounds.prices.supply import GpuSupply
from gsopt.simulation import replay
from heuristics.policies import srsf
from tests.exactness import batches
from tests.exactness.test_batches import optimum
from tests.gsopt.simulation.scenarios import bundle


def _fluid(scenario: Scenario) -> tuple[Demand, GpuSupply, Fluid]:
    demand = Demand.of(scenario)
    supply = GpuSupply.of(scenario, demand.unit)
    return demand, supply, fluid_schedule(demand, supply)


@pytest.mark.parametrize("seed", range(30))
def test_batches_take_little_longer_than_in_the_best_schedule(seed: int) -> None:
    """On at least as many GPUs as jobs, it is at most 15 % from the optimum on whole GPUs, on either side."""
    (batch,) = batches.drawn([seed], jobs=12, gpus=40)
    demand, _, found = _fluid(batch.scenario)
    mean = found.completion.mean() * float(demand.unit)
    if batch.gpus >= len(batch.sizes):
        assert mean == pytest.approx(float(optimum(batch)), rel=0.15)


def test_equal_jobs_on_one_gpu_complete_in_turn() -> None:
    """Four jobs on one GPU complete one by one, and a second is worth one second of all jobs left."""
    jobs = [Job(name=name, release_date=0, duration=3, gpus=1) for name in "abcd"]
    demand, supply, found = _fluid(Scenario(workload=bundle(jobs), cluster=Cluster.plain(1)))
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])  # in units of 3 s

    assert sorted(found.completion) == pytest.approx([1, 2, 3, 4])
    assert found.worth(demand, edges, supply.gpu_seconds(edges)[0]) == pytest.approx([4, 3, 2, 1])


def test_free_gpus_are_worth_nothing() -> None:
    """Jobs that all run at once complete as early as they can, and prices are 0."""
    jobs = [Job(name=str(k), release_date=k // 40, duration=2 + k, gpus=2) for k in range(50)]
    demand, supply, found = _fluid(Scenario(workload=bundle(jobs), cluster=Cluster.plain(128)))
    edges = np.linspace(0, 20, 7)

    assert found.completion == pytest.approx(demand.release + demand.height)
    assert not found.worth(demand, edges, supply.gpu_seconds(edges)[0]).any()


@pytest.mark.parametrize("seed", range(20))
def test_no_job_completes_before_it_can_and_the_gpus_suffice(seed: int) -> None:
    """Completions leave time for each job alone, and rigid jobs take about as long as under SRSF."""
    random = Random(seed)
    jobs = [
        Job(name=str(k), release_date=random.randint(0, 50), duration=random.randint(1, 40), gpus=1)
        for k in range(30)
    ]
    scenario = Scenario(
        workload=bundle(sorted(jobs, key=lambda job: job.release_date)), cluster=Cluster.plain(2)
    )
    demand, _, found = _fluid(scenario)

    assert (found.completion >= (demand.release + demand.height) * (1 - 1e-9)).all()
    mean = float((found.completion - demand.release).mean()) * float(demand.unit)
    assert mean == pytest.approx(replay(scenario, srsf).metrics.mean_jct, rel=0.05)


def test_it_waits_for_gpus_that_come_later_and_gives_up_on_those_that_never_come() -> None:
    """Without GPUs until 10, work begins then; without any for good, the schedule ends all the same."""
    jobs = bundle([Job(name="a", release_date=0, duration=4, gpus=1)])
    for changes, end in (([(0, 0), (10, 1)], 14), ([(0, 0)], None)):
        scenario = Scenario(
            workload=jobs,
            cluster=Cluster.plain(1),
            capacity_changes=[CapacityChange(time=time, gpus=gpus) for time, gpus in changes],
        )
        demand, _, found = _fluid(scenario)
        assert np.isfinite(found.completion).all()
        if end is not None:
            assert found.completion[0] * float(demand.unit) == pytest.approx(end)
