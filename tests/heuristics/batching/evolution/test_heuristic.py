"""The search as a heuristic of batching."""

from random import Random
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated
from gsopt.problems.batching import Batching
from gsopt.testing import brute_force, check_heuristic
from heuristics.batching import evolution
from heuristics.batching.evolution import CostTable, evolve
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching
from tests.processes import PATIENCE

MODEL = StepTime(fixed=0.05, per_sample=0.001)

READINGS: tuple[dict[str, Any], ...] = (
    {},
    {"engine": "deap", "preempts": "workers", "mutation_rate": 0.3},
    {"draws": True, "selection": "thompson", "fill_draws": "selection"},
    {"engine": "deap", "draws": True, "selection": "thompson", "fill_draws": "selection"},
    {"distinct": True, "pack": "last", "population": 5},
)


@pytest.mark.parametrize("options", READINGS, ids=["paper", "workers", "draws", "deap draws", "distinct"])
def test_every_reading_keeps_the_rules(options: dict[str, Any]) -> None:
    """On any tiny problem, of any criterion and menu, a solution is found that beats no optimum."""
    problems = [batching.draw(Random(f"evolution {seed}")) for seed in range(cases(40))]

    assert check_heuristic(evolution, problems, generations=5, **options) > cases(40) / 2


def test_most_optima_of_tiny_problems_are_found() -> None:
    """Some generations find more than three quarters of the optima."""
    hits = solved = 0
    for seed in range(cases(30)):
        problem = batching.draw(Random(f"optimum {seed}"))
        best = brute_force(problem)
        if best is not None:
            solved += 1
            hits += evolution(problem, generations=30, distinct=True).objective == best[0]
    assert hits > 0.75 * solved


def test_menus_with_gaps_are_filled() -> None:
    """Where only one job on exactly three GPUs uses all that can be used, it runs without any generation."""
    rates = [Rate(batch_size=3, gpus=3, samples_per_second=1.0)]
    awkward = BatchingJob(
        name="awkward", batch_limit=3, local_limit=1, throughput=Tabulated(rates=rates), remaining=1e6
    )
    small = BatchingJob(name="small", batch_limit=2, local_limit=2, throughput=MODEL, remaining=1)
    problem = Batching(gpus=3, jobs=[small, awkward], forced="none")
    for seed in range(8):
        solution = evolution(problem, generations=0, seed=seed).solution
        assert solution is not None
        assert {name: grant.gpus for name, grant in solution.running.items()} == {"awkward": 3}


def test_what_runs_is_a_candidate() -> None:
    """Where a change costs more than it can save nothing changes, even without any generation."""
    jobs = [
        BatchingJob(
            name=name,
            batch_limit=512,
            local_limit=128,
            throughput=MODEL,
            remaining=remaining,
            previous_gpus=gpus,
        )
        for name, remaining, gpus in [("a", 900.0, 3), ("b", 800.0, 1), ("c", 700.0, 0)]
    ]
    problem = Batching(gpus=4, jobs=jobs, forced="none", reconfiguration=1e6)
    solution = evolution(problem, generations=0).solution

    assert solution is not None
    assert {name: grant.gpus for name, grant in solution.running.items()} == {"a": 3, "b": 1}


def test_the_judge_scores_by_the_estimate() -> None:
    """Drawn samples guide the search only; what is said of the result is the problem's own objective."""
    jobs = [
        BatchingJob(
            name=name,
            batch_limit=512,
            local_limit=128,
            throughput=MODEL,
            progress=Progress(alpha=300, beta=beta, processed=100_000),
        )
        for name, beta in [("a", 200.0), ("b", 2000.0)]
    ]
    problem = Batching(gpus=4, jobs=jobs, forced="none")
    result = evolution(problem, draws=True, generations=50, mutation_rate=0.3)

    assert result.solution is not None
    assert result.objective == problem.objective(result.solution)
    assert set(result.solution.running) == {"a"}


def test_a_comparison_holds_it_against_the_optimum() -> None:
    """Beside an exact method its gap is that to the proven optimum, and 0 here; one below would be an error."""
    problem = batching.draw(Random("optimum 1"))
    compared = gsopt.compare(problem, methods=["exact", evolution])
    found = compared.rows[1]

    assert found.method == "evolution"
    assert found.optimum_known
    assert found.gap == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"generations": -1}, "generations: -1: must be at least 0"),
        ({"mutation_rate": 1.5}, "mutation_rate: 1.5: input should be less than or equal to 1"),
        ({"population": 0}, "population: 0: input should be greater than or equal to 1"),
        ({"preempts": "all"}, "preempts: 'all': input should be 'jobs' or 'workers'"),
        ({"engine": "numba"}, "engine: 'numba': must be one of vectorised, deap"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], reason: str) -> None:
    """What is out of range is named in one line."""
    with pytest.raises(InvalidInput) as raised:
        evolution(Batching(gpus=1, jobs=[]), **options)

    assert str(raised.value) == reason


def test_more_candidates_than_memory_are_refused() -> None:
    """A population of one candidate per GPU is refused on so many GPUs that no memory holds it."""
    job = BatchingJob(name="a", batch_limit=512, local_limit=256, throughput=MODEL, remaining=90_000)

    with pytest.raises(Unsupported, match="100,000 candidates of 100,000 GPUs are too many"):
        evolution(Batching(gpus=100_000, jobs=[job], use="any"))


def test_no_generation_begins_without_time() -> None:
    """Candidates that one generation could not go through are refused, and enough time changes nothing."""
    problem = elastic_jobs(gpus=16, jobs=12, seed=1)
    assert (
        evolution(problem, generations=5, budget=Budget(time_limit=PATIENCE)).solution
        == evolution(problem, generations=5).solution
    )
    late = evolution(problem, budget=Budget(time_limit=0))
    assert (late.solution, late.message) == (None, "16 candidates of 16 GPUs take longer than 0 s")
    table = CostTable.of(["a", "b"], [[0, 4, 6, 9], [0, 3, 5, 5]], weight=[2, 1])
    some, none = evolve(table, 5), evolve(table, 5, budget=Budget(time_limit=0))
    assert (len(some.logbook), len(none.logbook)) == (6, 1)
