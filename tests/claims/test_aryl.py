"""Claims of Aryl about its problems and heuristics, each on an instance that can be checked by hand."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.placement import exact as fewest_servers
from formulations.reclaiming import exact
from gsopt.problems import Allocation, Placement, Reclaiming
from gsopt.problems.allocation import ElasticJob
from gsopt.problems.placement import Resources, Server, Workers
from gsopt.problems.reclaiming import Job as HostedJob
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.problems.reclaiming import Server as LoanedServer
from gsopt.scenario.job import Job, Workload
from gsopt.simulation import simulate
from heuristics.allocation import max_value as knapsack
from heuristics.allocation import two_phase
from heuristics.allocation.two_jobs import LinearJob as Sized
from heuristics.allocation.two_jobs import TwoJobs, end_point_rule
from heuristics.placement import best_fit_decreasing
from heuristics.policies import sjf
from heuristics.reclaiming import greedy
from instances.placement import from_data
from instances.reclaiming import random_hypergraph
from tests.heuristics.allocation.test_two_jobs import random_pairs
from tests.unwrap import unwrap


def hosting(demand: int, *hosted: set[str]) -> Reclaiming:
    """Make a problem of servers s0, s1, ... from the jobs that each of them hosts."""
    names = sorted(set().union(*hosted))
    return Reclaiming(
        demand=demand,
        servers=tuple(LoanedServer(name=f"s{i}", gpus=len(names)) for i in range(len(hosted))),
        jobs=tuple(
            HostedJob(name=name, workers={f"s{i}": 1 for i, jobs in enumerate(hosted) if name in jobs})
            for name in names
        ),
    )


def test_reclaiming_is_minimum_k_union() -> None:
    """The fewest preemptions for k servers are the smallest union of k sets of jobs, which is NP-hard."""
    for seed in range(20):
        problem = random_hypergraph(servers=9, jobs=8, span=3, demand=4, seed=seed)
        sets = [{job.name for job in problem.jobs if server.name in job.workers} for server in problem.servers]
        for k in range(len(sets) + 1):
            smallest = min(len(set().union(*chosen)) for chosen in combinations(sets, k))
            assert exact(problem.model_copy(update={"demand": k})).objective == smallest


@pytest.mark.parametrize("demand", [2, 20, 59, 60])
def test_algorithm_1_can_preempt_a_job_for_every_server(demand: int) -> None:
    """Servers that share one job cost 1/k each; others, of a job each on k + 1 servers, cost less, one by one.

    So Algorithm 1 preempts k jobs where one is enough, for k below 60 servers and above.
    """
    wide = {f"wide {i}" for i in range(demand)}
    shared = [{"shared"}] * demand
    decoys = [{name} for name in sorted(wide)]
    anchors = [wide | {f"local {i} {j}" for j in range(demand + 1)} for i in range(demand)]
    problem = hosting(demand, *shared, *decoys, *anchors)

    assert greedy(problem).objective == demand
    assert exact(problem).objective == 1


def test_two_optima_may_share_no_server() -> None:
    """Two servers of one job each: either is optimal, so resemblance with an optimum measures nothing."""
    problem = hosting(1, {"a"}, {"b"})
    first, second = (problem.objective(ReclaimingSolution(servers=(name,))) for name in ("s0", "s1"))
    assert first == second == exact(problem).objective


def test_the_knapsack_misses_the_best_completion_times_of_table_2() -> None:
    """On Table 2 Algorithm 2 favours A, 5 workers to 3, for 48.33 on average; the best is 2 to 6, for 41.67.

    The value of an item supposes that the allocation stays, yet GPUs are free again when B is done.
    """
    jobs = [
        ElasticJob(name="A", min_workers=2, max_workers=6, time_at_min=150),
        ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60),
    ]
    solution = unwrap(two_phase(Allocation(capacity=4, jobs=jobs)).solution)
    table_2 = TwoJobs(8, p=Sized(300, 2, 6), q=Sized(120, 2, 6))

    assert dict(solution.extra) == {"A": 3, "B": 1}
    assert table_2.average(2 + 3) == Fraction(145, 3)
    assert table_2.average(end_point_rule(table_2)) == Fraction(125, 3)


def test_from_twice_its_maximum_on_the_smaller_job_is_favoured() -> None:
    """Appendix C, first conclusion: p gets its maximum, or as much of it as the other's minimum leaves."""
    pairs = [jobs for jobs in random_pairs(1_000, seed=6) if jobs.capacity >= 2 * jobs.p.most]
    assert any(jobs.end_points[1] < jobs.p.most for jobs in pairs)
    for jobs in pairs:
        fewest, most = jobs.end_points
        assert jobs.average(most) == min(jobs.average(gpus) for gpus in range(fewest, most + 1))


def test_more_work_gains_more_from_a_worker_only_with_equal_minima() -> None:
    """Of two jobs with two workers the larger gains more; as large a job with ten workers gains the least."""
    long, short = (
        ElasticJob(name=n, min_workers=2, max_workers=6, time_at_min=t) for n, t in (("A", 150), ("B", 60))
    )
    wide = ElasticJob(name="wide", min_workers=10, max_workers=14, time_at_min=30)

    for extra in range(1, 5):
        assert long.value(extra) > short.value(extra) > wide.value(extra)


def test_any_knapsack_is_an_allocation() -> None:
    """Jobs of one extra worker each, of any size and value: the second phase is as hard as the 0-1 knapsack."""
    random = Random(1)
    for _ in range(30):
        items = [(random.randint(1, 9), random.randint(1, 50)) for _ in range(7)]
        jobs = [
            ElasticJob(name=str(i), min_workers=1, max_workers=2, gpus_per_worker=weight, time_at_min=2 * value)
            for i, (weight, value) in enumerate(items)
        ]
        packed = (chosen for k in range(8) for chosen in combinations(items, k))
        best = max(
            sum(value for _, value in some) for some in packed if sum(weight for weight, _ in some) <= 15
        )
        assert two_phase(Allocation(capacity=15, jobs=jobs)).objective == best


def test_items_in_groups_of_their_own_are_taken_together() -> None:
    """Line 19 as printed makes a group of every item, so that B of Table 4 gets one and two extra workers."""
    items = [(1, 50.0), (1, 20.0), (2, 30.0), (3, 36.0), (4, 40.0)]
    assert knapsack.max_value([[item] for item in items], capacity=4) == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("short_jobs", [1, 10, 100])
def test_shortest_job_first_starves_long_jobs(short_jobs: int) -> None:
    """On two GPUs a job of both waits until the last of the short ones, one of which is always running.

    Nothing stops jobs, and those that do not fit are passed over, as in the first phase.
    """
    stream = [Job(name=f"short {i}", release_date=i, duration=2, gpus=1) for i in range(short_jobs)]
    long = Job(name="long", release_date=0.5, duration=3, gpus=2)
    run = simulate(Workload(jobs=[stream[0], long, *stream[1:]]), sjf, cluster=2)

    assert run.completion_times[1] == short_jobs + 1 + 3


def test_the_dynamic_programme_is_pseudo_polynomial(monkeypatch: pytest.MonkeyPatch) -> None:
    """It compares at most a value per item and GPU: four times as many with twice the items and GPUs."""
    compared = 0

    def counting(first: Any, second: Any, *, out: Any) -> Any:
        nonlocal compared
        compared += out.size
        return maximum(first, second, out=out)

    maximum = np.maximum
    monkeypatch.setattr(np, "maximum", counting)
    counts = []
    for size in (10, 20, 40):
        compared = 0
        knapsack.max_value([[(weight, 1.0) for weight in (1, 2, 3)]] * size, capacity=2 * size)
        counts.append(compared)
        assert compared <= 3 * size * (2 * size + 1)
    assert counts[2] / counts[1] == pytest.approx(counts[1] / counts[0], rel=0.05) == pytest.approx(4, rel=0.05)


def test_which_server_is_opened_decides() -> None:
    """Eight workers of one GPU take eight servers of one GPU or one of eight; "a new server" is either."""
    small, large = (Server(name=f"{size}", count=8, capacity=Resources(gpu=size)) for size in (1, 8))
    workers = (Workers(job="a", count=8, demand=Resources(gpu=1)),)

    assert best_fit_decreasing(Placement(servers=(small, large), workers=workers)).objective == 8
    assert fewest_servers(Placement(servers=(small, large), workers=workers)).objective == 1


def test_openb_by_which_server_is_opened(traces: Path) -> None:
    """In an empty cluster opening the tightest takes 102 to 362 % more servers, the largest 0 to 8 %."""
    gaps: dict[str, tuple[float, float]] = {}
    for problem in from_data(traces):
        bound = float(fewest_servers(problem).bound or 0)
        largest = best_fit_decreasing(problem, opens="largest").objective or 0
        tightest = best_fit_decreasing(problem).objective or 0
        name = problem.name.rpartition("openb-")[2]
        gaps[name] = (
            100 * (float(tightest) / bound - 1),
            100 * (float(largest) / bound - 1),
        )

    assert {name: tuple(map(round, pair)) for name, pair in gaps.items()} == {
        "busiest": (362, 0),
        "first-1000": (307, 7),
        "first-2000": (205, 8),
        "first-4000": (102, 6),
        "arriving": (1, 1),
    }
