"""Claims of ONES: what its tables, formulas and remarks say, by hand."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.performance.batching import StepTime
from gsopt.performance.batching.split import split
from gsopt.scenario.job import Job, Workload
from gsopt.simulation import simulate
from heuristics.policies import fifo
from heuristics.policies.ones.progress import Forecast
from instances.workloads.ones_tasks import TASKS

#: Section 4.2: by how many per cent the mean JCT is below that of others, and section 4.4, at 64 GPUs.
REDUCTIONS = {"DRL": ("26.9", "27"), "Tiresias": ("45.6", "46"), "Optimus": ("41.7", "42")}

#: Table 4: p of the two-sided and of the one-sided negative test.
P_VALUES = {
    "DRL": ("5.17e-4", "0.99974"),
    "Tiresias": ("4.53e-8", "0.99999"),
    "Optimus": ("7.55e-10", "0.99999"),
}


def test_reductions_agree_with_each_other() -> None:
    """Section 4.4 has the reductions of section 4.2 at 64 GPUs, and section 6 the largest of them."""
    for precise, rounded in REDUCTIONS.values():
        assert Decimal(precise).quantize(Decimal(1), ROUND_HALF_UP) == Decimal(rounded)
    assert max(Decimal(precise) for precise, _ in REDUCTIONS.values()) == Decimal("45.6")


@pytest.mark.parametrize("other", P_VALUES)
def test_p_values_of_table_4_agree_with_each_other(other: str) -> None:
    """The one-sided p is one less half of the two-sided one, to the five digits printed."""
    two, one = map(Decimal, P_VALUES[other])
    assert abs(1 - two / 2 - one) < Decimal("1e-5")


@given(alpha=st.floats(1.01, 100), beta=st.floats(1.01, 100))
def test_above_1_a_beta_distribution_has_one_peak(alpha: float, beta: float) -> None:
    """The logarithm of the density rises up to (alpha - 1) / (alpha + beta - 2), and falls from there."""
    progress = np.linspace(0.001, 0.999, 999)
    slope = (alpha - 1) / progress - (beta - 1) / (1 - progress)
    peak = (alpha - 1) / (alpha + beta - 2)

    assert (slope[progress < peak - 1e-9] > 0).all()
    assert (slope[progress > peak + 1e-9] < 0).all()


def test_at_1_the_most_likely_progress_is_none() -> None:
    """At alpha = 1, where the threshold holds every job in its first epoch, no progress is likelier than 0."""
    reached = Forecast.of(np.ones(99), 6, 1).reached(np.linspace(0.01, 0.99, 99))
    densities = np.diff(np.append(0, reached))
    assert (np.diff(densities) < 0).all()


def test_beta_epochs_are_left_at_the_mean_progress() -> None:
    """At the mean of rho beta epochs are left; the mean of what is left is more, most so early in training."""
    alpha, beta = np.array([1.0, 2, 11, 101]), 20.0
    forecast = Forecast.of(alpha, beta, alpha)  # an epoch of one sample

    assert np.allclose(forecast.left("mean_progress"), 20)
    assert np.allclose(forecast.left("mean"), [np.inf, 40, 22, 20.2])


def _scores(generator: np.random.Generator, number: int) -> np.ndarray:
    """Draw the scores of Algorithm 1 for two candidates that run one of two jobs, many times."""
    forecast = Forecast.of(np.repeat([[3.0, 6.0]], number, axis=0), [10.0, 25.0], [1.0, 1.0])
    return forecast.draw(generator)


def test_algorithm_1_does_not_select_the_expected_optimum() -> None:
    """Of two candidates with equal mean scores one is selected in most draws: means do not decide."""
    forecast = Forecast.of([3.0, 6.0], [10.0, 25.0], 1.0)
    first, second = forecast.left("mean")
    scores = _scores(np.random.default_rng(0), 20_000)
    selected = float(np.mean(scores[:, 0] <= scores[:, 1]))

    assert first == second == 5
    assert 0.53 < selected < 0.65


def test_a_worse_candidate_is_often_selected() -> None:
    """A candidate whose expected score is a quarter higher is still selected in a third of the draws."""
    scores = _scores(np.random.default_rng(1), 20_000) * [1.0, 1.25]
    assert 0.25 < float(np.mean(scores[:, 0] > scores[:, 1])) < 0.4


def test_what_is_expected_needs_no_draws() -> None:
    """Equation 8 is linear in 1 / rho - 1, so the split of the means is that of the least expected score."""
    generator = np.random.default_rng(2)
    rates = 1 / (0.02 / np.arange(1, 5) + 0.001)  # samples per second on 1 to 4 GPUs
    per_sample = np.append(0, np.arange(1, 5) / rates)
    forecast = Forecast.of(generator.uniform(3, 20, 5), generator.uniform(5, 40, 5), 1000.0)
    counts = split(forecast.left("mean")[:, None] * per_sample, 8)
    draws = np.mean([forecast.draw(generator) for _ in range(5000)], axis=0)

    assert counts.sum() == 8
    assert counts.tolist() == split(draws[:, None] * per_sample, 8).tolist()


def test_equation_3_is_smallest_with_one_job_on_all_gpus() -> None:
    """By Equations 3 and 4 the job of least remaining work has all 64 GPUs, as under SRPT."""
    counts = np.arange(1, 65)
    step = StepTime(fixed=0.01, per_sample=0.001)
    rates = [float(step.samples_per_second(64 * int(count), int(count))) for count in counts]
    per_sample = np.append(0, counts / np.array(rates))
    left = np.random.default_rng(3).uniform(1e5, 1e6, 50)
    found = split(left[:, None] * per_sample, 64)

    assert found.tolist() == [64 * int(job == left.argmin()) for job in range(50)]


def test_equation_4_cannot_hold_where_all_jobs_are_warming_up() -> None:
    """Jobs that are limited to one GPU each, fewer of them than GPUs, leave GPUs idle whatever is decided."""
    costs = np.array([[0.0, 1.0]] * 3)
    assert split(costs, 64).tolist() == [1, 1, 1]


def test_a_fixed_batch_of_256_gains_little_beyond_one_server() -> None:
    """ResNet-18 on CIFAR-10 is twice as fast on four GPUs, and on eight faster by a tenth at most."""
    model = next(task.model for task in TASKS if task.model.name == "cifar10-resnet18")
    fixed = [model.throughput(256, gpus) for gpus in (1, 2, 4, 5, 8)]
    elastic = [model.throughput(256 * gpus, gpus) for gpus in (1, 2, 4, 5, 8)]

    assert fixed[0] < fixed[1] < fixed[2] > fixed[3]
    assert 2 < fixed[2] / fixed[0] < fixed[4] / fixed[0] < 2.3
    assert 7 < elastic[4] / elastic[0] < 8
    assert elastic == sorted(elastic)


def test_periodic_schedulers_let_jobs_queue_for_half_a_period() -> None:
    """Jobs released at any time, on enough GPUs, wait for half of a round of ten minutes on average."""
    releases = np.random.default_rng(4).uniform(0, 100_000, 400)
    jobs = [
        Job(name=str(number), release_date=float(release), duration=10, gpus=1)
        for number, release in enumerate(sorted(releases))
    ]
    found = simulate(Workload(jobs=jobs), fifo, cluster=400, round_length=600).metrics.mean_queueing

    assert found is not None
    assert abs(found / 300 - 1) < 0.1
