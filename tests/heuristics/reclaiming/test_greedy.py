"""Tests of Algorithm 1, against a plain transcription of it."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming import greedy
from tests.effort import cases
from tests.heuristics.reclaiming.builders import problem_of
from tests.strategies.reclaiming import figure_5, reclaiming_problems

Fractions = Callable[[Job, str], Fraction]


def server_fraction(job: Job, server: str) -> Fraction:
    """Return 1 / |S_j|, weighted by the job's cost."""
    del server
    return Fraction(decimal(job.cost)) / len(job.workers)


def fraction_of_all_servers(job: Job, server: str) -> Fraction:
    """Return 1 / |S_j| with the job's training servers in S_j."""
    del server
    return Fraction(decimal(job.cost)) / (len(job.workers) + job.training_servers)


def gpu_fraction(job: Job, server: str) -> Fraction:
    """Return the fraction of the job's GPUs on the server."""
    return Fraction(decimal(job.cost)) * job.workers[server] / sum(job.workers.values())


FRACTIONS: dict[str, tuple[dict[str, str], Fractions]] = {
    "server fractions": ({}, server_fraction),
    "fractions of all servers": ({"denominator": "all"}, fraction_of_all_servers),
    "GPU fractions": ({"cost": "gpu_fraction"}, gpu_fraction),
}

COUNT_SIGN = {"index": 0, "fewest_jobs": 1, "most_jobs": -1}


def transcription(
    problem: Reclaiming, fraction: Fractions, choose: Callable[[dict[str, Fraction], dict[str, list[Job]]], str]
) -> list[str]:
    """Algorithm 1 line by line, with fractions and without a heap."""
    hosted = {
        server.name: [job for job in problem.jobs if server.name in job.workers] for server in problem.servers
    }
    queue = {name: Fraction(0) for name in hosted}
    for job in problem.jobs:
        for server in job.workers:
            queue[server] += fraction(job, server)
    returned: list[str] = []
    while len(returned) < problem.demand:
        top = choose(queue, hosted)
        returned.append(top)
        del queue[top]
        for job in list(hosted[top]):
            for other in job.workers:
                hosted[other].remove(job)
                if other in queue:
                    queue[other] -= fraction(job, other)
    return returned


@pytest.mark.parametrize("tie", COUNT_SIGN)
@pytest.mark.parametrize(("options", "fraction"), FRACTIONS.values(), ids=FRACTIONS.keys())
@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems(max_servers=8, max_jobs=8))
def test_greedy_is_algorithm_1(
    options: dict[str, Any], fraction: Fractions, tie: Any, problem: Reclaiming
) -> None:
    """The heap with integers picks the servers that the quadratic transcription picks, in the same order."""
    position = {server.name: index for index, server in enumerate(problem.servers)}

    def top(queue: dict[str, Fraction], hosted: dict[str, list[Job]]) -> str:
        sign = COUNT_SIGN[tie]
        return min(queue, key=lambda name: (queue[name], sign * len(hosted[name]), position[name]))

    expected = transcription(problem, fraction, top)
    result = greedy(problem, tie=tie, single="fractions", **options)

    assert expected == servers(result)


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems(max_servers=8, max_jobs=8), seed=st.integers(0, 1000))
def test_random_ties_are_a_run_of_algorithm_1(problem: Reclaiming, seed: int) -> None:
    """With random ties every server is one of the cheapest at the time it is taken."""
    picks = servers(greedy(problem, tie="random", seed=seed, single="fractions"))
    remaining = iter(picks)

    def follow(queue: dict[str, Fraction], hosted: dict[str, list[Job]]) -> str:
        del hosted
        name = next(remaining)
        assert queue[name] == min(queue.values())
        return name

    assert picks == transcription(problem, server_fraction, follow)


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_a_single_server_is_the_one_whose_jobs_cost_least(problem: Reclaiming) -> None:
    """With a demand of one the sum of the costs of a server's jobs decides, the first server among equals."""
    problem = problem.model_copy(update={"demand": 1})
    costs = [
        sum((Fraction(decimal(job.cost)) for job in problem.jobs if server.name in job.workers), Fraction(0))
        for server in problem.servers
    ]

    assert [problem.servers[costs.index(min(costs))].name] == servers(greedy(problem))


def test_a_demand_of_one_and_of_two_follow_different_rules() -> None:
    """A server with two spread jobs loses when one server is demanded, and is first by the fractions."""
    names = [f"s{number}" for number in range(1, 8)]
    problem = Reclaiming(
        demand=1,
        servers=tuple(Server(name=name, gpus=8) for name in names),
        jobs=(
            Job(name="a", workers=dict.fromkeys(["s1", "s2", "s3", "s4"], 1)),
            Job(name="b", workers=dict.fromkeys(["s1", "s5", "s6", "s4"], 1)),
            *(Job(name=f"only {name}", workers={name: 1}) for name in ("s2", "s3", "s4", "s5", "s6", "s7")),
        ),
    )

    assert servers(greedy(problem)) == ["s7"]
    assert servers(greedy(problem, single="fractions")) == ["s1"]


def test_every_tie_order_of_figure_5_preempts_one_or_two() -> None:
    """Over all orders of the servers the example costs one preemption from server 1 or 2, else two."""
    for order in permutations("123456"):
        result = greedy(figure_5(order="".join(order)))
        begun_at_job_a = servers(result)[0] in {"s1", "s2"}
        assert result.objective == (1 if begun_at_job_a else 2)


def test_random_ties_reach_both_outcomes_of_figure_5() -> None:
    """Over the seeds the example costs one preemption in some runs and two in others."""
    assert {greedy(figure_5(), tie="random", seed=seed).objective for seed in range(20)} == {1, 2}


def test_gpu_fractions_pick_server_5_of_figure_5() -> None:
    """The definition that the paper rejects picks server 5, then 4, and preempts two jobs."""
    result = greedy(figure_5(), cost="gpu_fraction")

    assert servers(result) == ["s5", "s4"]
    assert result.objective == 2


def test_the_flexible_group_is_released_first() -> None:
    """A server that holds only flexible workers is returned before any job is preempted."""
    problem = problem_of(Job(name="a", workers={"s1": 1}, flexible={"s2": 8}), demand=1)
    result = greedy(problem)

    assert servers(result) == ["s2"]
    assert result.objective == 0


def test_ten_tenths_are_one() -> None:
    """Ten jobs on ten servers each cost exactly as much as one job alone, so the index decides."""
    names = [f"s{number}" for number in range(1, 12)]
    problem = Reclaiming(
        demand=1,
        servers=tuple(Server(name=name, gpus=10) for name in names),
        jobs=(
            Job(name="alone", workers={"s1": 1}),
            *(Job(name=f"spread {number}", workers=dict.fromkeys(names[1:], 1)) for number in range(10)),
        ),
    )

    assert sum([0.1] * 10) < 1
    assert servers(greedy(problem, single="fractions")) == ["s1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tie": "luck"}, "tie: 'luck': must be one of"),  # no such tie-break
        ({"cost": "price"}, "cost: 'price': must be one of"),  # no such definition
        ({"denominator": "none"}, "denominator: 'none': must be one of"),  # no such set of servers
        ({"single": "best"}, "single: 'best': must be one of"),  # no such rule
        ({"cost": "gpu_fraction", "denominator": "all"}, 'must be "on_loan" when cost is'),  # GPUs unknown
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """An option with a value that it cannot have raises, whatever the demand."""
    with pytest.raises(InvalidInput, match=message):
        greedy(figure_5(demand=1), **options)


def servers(result: Result[Any]) -> list[str]:
    """Return the servers of a result, in the order in which they were taken."""
    assert result.solution is not None
    return list(result.solution.servers)
