"""Whoever reads "optimal" may bet on it: every method of every decision against brute force in fractions."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

import gsopt
from gsopt import problems
from gsopt.core.problem import Problem
from gsopt.core.result import Result, Status
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.testing import brute_force
from heuristics.reclaiming import random_choice
from instances.reclaiming import server_uniform
from tests.effort import cases
from tests.exactness.scheduling import shortest_remaining_time
from tests.exactness.trial import ORACLES, Way, attack, instance

#: Instances in the suite; `tests/benchmarks/bench_exactness.py` tries many times as many in more ways.
SIZES = {
    "reclaiming": cases(500),
    "admission": cases(1_000),
    "allocation": cases(240),
    "batching": cases(40),
    "colocation": cases(90),
    "configuration": cases(200),
    "consolidation": cases(60),
    "goodput": cases(100),
    "placement": cases(200),
    "scheduling": cases(60),
    "sequencing": cases(60),
    "shares": cases(200),
    "sharing": cases(60),
    "waiting": cases(60),
}

#: Decisions that can be enumerated: the others are continuous.
ENUMERATED = [word for word in ORACLES if word not in {"scheduling", "shares"}]


def test_every_decision_has_an_oracle() -> None:
    """No decision is left out of the trials."""
    assert ORACLES.keys() == {getattr(problems, name).word for name in problems.__all__}


@pytest.mark.parametrize("word", ORACLES)
def test_no_proof_is_beaten(word: str) -> None:
    """No optimum is beaten by brute force, no bound lies beyond it, and the default method proves all."""
    tally = attack(word, range(SIZES[word]), turns=1)

    assert tally.failures == []
    assert tally.refused["exact"] == 0
    assert tally.rate("exact") == 1


@pytest.mark.parametrize("word", ENUMERATED)
def test_oracle_agrees_with_the_judge(word: str) -> None:
    """Brute force that knows the definitions only finds what the judge finds among all decisions."""
    for seed in range(cases(40)):
        problem = instance(word, seed)
        judged = brute_force(problem)
        assert ORACLES[word].optimum(problem) == (None if judged is None else judged[0]), problem.name


@pytest.mark.parametrize("word", ENUMERATED)
def test_values_are_multiples_of_the_step(word: str) -> None:
    """Every value is a whole multiple of the step to which bounds are rounded."""
    for seed in range(cases(40)):
        problem = instance(word, seed)
        values = [problem.objective(s) for s in problem.candidates() if not problem.violations(s)]
        assert not problem.step or all(value % problem.step == 0 for value in values), problem.name


@pytest.mark.parametrize("epoch", [0.0, 1.7e9])
@pytest.mark.parametrize("seed", range(4))
def test_shortest_remaining_time_first_is_proven_optimal(seed: int, epoch: float) -> None:
    """Where every job runs on all GPUs or none, the best schedule is known in closed form."""
    random = Random(seed)
    jobs = [
        ElasticJob(
            name=f"j{index}",
            release=epoch + round(random.uniform(0, 300), 1),
            work=round(random.uniform(10, 400), 2),
            rates={2: 2.0},
        )
        for index in range(6)
    ]
    problem = Scheduling(gpus=2, jobs=jobs)
    least, most = shortest_remaining_time(problem)
    result = gsopt.solve(problem)

    assert result.status is Status.OPTIMAL
    assert result.objective is not None
    assert result.bound is not None
    assert least <= result.objective <= most + problem.resolution(most)
    assert result.bound <= most


def test_false_proof_is_found() -> None:
    """A method that calls any value optimal, or any instance infeasible, does not pass."""

    def overconfident(problem: Any) -> Result[Any]:
        found = random_choice(problem)
        return replace(found, status=Status.OPTIMAL, bound=found.objective)

    def desperate(problem: Problem[Any]) -> Result[Any]:
        return Result.judged(problem, method="desperate", infeasible=True, runtime=0.0)

    for liar in (overconfident, desperate):
        tally = attack("reclaiming", range(20), turns=0, found=[Way("liar", liar, exact=True)])
        assert len(tally.failures) > 10


@pytest.mark.parametrize(("cost", "constant"), [(1.1, 1e6), (1e-8, 1.0), (1.1e-6, 1e6)])
def test_constants_hide_no_better_choice(cost: float, constant: float) -> None:
    """Where any choice pays large constants, all methods agree on the rest, and no heuristic is below."""
    problem = with_constants(server_uniform(servers=24, jobs=24, degree=3, demand=8, seed=2), cost, constant)
    results = [row.result for row in gsopt.compare(problem) if row.result is not None]
    proven = {result.objective for result in results if result.status is Status.OPTIMAL}

    assert len(proven) == 1
    assert min(result.objective for result in results if result.objective is not None) in proven


def with_constants(problem: Reclaiming, cost: float, constant: float) -> Reclaiming:
    """Add a cost to every job, and every server a job of its own that costs a constant."""
    servers = [Server(name=server.name, gpus=server.gpus + 1) for server in problem.servers]
    jobs = [job.model_copy(update={"cost": cost}) for job in problem.jobs]
    alone = [Job(name=f"on {server.name}", workers={server.name: 1}, cost=constant) for server in servers]
    return Reclaiming(demand=problem.demand, servers=servers, jobs=[*jobs, *alone])
