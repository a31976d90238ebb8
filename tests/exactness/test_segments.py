"""List schedules and policies by marginal efficiency: what the definitions say, job for job."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.scheduling.annealing import Annealing
from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_list
from formulations.scheduling.segments import Segments
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import Policy, simulate
from heuristics.policies import marginal, marginal_attained, srsf
from tests.exactness import segments


@pytest.mark.parametrize("seed", range(20))
def test_lists_are_served_by_the_definition(seed: int) -> None:
    """A list of segments gives the completion times of a scan at every event, also in the search."""
    random = Random(seed)
    workload, gpus = segments.draw(random)
    problem = problem_of(workload, gpus)
    instance = Instance.of(problem)
    names = Segments.of(instance).job.tolist()
    random.shuffle(names)
    steps = [(job, names[:place].count(job)) for place, job in enumerate(names)]
    ends = [float(end) for end in segments.completions(workload.jobs, gpus, segments.in_order(steps))]
    first = workload.jobs[0].release_date
    found = serve_list(instance, Segments.of(instance), names).completions

    assert [first + end for end in found] == pytest.approx(ends, rel=1e-12)
    assert Annealing(instance, [np.array(names)]).cost == pytest.approx(sum(found), rel=1e-12)


def test_what_is_left_serves_those_that_grow() -> None:
    """GPUs on which no job can begin are given to a job that runs."""
    job = ElasticJob(name="a", release=0, work=14, rates={8: 8.0, 13: 13.0, 14: 14.0})
    instance = Instance.of(Scheduling(gpus=16, jobs=[job]))

    assert serve_list(instance, Segments.of(instance), [0, 0, 0]).completions == (1.0,)
    assert Annealing(instance, [np.array([0, 0, 0])]).cost == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_annealing_knows_what_its_best_list_costs(seed: int) -> None:
    """However many replays began in the middle, the best list costs what a replay from the definition says."""
    workload, gpus = segments.draw(Random(seed))
    instance = Instance.of(problem_of(workload, gpus))
    search = Annealing(instance, seed=seed)
    costs = [search.cost]
    for steps in (7, 50, 100):
        search.improve(steps)
        costs.append(search.cost)

    assert costs == sorted(costs, reverse=True)
    assert sum(search.timetable.completions) == pytest.approx(search.cost, rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_policies_decide_as_if_anew(seed: int) -> None:
    """What is repaired from event to event is what sorting all segments anew at every event gives."""
    random = Random(seed)
    workload, gpus = segments.draw(random)
    exponent, hysteresis = random.choice((1, 2, 4)), random.choice((1, 4, 16))
    scenario = Scenario(
        workload=workload,
        cluster=Cluster.plain(gpus),
        capacity_changes=changes(random, gpus) if random.random() < 0.5 else (),
        overheads=random.choice(({}, {"": Overhead(start=0.5, resize=1.0)})),
    )
    round_length = random.choice((None, 5.0))

    def completion_times(policy: Policy, **options: Any) -> tuple[Fraction | None, ...]:
        return simulate(
            scenario,
            policy,
            round_length=round_length,
            exact=True,
            bound=False,
            exponent=exponent,
            hysteresis=hysteresis,
            **options,
        ).completion_times

    for charge in (0, random.choice((1, 4))):
        found = completion_times(marginal, charge=charge)
        assert found == completion_times(segments.marginal_policy, charge=charge)
    assert completion_times(marginal_attained) == completion_times(segments.attained_policy)


@pytest.mark.parametrize("seed", range(6))
def test_rigid_jobs_run_by_remaining_service(seed: int) -> None:
    """Where no job can grow, the list by marginal efficiency is that of the smallest remaining service."""
    workload, gpus = segments.draw(Random(seed), elastic=False)
    ends = segments.completions(workload.jobs, gpus, segments.marginal(workload.jobs), segments.staircase)

    assert list(simulate(workload, srsf, cluster=gpus, exact=True).completion_times) == ends


def problem_of(workload: Workload, gpus: int) -> Scheduling:
    """Return the jobs of a workload as a problem."""
    jobs = [
        ElasticJob(
            name=job.name, release=job.release_date, work=job.duration, rates=job.speeds[""], gpus=job.gpus
        )
        for job in workload.jobs
    ]
    return Scheduling(gpus=gpus, jobs=jobs)


def changes(random: Random, gpus: int) -> list[CapacityChange]:
    """Take some GPUs away for a while."""
    return [CapacityChange(time=4, gpus=random.randint(0, gpus)), CapacityChange(time=12.5, gpus=gpus)]
