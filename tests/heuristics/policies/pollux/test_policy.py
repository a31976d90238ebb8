"""Pollux: random clusters, menus and adaptive jobs, and what the decision sees of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.goodput import exact as proven
from gsopt.core.errors import InvalidInput
from gsopt.core.method import heuristic
from gsopt.core.result import Result
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.goodput.table import Counts, SpeedupTable
from heuristics.policies.pollux.policy import pollux
from instances import data_folder
from instances.scenarios import pollux as scenario
from tests.effort import cases
from tests.gsopt.simulation.adaptive import adaptive_scenarios
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, rich_scenarios

#: A search of next to no time, whose decisions come soon.
QUICK: dict[str, Any] = {"interval": 1.0, "restart_time": 0.5, "population": 6, "generations": 4}

MENU = [(1, 1.0), (2, 1.9), (3, 2.7), (4, 3.4)]
TWO = Cluster.uniform(machines=2, gpus=4)


def is_alike(scenario: Scenario) -> bool:
    """Check whether all GPUs of a scenario are of one kind."""
    return len({(machine.gpu_type, machine.memory) for machine in scenario.cluster.machines}) <= 1


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "scenarios", [plain_scenarios(), rich_scenarios(), adaptive_scenarios()], ids=["plain", "rich", "adaptive"]
)
def test_every_run_is_legal(scenarios: st.SearchStrategy[Scenario], exact: bool) -> None:
    """Whatever the jobs and the cluster, all complete, and the judge finds what the simulator booked."""

    @settings(max_examples=cases(16), deadline=None)
    @given(scenario=scenarios.filter(is_alike))
    def check(scenario: Scenario) -> None:
        assert check_policy(partial(pollux, exact=exact, **QUICK), [scenario], exact=False) == 1

    check()


def test_exact_decisions_end_after_a_limit() -> None:
    """With next to no time every decision is the best that is known by then, and all jobs complete."""
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "abcdefgh")
    run = simulate(jobs, partial(pollux, exact=True, limit=1e-6), cluster=TWO)

    assert max(run.completion_times) < 8 * 600


def test_the_limit_is_that_of_each_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact method is told how long it may take, or that there is no limit."""
    told: list[float | None] = []

    def watched(problem: Goodput, *, time_limit: float | None = None) -> Result[GoodputSolution]:
        told.append(time_limit)
        return proven(problem)

    monkeypatch.setattr("heuristics.policies.pollux.policy.find_method", lambda *_, **_options: watched)
    jobs = bundle([Job(name="a", release_date=0, duration=60, gpus=1)])
    for limit in (2.5, None):
        simulate(jobs, partial(pollux, exact=True, limit=limit), cluster=TWO)

    assert told[:1] + told[-1:] == [2.5, None]


@pytest.mark.parametrize("better", ["exact", "greedy"])
def test_what_is_not_proven_is_taken_if_it_is_the_better(monkeypatch: pytest.MonkeyPatch, better: str) -> None:
    """Of the solution at the limit and the greedy one that which gives both jobs four GPUs, whichever it is."""

    def giving(most: int) -> Callable[..., Result[GoodputSolution]]:
        @heuristic
        def give(problem: Goodput, /, **_limit: float) -> GoodputSolution:
            counts = {job.name: min(most, job.max_gpus or most) for job in problem.jobs}
            return GoodputSolution(
                gpus={name: (count, 0) if name == "a" else (0, count) for name, count in counts.items()}
            )

        return give

    methods = {name: giving(4 if name == better else 1) for name in ("exact", "greedy")}
    monkeypatch.setattr(
        "heuristics.policies.pollux.policy.find_method", lambda _, name, **_options: methods[name]
    )
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "ab")
    run = simulate(jobs, partial(pollux, exact=True, limit=1.0), cluster=TWO, bound=False)
    assert max(run.completion_times) < 300


def test_everybody_runs_before_anybody_has_more() -> None:
    """Two jobs share four GPUs, and none has three while its speed-up of the second is lower."""
    jobs = bundle(Job(name=n, release_date=0, duration=600, gpus=1, menu=MENU) for n in "ab")
    for exact in (False, True):
        run = simulate(
            jobs,
            partial(pollux, exact=exact, generations=20),
            cluster=Cluster.uniform(machines=1, gpus=4),
            record=True,
        )

        assert run.schedule is not None
        assert max(each.gpus for each in run.schedule.segments) == 2


def test_gangs_start_although_no_single_gpu_is_of_use() -> None:
    """A job that needs GPUs of two machines at once starts as soon as they are idle."""
    jobs = bundle(
        [
            Job(name="a", release_date=0, duration=90, gpus=3),
            Job(name="b", release_date=0, duration=50, gpus=6),
        ]
    )
    times = {
        exact: simulate(jobs, partial(pollux, exact=exact, generations=20), cluster=TWO).completion_times
        for exact in (False, True)
    }

    assert max(times[False]) <= 240
    assert max(times[True]) <= 240


def test_gangs_start_after_the_shortest_search() -> None:
    """The search is begun with a candidate in which they run, so that it has not to be drawn."""
    jobs = bundle([Job(name="a", release_date=0, duration=9, gpus=8)])

    run = simulate(jobs, pollux, cluster=TWO, population=2, generations=1)
    assert run.completion_times == (9.0,)


def test_a_search_goes_on_from_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search is given the candidates of the one before, for the jobs that are still there."""
    starts: list[list[list[list[int]]]] = []

    def found(table: SpeedupTable, start: Counts, random: Any, **options: Any) -> Counts:
        del random, options
        starts.append(start.tolist())
        front = np.zeros((2, *table.current.shape), dtype=np.int64)
        front[0, :, 0] = front[1, :, 1] = 1
        return front

    monkeypatch.setattr("heuristics.policies.pollux.policy.search", found)
    jobs = bundle(Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 50), ("b", 100)])
    simulate(jobs, pollux, cluster=TWO)

    assert starts[0] == [[[0, 0], [0, 0]]] * 2  # what they have, and gangs beside that
    assert starts[1] == [[[1, 0]], [[0, 1]], [[1, 0]], [[1, 0]]]


def test_decisions_are_taken_at_multiples_of_the_interval() -> None:
    """Nobody starts between them, also where somebody arrives after all have gone."""
    jobs = bundle(
        Job(name=n, release_date=r, duration=30, gpus=1) for n, r in [("a", 7), ("b", 130), ("c", 170)]
    )
    for start, times in [(0.0, (60.0, 180.0, 180.0)), (None, (7.0, 187.0, 187.0))]:
        run = simulate(jobs, pollux, cluster=Cluster.uniform(machines=1, gpus=2), clock_start=start)

        assert run.start_times == times


def test_a_job_has_at_most_twice_what_it_had() -> None:
    """Alone on eight GPUs a job has 1, 2, 4 and then 8 of them."""
    menu = [(count, float(count)) for count in range(1, 9)]
    jobs = bundle([Job(name="a", release_date=0, duration=600, gpus=1, menu=menu)])
    for exact in (False, True):
        run = simulate(
            jobs, partial(pollux, exact=exact, restart_time=0.0, generations=20), cluster=TWO, record=True
        )

        assert run.schedule is not None
        assert [each.gpus for each in run.schedule.segments] == [1, 2, 4, 8]


def test_whoever_keeps_its_nodes_keeps_its_gpus() -> None:
    """While others come and go a job is not moved to other GPUs of the same machine."""
    jobs = bundle(
        Job(name=n, release_date=r, duration=d, gpus=1)
        for n, r, d in [("a", 0, 100), ("b", 0, 1000), ("c", 0, 100), ("d", 130, 100)]
    )
    run = simulate(jobs, partial(pollux, exact=True), cluster=Cluster.uniform(machines=1, gpus=3), record=True)

    assert run.schedule is not None
    assert len({each.placement for each in run.schedule.segments if each.job == "b"}) == 1


def test_a_seed_repeats_a_run() -> None:
    """Runs with one seed are equal, and the exact decision draws nothing."""
    jobs = bundle(Job(name=f"{n}", release_date=60 * n, duration=500, gpus=1, menu=MENU) for n in range(6))

    def times(**options: Any) -> tuple[float, ...]:
        return simulate(jobs, partial(pollux, generations=10, **options), cluster=TWO).completion_times

    assert times(seed=1) == times(seed=1)
    assert times(exact=True, seed=1) == times(exact=True, seed=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 0}, "interval: 0: must be a finite number of seconds, at least"),
        ({"restart_time": -1}, "restart_time: -1: must be"),
        ({"limit": 0}, "limit: 0: must be a positive, finite number of seconds"),
        ({"power": 0}, "power: 0: must be a whole number from -10 to -1"),
        ({"population": 1}, "population: 1: must be a whole number from 2 to 100,000"),
        ({"population": 100_001}, "population: 100001: must be"),
        ({"generations": 0}, "generations: 0: must be a whole number from 1 to 100,000"),
        ({"most_gpus": 0}, "most_gpus: 0: must be"),
        ({"most_gpus": 1}, "most_gpus: 1: must be at least the fewest GPUs of 'wide', 2"),
        ({"most_nodes": 0}, "most_nodes: 0: must be"),
        ({"seed": -1}, "seed: -1: must be"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Each option is named with its value and rule, and so is a job that it rules out."""
    jobs = bundle([Job(name="wide", release_date=0, duration=5, gpus=2)])
    with pytest.raises(InvalidInput, match=message):
        simulate(jobs, pollux, cluster=TWO, **options)


def test_gpus_of_several_kinds_are_refused() -> None:
    """The decision knows one kind of GPU only."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("V100", "T4")]
    jobs = bundle([Job(name="a", release_date=0, duration=5, gpus=2)])
    with pytest.raises(InvalidInput, match="cluster: GPUs of 2 kinds: must be alike"):
        simulate(jobs, pollux, cluster=Cluster(racks=[Rack(name="rack", machines=machines)]))


def test_jobs_of_the_authors() -> None:
    """On one node the first three jobs of theirs are divided by exact decisions."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of data")
    given = scenario(folder, number=6, jobs=3, nodes=1)
    run = simulate(given, partial(pollux, exact=True), round_length=60, bound=False)

    assert run.jct == (2266, 3195, 6857)
