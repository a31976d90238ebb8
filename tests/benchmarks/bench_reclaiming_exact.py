"""Speed of the exact reclaiming methods on clusters of 520 servers, beside Algorithm 1 in the same run."""

from collections import Counter
from statistics import median
from typing import NamedTuple

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from formulations.reclaiming import decomposition, exact, milp, reduced
from formulations.reclaiming.decomposition import curve
from formulations.reclaiming.reduction import reduce
from gsopt.formulation import Formulation
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Status
from heuristics.reclaiming import greedy
from instances.reclaiming import churn
from instances.reclaiming.workers import Mode

MODES: tuple[Mode, ...] = ("packed", "mixed", "worker")
SEEDS = range(8)
DEMANDS = range(20, 301, 20)
WITHOUT_BRANCHING = {"decomposition", "LP bound met by rounding", "core of the LP by decomposition"}


class Run(NamedTuple):
    """One instance: seconds of both methods without the judging, and what the exact one says."""

    exact: float
    greedy: float
    technique: str
    status: Status


def sweep(mode: Mode) -> list[Run]:
    """Solve every seed at every demand with both methods."""
    runs = []
    for seed in SEEDS:
        cluster = churn(servers=520, mode=mode, utilisation=0.93 + 0.01 * (seed % 5), seed=seed)
        for demand in DEMANDS:
            problem = cluster.model_copy(update={"demand": demand})
            proven, quick = exact(problem), greedy(problem)
            runs.append(Run(proven.runtime, quick.runtime, proven.message, proven.status))
    return runs


@pytest.mark.benchmark(group="reclaiming: exact against Algorithm 1, 520 servers, sweep of seeds and demands")
@pytest.mark.parametrize("mode", MODES)
def test_exact_against_algorithm_1(benchmark: BenchmarkFixture, mode: Mode) -> None:
    """The proof costs at most 200 times Algorithm 1, and 95 % need no branch and bound."""
    exact(churn(servers=520, mode="worker"))  # starts the solver's process
    runs: list[Run] = benchmark.pedantic(sweep, args=(mode,), rounds=1)  # type: ignore[no-untyped-call]
    times = 1000 * np.array([run.exact for run in runs])
    ratio = median(run.exact / run.greedy for run in runs)
    unbranched = sum(run.technique in WITHOUT_BRANCHING for run in runs) / len(runs)
    middle, high = np.percentile(times, [50, 95])
    print(  # noqa: T201 - a benchmark reports what it measured
        f"\n{mode}: {len(runs)} instances, median {middle:.1f} ms, 95th percentile {high:.1f} ms, "
        f"maximum {times.max():.1f} ms, {ratio:.1f} times Algorithm 1, "
        f"{unbranched:.1%} proven without branch and bound: {dict(Counter(run.technique for run in runs))}"
    )

    assert {run.status for run in runs} == {Status.OPTIMAL}
    assert ratio <= 200
    assert unbranched >= 0.95


@pytest.mark.benchmark(group="reclaiming: one demand, 520 servers")
@pytest.mark.parametrize("demand", [50, 150, 300])
@pytest.mark.parametrize("mode", MODES)
def test_exact(benchmark: BenchmarkFixture, mode: Mode, demand: int) -> None:
    """The default exact method proves its value."""
    result = benchmark(exact, churn(servers=520, demand=demand, mode=mode))

    assert result.status is Status.OPTIMAL


@pytest.mark.benchmark(group="reclaiming: one demand, 520 servers")
@pytest.mark.parametrize("mode", ["packed", "mixed"])
def test_decomposition(benchmark: BenchmarkFixture, mode: Mode) -> None:
    """Bucket elimination alone proves its value."""
    result = benchmark(decomposition, churn(servers=520, demand=150, mode=mode))

    assert result.status is Status.OPTIMAL


@pytest.mark.benchmark(group="reclaiming: all demands, 520 servers")
@pytest.mark.parametrize("mode", ["packed", "mixed"])
def test_curve(benchmark: BenchmarkFixture, mode: Mode) -> None:
    """The whole trade-off curve is found at once."""
    assert len(benchmark(curve, churn(servers=520, mode=mode))) == 521


@pytest.mark.benchmark(group="reclaiming: reduction, 520 servers")
@pytest.mark.parametrize("mode", MODES)
def test_reduction(benchmark: BenchmarkFixture, mode: Mode) -> None:
    """Merging leaves fewer jobs than there were."""
    problem = churn(servers=520, mode=mode)

    assert len(benchmark(reduce, problem).weights) < len(problem.jobs)


@pytest.mark.benchmark(group="reclaiming: mixed-integer programs by HiGHS, 520 servers")
@pytest.mark.parametrize("model", [milp, reduced], ids=lambda model: model.name)
@pytest.mark.parametrize("mode", MODES)
def test_models(
    benchmark: BenchmarkFixture, mode: Mode, model: Formulation[Reclaiming, ReclaimingSolution]
) -> None:
    """Both models are solved to optimality."""
    problem = churn(servers=520, demand=150, mode=mode)
    result = benchmark.pedantic(model, args=(problem,), rounds=5, warmup_rounds=1)  # type: ignore[no-untyped-call]

    assert result.status is Status.OPTIMAL
