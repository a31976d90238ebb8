"""Progress predictor of ONES: how good its fit is, what it takes, and how far its forecasts can be trusted.

``pytest tests/benchmarks/bench_progress.py -s`` prints the tables.
"""

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from gsopt.scenario.job import Job
from heuristics.policies.ones.progress import (
    Calibration,
    EpochReport,
    Forecast,
    Learning,
    LinkFunction,
    ObservationRows,
    ProgressPredictor,
    Regression,
    Sampling,
    SearchStart,
    calibrate,
    fit_regression,
    negative_log_likelihood,
)
from heuristics.policies.ones.progress.observation import Floats
from instances.workloads import ones
from tests.benchmarks.measures import once, report
from tests.heuristics.policies.ones.logs import INTERCEPT, SLOPES, draw_features, draw_rows

SEEDS = range(20)

FITS: dict[str, Callable[[ObservationRows], Regression]] = {
    "threshold, from the median": fit_regression,
    "threshold, from zero": lambda rows: fit_regression(rows, start=SearchStart.ZERO),
    "softplus, from the median": lambda rows: fit_regression(rows, link=LinkFunction.SOFTPLUS),
    "softplus, from zero": lambda rows: fit_regression(
        rows, link=LinkFunction.SOFTPLUS, start=SearchStart.ZERO
    ),
}


def _lowest(rows: ObservationRows, generator: np.random.Generator) -> float:
    """Return the lowest mean cost that BFGS finds, unscaled, from the truth and four random starts."""
    centre, scale = rows.features.mean(axis=0), rows.features.std(axis=0)
    standardised = np.column_stack([(rows.features - centre) / scale, np.ones(len(rows))])

    def cost(parameters: Floats) -> tuple[float, Floats]:
        linear = standardised @ parameters
        costs, slopes = negative_log_likelihood(np.maximum(linear, 1), rows)
        return float(costs.mean()), standardised.T @ (slopes * (linear >= 1)) / len(rows)

    starts = [np.append(SLOPES * scale, INTERCEPT + SLOPES @ centre)]
    starts += [np.append(generator.normal(0, 10, 5), generator.uniform(5, 60)) for _ in range(4)]
    return min(float(minimize(cost, start, jac=True, method="BFGS").fun) for start in starts)


def excess(number: int) -> dict[str, list[float]]:
    """Return the nats above the best found, by fit and seed."""
    found: dict[str, list[float]] = {name: [] for name in FITS}
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        rows = draw_rows(generator, number)
        costs = {name: fit(rows).cost for name, fit in FITS.items()}
        lowest = min(_lowest(rows, generator), *costs.values())
        for name, cost in costs.items():
            found[name].append(cost - lowest)
    return found


@pytest.mark.parametrize("number", [100, 500])
def test_likelihood(benchmark: Any, number: int) -> None:
    """From the median the fit is within a hundredth of a nat of the best known, from zero it is dead."""
    found = once(benchmark, lambda: excess(number))
    report(f"\n{number} rows, nats above the best found: median, worst of {len(SEEDS)}")
    for name, values in found.items():
        report(f"{name:28} {median(values):8.4f} {max(values):8.4f}")

    assert median(found["threshold, from the median"]) < 0.01
    assert min(found["threshold, from zero"]) > 1
    assert median(found["softplus, from zero"]) < 0.05


def _seconds(call: Callable[[], object], repeats: int = 9) -> float:
    """Return the median processor time of a call."""
    taken = []
    for _ in range(repeats):
        begin = process_time()
        call()
        taken.append(process_time() - begin)
    return median(taken)


def times() -> dict[str, float]:
    """Return the processor time of fits and predictions."""
    few, many = (draw_rows(np.random.default_rng(0), number) for number in (100, 500))
    fitted = fit_regression(many)
    features = draw_features(np.random.default_rng(1), 200)
    return {
        "fit of 100 rows": _seconds(lambda: fit_regression(few)),
        "fit of 500 rows": _seconds(lambda: fit_regression(many)),
        "beta of 1 job": _seconds(lambda: fitted.beta(features[:1]), 99),
        "beta of 200 jobs": _seconds(lambda: fitted.beta(features), 99),
    }


def test_time(benchmark: Any) -> None:
    """Five times the rows take far less than five times the time, and 200 jobs less than 20 times one."""
    seconds = once(benchmark, times)
    for name, value in seconds.items():
        report(f"{name:20} {1000 * value:8.3f} ms")

    assert seconds["fit of 500 rows"] < 5 * seconds["fit of 100 rows"]
    assert seconds["beta of 200 jobs"] < 20 * seconds["beta of 1 job"]


def log_of(job: Job) -> list[EpochReport]:
    """Return what is seen of a job at the end of each epoch, trained as its user asked for."""
    training = job.training
    assert training is not None
    seen = (
        training.observe(epoch * training.epoch, epoch * training.epoch / training.samples)
        for epoch in range(1, int(training.samples // training.epoch) + 1)
    )
    return [
        EpochReport(
            epoch_samples=training.epoch,
            initial_loss=training.initial_loss,
            processed=each.samples,
            loss=each.loss,
            accuracy=each.accuracy,
        )
        for each in seen
    ]


LEARNINGS = {
    "as recommended": Learning(),
    "rows, not jobs": Learning(sampling=Sampling.ROWS),
    "softplus": Learning(link=LinkFunction.SOFTPLUS),
    "100 rows": Learning(limit=100),
    "mean of the rows": Learning(least_jobs=10**9),
    "from zero": Learning(start=SearchStart.ZERO),
}


def calibrations() -> dict[str, Calibration]:
    """Return the calibration of each way to learn, on jobs of ONES."""
    jobs = ones(jobs=150, seed=0).jobs
    logs = [log_of(job) for job in jobs]
    totals = [job.training.samples for job in jobs if job.training]
    return {
        name: calibrate(ProgressPredictor(learning), logs, totals=totals, skip=3)
        for name, learning in LEARNINGS.items()
    }


def test_calibration(benchmark: Any) -> None:
    """On the tasks of ONES, forecasts are better than the mean of the rows, and beyond hope from zero."""
    found = once(benchmark, calibrations)
    report("\nforecasts of 150 jobs, by those before: held by the 50 % and 90 % interval, distance")
    for name, calibration in found.items():
        half, most = calibration.coverage([0.5, 0.9])
        report(f"{name:20} {half:6.1%} {most:6.1%} {calibration.distance:6.3f}")

    assert 0.75 < found["as recommended"].coverage(0.9) < 0.87
    assert found["as recommended"].distance < found["100 rows"].distance
    assert found["as recommended"].distance < found["mean of the rows"].distance
    assert found["mean of the rows"].distance < found["from zero"].distance


def first_epoch() -> tuple[float, dict[str, list[float]]]:
    """Return the median of what is left in the first epoch, and means and medians of draws."""
    prior = ProgressPredictor().predict([EpochReport(epoch_samples=1000, initial_loss=2, loss=2)])
    many = Forecast.of(np.repeat(prior.alpha, 1000), prior.beta, prior.processed)
    draws = [many.draw(np.random.default_rng(seed)) for seed in SEEDS]
    means, medians = ([float(figure(each)) for each in draws] for figure in (np.mean, np.median))
    return float(prior.left()[0]), {"mean": means, "median": medians}


def test_first_epoch(benchmark: Any) -> None:
    """In the first epoch what is left has no mean: averages of draws differ by factors, medians do not."""
    expected, found = once(benchmark, first_epoch)
    report(f"\n1,000 draws of the samples left in the first epoch, median {expected:,.0f}")
    for name, values in found.items():
        report(f"{name:8} {min(values):12,.0f} to {max(values):12,.0f}")

    assert max(found["mean"]) > 2 * min(found["mean"])
    assert max(found["median"]) < 1.5 * min(found["median"])
