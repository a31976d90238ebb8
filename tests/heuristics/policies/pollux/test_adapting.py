"""Adapting: what the rule is told, and when."""

from typing import Any

from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies.pollux.adapting import Adapting
from heuristics.policies.pollux.outlook import Caps
from tests.gsopt.simulation.scenarios import bundle

JOBS = bundle(
    Job(name=n, release_date=r, duration=d, gpus=1)
    for n, r, d in [("a", 0, 100), ("b", 30, 200), ("c", 59, 10)]
)


def told(gives: Any, *, machines: int = 2) -> list[tuple[float, Goodput]]:
    """Let a rule divide machines of one GPU among three jobs, and give every problem with its time."""
    found: list[tuple[float, Goodput]] = []

    def policy(state: Any) -> Adapting:
        def divide(problem: Goodput) -> GoodputSolution:
            found.append((state.now, problem))
            return GoodputSolution(gpus=gives(problem, len(found)))

        return Adapting(state, divide, interval=60, caps=Caps(64, 16), power=-2, restart_time=20)

    simulate(JOBS, policy, cluster=Cluster.uniform(machines=machines, gpus=1))
    return found


def in_order(problem: Goodput, number: int) -> dict[str, tuple[int, int]]:
    """Return the jobs that are listed first a GPU each."""
    del number
    return {job.name: ((1, 0), (0, 1))[place] for place, job in enumerate(problem.jobs[:2])}


def test_the_rule_is_told_of_jobs_in_the_order_of_their_service() -> None:
    """Who has had least comes first, then who was released first, with ages, holdings and restarts."""
    problems = told(in_order)
    time, first = problems[1]
    _, second = problems[2]

    assert [each for each, _ in problems[:3]] == [0, 60, 120]
    assert (first.power, first.restart_time, first.nodes) == (-2, 20, (1, 1))
    assert time == 60
    assert [(job.name, job.age, tuple(job.current)) for job in first.jobs] == [
        ("b", 30, ()),
        ("c", 1, ()),
        ("a", 60, (1, 0)),
    ]
    assert [(job.name, job.restarts, tuple(job.current)) for job in second.jobs] == [
        ("a", 0, ()),
        ("b", 0, (1, 0)),
    ]


def test_every_later_start_is_a_restart() -> None:
    """A job that is moved or stopped and started again has restarted; one that keeps its GPUs has not."""

    def swapping(problem: Goodput, number: int) -> dict[str, tuple[int, int]]:
        names = sorted(job.name for job in problem.jobs)
        places = [(1, 0), (0, 1)] if number % 2 else [(0, 1), (1, 0)]
        return dict(zip(names, places, strict=False))

    restarts = [{job.name: job.restarts for job in problem.jobs} for _, problem in told(swapping)]

    assert restarts[:3] == [{"a": 0}, {"a": 0, "b": 0, "c": 0}, {"b": 0, "c": 0}]
    assert restarts[3:5] == [{"b": 0}, {"b": 1}]  # b stayed at 120 s, and was moved at 180 s


def test_nothing_is_asked_while_nobody_is_there() -> None:
    """The rule is not asked before the first job, nor after the last one, nor without any GPU."""
    assert all(problem.jobs for _, problem in told(in_order))
