"""Simple bounds: no schedule is below them, and each part counts."""

from fractions import Fraction
from random import Random

from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.latest import latest_ends
from formulations.waiting.simple_bounds import bound_at_once, simple_bound
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.schedule.bounds import mean_jct_bound
from tests.effort import cases
from tests.exactness import waiting as oracle


def bound(*jobs: Job, minimize: str) -> Fraction:
    """Bound jobs on two racks of one machine of two GPUs."""
    cluster = Cluster.uniform(racks=2, machines=1, gpus=2)
    problem = Waiting.model_validate({"cluster": cluster, "jobs": list(jobs), "minimize": minimize})
    return Fraction(simple_bound(SlottedInstance.of(problem)))


def job(name: str, seconds: float, gpus: int, release: float = 0.0) -> Job:
    """Return a job of AlexNet."""
    return Job(name=name, release_date=release, duration=seconds, gpus=gpus, model="alexnet")


def test_every_part_of_the_makespan_counts() -> None:
    """A job alone on its best tier; the GPU time of all; the GPU time of those that come late."""
    assert bound(job("a", 10, 4), minimize="makespan") == 20
    assert bound(job("a", 10, 3), job("b", 10, 1), job("c", 10, 4), minimize="makespan") == Fraction(150, 4)
    assert bound(job("a", 1, 1), job("b", 10, 4, 50.0), job("c", 5, 4, 50.0), minimize="makespan") == 80


def test_every_part_of_the_mean_counts() -> None:
    """Run times on the best tiers; or GPU time, where all jobs need all GPUs."""
    assert bound(job("a", 10, 1), job("b", 20, 1), minimize="mean_jct") == 15
    assert bound(job("a", 10, 4), job("b", 20, 4), minimize="mean_jct") == Fraction(20 + 60, 2)


def test_no_optimum_is_below_and_no_optimal_end_is_too_late() -> None:
    """On tiny instances the bound is at most the optimum, and the optimum's ends are at most the latest."""
    for seed in range(cases(20)):
        problem = oracle.draw(Random(seed))
        instance = SlottedInstance.of(problem)
        optimum = oracle.optimum(problem)
        assert simple_bound(instance) <= optimum, problem.name
        latest = latest_ends(instance, optimum)
        assert all(
            latest[j] >= instance.exact_release[j] + instance.shortest(j) for j in range(len(problem.jobs))
        )


def test_prices_raise_the_bound_of_the_mean() -> None:
    """Where some jobs come late, prices of GPU time prove more than formulas, and that is kept."""
    jobs = [job(str(i), 1 + 10 * (i % 3), 1 + i % 2, float(i)) for i in range(12)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    bound_at_once(best)

    priced = mean_jct_bound(problem.scenario)
    assert priced is not None
    assert best.bound > simple_bound(best.instance)
    assert float(best.bound) >= priced.mean_jct * (1 - 1e-9)
