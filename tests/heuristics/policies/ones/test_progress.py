"""The progress of jobs: what is observed, learned and forecast."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import minimize
from scipy.special import betainc
from scipy.stats import beta as beta_distribution

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import QUANTILE
from gsopt.performance.batching import Progress
from heuristics.policies.ones.progress import (
    FEATURES,
    Calibration,
    EpochReport,
    Forecast,
    Learning,
    LinkFunction,
    ObservationHistory,
    ObservationRows,
    ProgressPredictor,
    Sampling,
    SearchStart,
    calibrate,
    features_of,
    fit_regression,
    negative_log_likelihood,
    rows_of,
)
from heuristics.policies.ones.progress.forecast import beta_quantile
from heuristics.policies.ones.progress.observation import Floats
from heuristics.policies.ones.progress.plots import coverage, progress_band, reached
from heuristics.policies.ones.progress.regression import PenalisedCost
from tests.effort import cases
from tests.gsopt.simulation.plots.samples import legend
from tests.heuristics.policies.ones.logs import (
    INTERCEPT,
    SLOPES,
    draw_features,
    draw_rows,
    log_of,
    true_beta,
)


def test_features_are_those_of_the_footnote() -> None:
    """Epoch size, initial loss, processed samples, 1 - current loss / initial loss, accuracy."""
    seen = EpochReport(epoch_samples=3600, initial_loss=0.7, processed=7200, loss=0.35, accuracy=0.8)

    assert dict(zip(FEATURES, seen.features, strict=True)) == {
        "epoch size": 3600,
        "initial loss": 0.7,
        "processed samples": 7200,
        "loss improvement ratio": 0.5,
        "validation accuracy": 0.8,
    }
    assert features_of([seen, seen]).tolist() == [list(seen.features)] * 2
    assert seen.model_copy(update={"loss": 2.8}).features[3] == -3  # where training has diverged


def test_rows_of_a_log_have_alpha_and_progress() -> None:
    """A row at the end of each epoch but the last, whose progress of 1 has no likelihood."""
    rows = rows_of(log_of(4))

    assert rows.progress.tolist() == [0.25, 0.5, 0.75]
    assert rows.alpha.tolist() == [1, 2, 3]
    assert rows_of([log_of(4)[0].model_copy(update={"processed": 250.0})], total=1000).alpha.tolist() == [1]
    assert rows.epochs_left.tolist() == [3, 2, 1]


def test_an_observation_before_training_gives_no_row() -> None:
    """At a progress of 0 every beta is more likely than the one before, so the row is left out."""
    before = EpochReport(epoch_samples=1000, initial_loss=2, processed=0, loss=2)
    assert len(rows_of([before, *log_of(2)])) == 1


def test_a_job_may_end_within_an_epoch() -> None:
    """With a total, the last observation is a row too if something was left then."""
    assert rows_of(log_of(4), total=5000).progress.tolist() == [0.2, 0.4, 0.6, 0.8]


def test_units_below_one_sample_do_not_matter() -> None:
    """Samples may be counted in any unit; the last observation of a job is no row."""
    log = [EpochReport(epoch_samples=0.5, initial_loss=1, processed=n / 2, loss=1) for n in (0, 0.25, 1)]
    assert rows_of(log).progress.tolist() == [0.25]
    assert len(rows_of(log[-1:])) == 0


def test_no_log_is_no_rows() -> None:
    """Without observations, or with one at the end only, there is nothing to learn."""
    assert len(rows_of([])) == 0
    assert len(rows_of(log_of(1))) == 0


def test_a_log_that_counts_down_is_refused() -> None:
    """Processed samples never shrink, and never exceed the total."""
    with pytest.raises(InvalidInput, match=r"log: .*: must count processed samples up"):
        rows_of(log_of(3)[::-1])
    with pytest.raises(InvalidInput, match="total: 2000: must be at least the 3000 processed"):
        rows_of(log_of(3), total=2000)


@pytest.mark.parametrize(
    ("features", "progress", "message"),
    [
        (np.ones((2, 4)), [0.5, 0.5], "must have a row of 5 features"),
        (np.ones((1, 5)), [0.5, 0.5], "must have a row of 5 features"),
        (np.full((1, 5), np.nan), [0.5], "must be finite"),
        (np.zeros((1, 5)), [0.5], "epochs have samples"),
        (np.ones((1, 5)), [0.0], "progress: 0.0: must be more than 0"),
        (np.ones((1, 5)), [1.0], "progress: 1.0: must be more than 0"),
        (np.ones((1, 5)), [np.nan], "progress: nan: must be more than 0"),
    ],
)
def test_bad_rows_are_refused(features: np.ndarray, progress: list[float], message: str) -> None:
    """One line says what is wrong with rows."""
    with pytest.raises(InvalidInput, match=message):
        ObservationRows(features=features, progress=np.array(progress))


@pytest.mark.parametrize(
    ("field", "value"),
    [("epoch_samples", 0.0), ("initial_loss", 0.0), ("processed", -1.0), ("loss", -0.1), ("accuracy", 1.01)],
)
def test_observations_out_of_range_are_refused(field: str, value: float) -> None:
    """An epoch has samples, training begins with a loss, and an accuracy is at most 1."""
    data = {"epoch_samples": 10.0, "initial_loss": 2.0, "processed": 0.0, "loss": 1.0, field: value}
    with pytest.raises(ValidationError, match=field):
        EpochReport(**data)


def _numbered(job: int, length: int) -> ObservationRows:
    """Return rows that can be told apart: by job in the second feature, by place in the third."""
    places = np.arange(length, dtype=float)
    same = np.ones(length)
    return ObservationRows(
        features=np.column_stack([same, job * same, places, same, same]),
        progress=(places + 1) / (length + 1),
    )


def _filled(lengths: list[int], *, limit: int, sampling: Sampling, seed: int = 0) -> ObservationHistory:
    history = ObservationHistory(limit=limit, sampling=sampling, seed=seed)
    for job, length in enumerate(lengths):
        history.add(_numbered(job, length))
    return history


@given(
    lengths=st.lists(st.integers(0, 30), max_size=12),
    limit=st.integers(1, 40),
    sampling=st.sampled_from(Sampling),
)
def test_as_many_as_the_limit_and_each_once(lengths: list[int], limit: int, sampling: Sampling) -> None:
    """Rows are those of the logs, none twice, and no more than the limit; all of them where they fit in."""
    history = _filled(lengths, limit=limit, sampling=sampling)
    rows = history.rows()
    kept = {(job, place): done for (_, job, place, *_), done in zip(rows.features, rows.progress, strict=True)}

    assert len(kept) == len(rows) <= limit
    assert all(done == (place + 1) / (lengths[int(job)] + 1) for (job, place), done in kept.items())
    assert history.jobs == len(lengths)
    if sum(lengths) <= limit:
        assert len(rows) == sum(lengths)
    elif sampling is Sampling.ROWS:
        assert len(rows) == limit


@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=12), limit=st.integers(12, 40))
def test_jobs_have_equal_shares(lengths: list[int], limit: int) -> None:
    """By jobs, each keeps the largest number of rows that all can, or all of its rows."""
    counts = _filled(lengths, limit=limit, sampling=Sampling.JOBS).counts()
    share = max(share for share in range(1, 31) if sum(min(length, share) for length in lengths) <= limit)
    assert counts == [min(length, share) for length in lengths]


def test_more_jobs_than_rows() -> None:
    """With fewer rows than jobs, as many jobs as the limit have one row each."""
    history = _filled([5] * 30, limit=8, sampling=Sampling.JOBS)
    assert history.counts() == [1] * 8


@pytest.mark.parametrize("sampling", Sampling)
def test_every_row_is_kept_as_often(sampling: Sampling) -> None:
    """Over many seeds each row of equal logs is kept with the same probability, whenever its job completed."""
    kept = np.zeros((4, 6))
    trials = cases(1500)
    for seed in range(trials):
        rows = _filled([6] * 4, limit=3, sampling=sampling, seed=seed).rows()
        for _, job, place, *_ in rows.features:
            kept[int(job), int(place)] += 1
    share = 3 / 24

    assert kept.sum() == 3 * trials
    assert np.abs(kept / trials - share).max() < 5 * np.sqrt(share * (1 - share) / trials)


def test_by_rows_long_jobs_have_more() -> None:
    """As the paper's words have it, a log of nine times the length keeps about nine times the rows."""
    firsts = [
        sum(_filled([10, 90], limit=20, sampling=Sampling.ROWS, seed=seed).rows().features[:, 1] == 0)
        for seed in range(40)
    ]
    short, long = sum(firsts), 40 * 20 - sum(firsts)
    assert 6 < long / short < 13


def test_jobs_without_rows_take_no_place() -> None:
    """A job that completed in its first epoch counts as complete, and says nothing."""
    history = _filled([0, 3, 0], limit=2, sampling=Sampling.JOBS)
    assert (history.jobs, history.counts()) == (3, [2])


@pytest.mark.parametrize("sampling", Sampling)
def test_the_same_seed_keeps_the_same(sampling: Sampling) -> None:
    """What is kept depends on the seed and the logs only, and on the seed it does."""
    one, same, other = (_filled([30] * 9, limit=20, sampling=sampling, seed=seed).rows() for seed in (1, 1, 2))
    assert one.features.tolist() == same.features.tolist()
    assert one.features.tolist() != other.features.tolist()


def test_a_limit_below_1_is_refused() -> None:
    """At least one row is kept."""
    with pytest.raises(InvalidInput, match="limit: 0: must be at least 1"):
        ObservationHistory(limit=0)


def _row(epochs: float, progress: float) -> ObservationRows:
    return ObservationRows(features=np.array([[1.0, 1.0, epochs, 0.0, 0.0]]), progress=np.array([progress]))


@given(epochs=st.floats(0, 1e4), progress=st.floats(1e-9, 1 - 1e-9), beta=st.floats(1, 1e6))
def test_equals_the_density_of_scipy(epochs: float, progress: float, beta: float) -> None:
    """The cost of a row is minus the logarithm of the density."""
    costs, _ = negative_log_likelihood(np.array([beta]), _row(epochs, progress))
    expected = -beta_distribution.logpdf(progress, max(epochs, 1), beta)
    assert np.isclose(costs[0], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("link", LinkFunction)
def test_links_are_at_least_1_and_their_slopes_are_theirs(link: LinkFunction) -> None:
    """Beta is at least 1 for every u, and differences give the slope, away from the kink."""
    linear = np.array([-1e9, -800.0, -3.0, 0.5, 1.5, 30.0, 800.0, 1e9])
    step = 1e-6 * np.maximum(np.abs(linear), 1)
    numeric = (link.beta(linear + step) - link.beta(linear - step)) / (2 * step)

    assert (link.beta(linear) >= 1).all()
    assert np.allclose(link.slope(linear), numeric, atol=1e-6)


@given(beta=st.floats(1 + 1e-6, 1e9), link=st.sampled_from(LinkFunction))
def test_the_inverse_of_a_link(beta: float, link: LinkFunction) -> None:
    """The u that is given for a beta has it."""
    assert np.isclose(link.beta(np.array([link.inverse(beta)]))[0], beta)


def test_a_threshold_lets_go_below_1() -> None:
    """No row with u < 1 pulls, and one at the kink can leave it upwards."""
    assert LinkFunction.THRESHOLD.slope(np.array([-5.0, 0.0, 0.999, 1.0, 2.0])).tolist() == [0, 0, 0, 1, 1]


def test_recovers_known_parameters() -> None:
    """From many rows of the model, A and b are found as far as their randomness allows."""
    rows = draw_rows(np.random.default_rng(0), 20_000)
    slopes, intercept = fit_regression(rows).coefficients

    assert np.allclose(slopes, SLOPES, rtol=0.1)
    assert np.isclose(intercept, INTERCEPT, rtol=0.05)


def _best_found(rows: ObservationRows, generator: np.random.Generator) -> float:
    """Return the lowest mean cost that a search without gradients finds from the truth: a second version."""
    centre, scale = rows.features.mean(axis=0), rows.features.std(axis=0)
    standardised = (rows.features - centre) / scale

    def cost(parameters: Floats) -> float:
        beta = np.maximum(standardised @ parameters[:5] + parameters[5], 1)
        return -float(np.mean(beta_distribution.logpdf(rows.progress, rows.alpha, beta)))

    truth = np.append(SLOPES * scale, INTERCEPT + SLOPES @ centre)
    starts = [truth, truth + generator.normal(0, 5, 6)]
    options: Any = {"maxfev": 1500, "xatol": 1e-3, "fatol": 1e-6}
    return min(float(minimize(cost, start, method="Nelder-Mead", options=options).fun) for start in starts)


def test_nothing_found_without_gradients_is_better() -> None:
    """The fit costs at most a hundredth of a nat more than what another search finds from the truth."""
    for seed in range(cases(5)):
        generator = np.random.default_rng(seed)
        rows = draw_rows(generator, 100)
        assert fit_regression(rows, ridge=0.0).cost <= _best_found(rows, generator) + 0.01


def test_from_zero_nothing_is_learnt() -> None:
    """With A = 0, b = 0 below the threshold all gradients are 0: every beta stays 1, nats above the fit."""
    for seed in range(cases(20)):
        rows = draw_rows(np.random.default_rng(seed), 100)
        dead, alive = fit_regression(rows, start=SearchStart.ZERO), fit_regression(rows)

        assert dead.steps == 0
        assert (dead.beta(rows.features) == 1).all()
        assert dead.cost > alive.cost + 2


def test_the_smooth_link_learns_from_anywhere() -> None:
    """Softplus has no dead rows: from zero it gets as far as from the median, and near the threshold's fit."""
    for seed in range(cases(10)):
        rows = draw_rows(np.random.default_rng(seed), 200)
        printed = fit_regression(rows).cost
        for start in SearchStart:
            assert fit_regression(rows, link=LinkFunction.SOFTPLUS, start=start).cost < printed + 0.05


def test_units_do_not_matter() -> None:
    """Features in other units give the same beta."""
    rows = draw_rows(np.random.default_rng(1), 200)
    units = np.array([1.0, 1e9, 1.0, 1e-9, 1e6])  # of all but those that alpha is made of
    other = ObservationRows(features=rows.features * units, progress=rows.progress)
    one, two = fit_regression(rows), fit_regression(other)

    assert np.allclose(one.beta(rows.features), two.beta(other.features), rtol=1e-3)


@pytest.mark.parametrize("number", [1, 2, 40])
def test_identical_rows_give_the_most_likely_beta(number: int) -> None:
    """Without any difference of features b alone is fitted, where the derivative by beta is 0."""
    rows = ObservationRows(features=np.full((number, 5), 3.7), progress=np.full(number, 0.01))
    # the density beta (1 - rho)^(beta - 1) at alpha = 1 is largest at beta = -1 / ln(1 - rho)
    expected = -1 / np.log1p(-0.01)
    fitted = fit_regression(rows)

    assert np.isclose(fitted.intercept, expected, rtol=1e-3)
    assert np.isclose(fitted.beta(rows.features[:1])[0], min(expected, rows.epochs_left.max()), rtol=1e-3)


def test_no_beta_is_beyond_what_was_seen() -> None:
    """Far from the rows, beta stays between 1 and the most epochs that a row had left."""
    rows = draw_rows(np.random.default_rng(2), 300)
    far = draw_features(np.random.default_rng(3), 300) * np.array([1e3, 1e3, 1e3, -50, 50])
    beta = fit_regression(rows).beta(far)

    assert beta.max() == rows.epochs_left.max()
    assert beta.min() == 1


SIZES = st.floats(1e-9, 1e9)
ROWS = st.lists(
    st.tuples(st.tuples(SIZES, SIZES, SIZES, st.floats(-1e9, 1), SIZES), st.floats(1e-12, 1 - 1e-12)),
    min_size=1,
    max_size=8,
)


@given(drawn=ROWS, link=st.sampled_from(LinkFunction), start=st.sampled_from(SearchStart))
@settings(max_examples=cases(40, least=14))
def test_extremes_are_borne(
    drawn: list[tuple[tuple[float, ...], float]], link: LinkFunction, start: SearchStart
) -> None:
    """Features of 1e-9 to 1e9, progress close to 0 and 1: beta is finite and at least 1, without a warning."""
    rows = ObservationRows(
        features=np.array([features for features, _ in drawn]),
        progress=np.array([progress for _, progress in drawn]),
    )
    fitted = fit_regression(rows, link=link, start=start)

    assert np.isfinite(fitted.cost)
    assert np.isfinite(fitted.beta(rows.features)).all()
    assert (fitted.beta(rows.features) >= 1).all()


def test_the_truth_is_not_more_likely() -> None:
    """On the rows that it was fitted to, a fit costs no more than the parameters that made them."""
    for seed in range(cases(10)):
        rows = draw_rows(np.random.default_rng(seed), 300)
        densities = beta_distribution.logpdf(rows.progress, rows.alpha, true_beta(rows.features))
        assert fit_regression(rows).cost <= 1e-6 - float(np.mean(densities))


@pytest.mark.parametrize("link", LinkFunction)
def test_the_gradient_is_that_of_the_cost(link: LinkFunction) -> None:
    """Central differences give the analytic gradient, with the ridge in it."""
    generator = np.random.default_rng(6)
    rows = draw_rows(generator, 50)
    columns = np.column_stack([generator.normal(0, 5, (50, 2)), np.full(50, 20.0)])
    cost, parameters = PenalisedCost(rows, columns, link, ridge=0.3), np.array([0.4, -0.7, 1.1])
    steps = 1e-6 * np.eye(3)
    numeric = [(cost(parameters + step)[0] - cost(parameters - step)[0]) / 2e-6 for step in steps]

    assert np.allclose(cost(parameters)[1], numeric, rtol=1e-5)


def test_no_rows_are_refused() -> None:
    """There is nothing to fit to."""
    with pytest.raises(InvalidInput, match="rows: 0: must be at least one to fit to"):
        fit_regression(ObservationRows(features=np.empty((0, 5)), progress=np.empty(0)))


@pytest.mark.parametrize("beta", [132_578_328.0, 2e8])
def test_where_scipy_is_wrong(beta: float) -> None:
    """Shapes of which scipy has a quantile twice too large have the right one, others keep theirs."""
    found = beta_quantile([1000.0, 1.0], [beta, 1.0], 0.5)
    assert betainc(1000.0, beta, found[0]) == pytest.approx(0.5)
    assert found[1] == 0.5


def test_shapes_and_ends() -> None:
    """The shape is that of what is asked for, and nothing or everything is passed at the ends."""
    assert np.shape(beta_quantile(2.0, [[3.0], [4.0]], 0.2)) == (2, 1)
    assert (float(beta_quantile(2.0, 3.0, 0.0)), float(beta_quantile(2.0, 3.0, 1.0))) == (0.0, 1.0)


SHAPES = st.floats(1, 1e9)


def test_the_mean_is_that_of_the_inverse() -> None:
    """E[1 / rho - 1] is beta / (alpha - 1), for alpha above 1."""
    forecast = Forecast.of([2.5, 10, 40], [7, 3, 80], 1)
    draws = np.mean([forecast.draw(np.random.default_rng(seed)) for seed in range(4000)], axis=0)

    assert np.allclose(forecast.left("mean"), [7 / 1.5, 3 / 9, 80 / 39])
    assert np.allclose(draws, forecast.left("mean"), rtol=0.1)


@given(alpha=st.floats(1.5, 1e6), beta=SHAPES, processed=st.floats(1, 1e9))
def test_agrees_with_the_exact_numbers_of_one_job(alpha: float, beta: float, processed: float) -> None:
    """A job's `Progress`, in fractions, has the same mean, and as much left at the mean progress."""
    forecast = Forecast.of(alpha, beta, processed)
    exact = Progress(alpha=alpha, beta=beta, processed=processed)
    assert np.isclose(forecast.left("mean"), float(exact.left("mean")))
    assert np.isclose(forecast.left("mean_progress"), float(exact.left("mean_progress")))


def test_the_mean_is_infinite_in_the_first_epoch() -> None:
    """At alpha = 1 no average settles; the median and the samples left at the mean progress are finite."""
    forecast = Forecast.of(1, [5, 50], 1000)

    assert np.isinf(forecast.left("mean")).all()
    assert forecast.left("mean_progress").tolist() == [5000, 50_000]
    # rho has the distribution function 1 - (1 - rho)^beta
    medians = [1 - 0.5 ** (1 / beta) for beta in (5, 50)]
    assert np.allclose(forecast.left(), [1000 * (1 / median - 1) for median in medians])


@given(alpha=SHAPES, beta=SHAPES, processed=st.floats(1, 1e9))
def test_half_of_what_is_left_is_the_median(alpha: float, beta: float, processed: float) -> None:
    """Equation 7 maps quantiles of the progress to those of the samples left, the other way round."""
    forecast = Forecast.of(alpha, beta, processed)
    low, high = forecast.interval(0.9)
    few, many = forecast.left_quantile(0.05), forecast.left_quantile(0.95)

    assert 0 < low <= forecast.mean_progress <= 1 or alpha < beta  # a long tail may have its mean outside
    assert 0 <= few <= forecast.left() <= many
    assert np.isclose(forecast.left(), forecast.left_quantile(0.5))
    assert np.isclose(processed / (processed + many), low, rtol=1e-6)
    assert np.isclose(processed / (processed + few), high, rtol=1e-6)


@given(alpha=SHAPES, beta=SHAPES, probability=st.floats(0.01, 0.99))
def test_a_quantile_is_reached_with_its_probability(alpha: float, beta: float, probability: float) -> None:
    """The distribution function passes the probability within a millionth of the quantile."""
    forecast = Forecast.of(alpha, beta, 1)
    quantile = forecast.quantile(probability)
    below, above = quantile * (1 - QUANTILE), np.minimum(quantile * (1 + QUANTILE), 1)

    assert forecast.reached(below) <= probability <= forecast.reached(above)


def test_draws_follow_the_distribution() -> None:
    """The progress that draws of samples left mean is uniform under the distribution function."""
    number = 20_000
    forecast = Forecast.of(np.full(number, 3.0), 7, 500)
    left = forecast.draw(np.random.default_rng(1))
    reached = np.sort(forecast.reached(500 / (500 + left)))

    assert np.abs(reached - np.arange(number) / number).max() < 1.63 / np.sqrt(number)  # Kolmogorov, 1 %


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1e9), (1e9, 1), (1e9, 1e9), (1, 1)])
def test_draws_are_positive_and_finite(alpha: float, beta: float) -> None:
    """At the ends of what may be, draws are numbers above 0."""
    draws = Forecast.of(np.full(1000, alpha), beta, 1e15).draw(np.random.default_rng(0))
    assert (draws > 0).all()
    assert np.isfinite(draws).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0.5, 1, 1), "alpha: 0.5: must be at least 1"),
        ((1, 0, 1), "beta: 0.0: must be at least 1"),
        ((1, 1, 0), "processed: 0.0: must be more than 0"),
        ((1, float("inf"), 1), "beta: inf: must be at least 1, and finite"),
    ],
)
def test_bad_forecasts_are_refused(values: tuple[float, float, float], message: str) -> None:
    """Both parameters are at least 1, and something was processed."""
    with pytest.raises(InvalidInput, match=message):
        Forecast.of(*values)


def test_an_unknown_centre_is_refused() -> None:
    """What is left has a mean and a median, but no mode."""
    with pytest.raises(InvalidInput, match=r"^centre: 'mode': must be one of mean, median, mean_progress$"):
        Forecast.of([1, 2], 1, 1).left("mode")  # type: ignore[arg-type]


def test_a_probability_is_at_most_1() -> None:
    """Quantiles and levels are probabilities."""
    forecast = Forecast.of(1, 1, 1)
    for call in (forecast.quantile, forecast.left_quantile, forecast.interval):
        with pytest.raises(InvalidInput, match="probability: 90: must be at least 0 and at most 1"):
            call(90)


def _trained(lengths: list[int], **options: Any) -> ProgressPredictor:
    predictor = ProgressPredictor(Learning(**options), seed=1)
    for length in lengths:
        predictor.complete(log_of(length))
    return predictor


def test_before_any_completion_beta_is_the_prior() -> None:
    """Nothing is known but the prior, whatever is seen."""
    forecast = _trained([], prior=25.0).predict([log_of(9)[0], log_of(9)[7]])

    assert forecast.beta.tolist() == [25, 25]
    assert forecast.alpha.tolist() == [1, 8]


def test_before_three_completions_beta_is_the_mean_of_what_was_left() -> None:
    """Two logs of 3 and 5 epochs have 2, 1 and 4, 3, 2, 1 epochs left at their rows."""
    predictor = _trained([3, 5])

    assert predictor.regression is None
    assert np.allclose(predictor.predict(log_of(9)).beta, 13 / 6)


def test_from_three_completions_on_beta_follows_the_features() -> None:
    """Jobs late in training have fewer epochs left than those at the beginning."""
    predictor = _trained([20, 30, 40])
    early, late = predictor.predict([log_of(30)[2], log_of(30)[26]]).left()

    assert predictor.regression is not None
    assert late < 0.3 * early


def test_predictions_come_near_the_truth() -> None:
    """From a tenth on, what a job like those seen has left is off by less than a third of the whole."""
    predictor = _trained([20, 30, 40, 50])
    log = log_of(35)
    left = predictor.predict(log).left() / 1000

    assert np.abs(left - np.arange(34, -1, -1))[3:].max() < 12


def test_a_job_in_its_first_epoch_has_something_left() -> None:
    """Where nothing is processed, an epoch counts as processed, so that not nothing is left (Equation 7)."""
    seen = EpochReport(epoch_samples=2000, initial_loss=2, processed=0, loss=2)
    for predictor in (_trained([]), _trained([20]), _trained([20, 30, 40])):
        forecast = predictor.predict([seen])
        assert forecast.processed.tolist() == [2000]
        assert forecast.left()[0] >= 2000


def test_completions_in_one_epoch_leave_the_prior() -> None:
    """Jobs without a row before their end say nothing."""
    assert _trained([1, 1, 1, 1], prior=7.0).predict(log_of(3)).beta.tolist() == [7, 7, 7]


def test_the_same_seed_predicts_the_same() -> None:
    """Predictions depend on the logs and the seed only, not on how often they were asked for."""
    lengths = [20, 30, 40, 15, 25, 35]
    one, other = (ProgressPredictor(Learning(limit=30), seed=3) for _ in range(2))
    for length in lengths:
        one.complete(log_of(length))
        other.complete(log_of(length))
        other.predict(log_of(9))
    assert one.predict(log_of(9)).beta.tolist() == other.predict(log_of(9)).beta.tolist()


def test_learning_is_handed_on_to_the_fit() -> None:
    """Begun at zero, the predictor learns nothing, as the regression behind it."""
    assert _trained([20, 30, 40], start=SearchStart.ZERO).predict(log_of(30)).beta.tolist() == [1] * 30


def test_many_jobs_at_once() -> None:
    """200 jobs, or none, are predicted in one call."""
    predictor = _trained([20, 30, 40])
    assert predictor.predict_features(draw_features(np.random.default_rng(0), 200)).left().shape == (200,)
    assert predictor.predict([]).left().shape == (0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.5}, "prior: 0.5: must be at least 1"),
        ({"prior": float("nan")}, "prior: nan: must be at least 1"),
        ({"limit": 0}, "limit: 0: must be at least 1"),
        ({"least_jobs": 0}, "least_jobs: 0: must be at least 1"),
        ({"ridge": -1.0}, "ridge: -1.0: must be at least 0"),
    ],
)
def test_bad_learning_is_refused(options: dict[str, Any], message: str) -> None:
    """One line says which option is out of its range."""
    with pytest.raises(InvalidInput, match=message):
        Learning(**options)


def test_coverage_and_distance_by_hand() -> None:
    """Central intervals of level q hold what lies between (1 - q) / 2 and (1 + q) / 2."""
    found = Calibration(np.array([0.05, 0.3, 0.5, 0.95]))

    assert found.coverage([0, 0.4, 0.41, 0.89, 0.91, 1]).tolist() == [0.25, 0.5, 0.5, 0.5, 1, 1]
    assert np.isclose(found.distance, 0.25)


def test_forecasts_of_the_model_itself_are_calibrated() -> None:
    """Fitted to rows of the model, forecasts of other rows of it hold the truth as often as they say."""
    generator = np.random.default_rng(0)
    fitted, others = fit_regression(draw_rows(generator, 500)), draw_rows(generator, 2000)
    forecast = Forecast.of(others.alpha, fitted.beta(others.features), 1)
    found = Calibration.of(forecast, others.progress)

    assert found.distance < 0.05
    assert abs(float(found.coverage(0.9)) - 0.9) < 0.03


@pytest.mark.parametrize(("factor", "low", "high"), [(10.0, 0.0, 0.7), (0.1, 0.97, 1.0)])
def test_too_sure_and_not_sure_enough(factor: float, low: float, high: float) -> None:
    """Forecasts that are narrower than what happens hold it too seldom, wider ones too often."""
    progress = np.random.default_rng(1).beta(20, 20, 1000)
    coverage = float(Calibration.of(Forecast.of(20 * factor, 20 * factor, 1), progress).coverage(0.9))

    assert low <= coverage <= high


def test_no_forecast_knows_its_job() -> None:
    """Each job is forecast by those before it; the first two by the prior."""
    logs = [log_of(length) for length in (4, 3, 6, 5)]
    found = calibrate(ProgressPredictor(Learning(prior=7.0)), logs)
    expected = Forecast.of([1, 2, 3], 7, 1).reached([0.25, 0.5, 0.75])
    left = Forecast.of([1, 2], 2, 1).reached([1 / 3, 2 / 3])  # the first had 3, 2 and 1 epochs left

    assert np.allclose(found.reached[:5], [*expected, *left])
    assert len(found.reached) == 3 + 2 + 5 + 4
    assert calibrate(ProgressPredictor(), logs, skip=3).reached.shape == (4,)
    assert calibrate(ProgressPredictor(), logs, totals=[None, None, None, 6000], skip=3).reached.shape == (5,)


def test_a_calibration_of_one_number() -> None:
    """The true progress of a single forecast may be a plain number, as its parameters may."""
    assert Calibration.of(Forecast.of(1, 1, 1), 0.3).reached.tolist() == pytest.approx([0.3])


def test_what_is_no_calibration_is_refused() -> None:
    """There is at least one forecast, what it gives is a probability, and each log has its total."""
    with pytest.raises(InvalidInput, match=r"^totals: 1: must be none, or one for each of the 2 logs$"):
        calibrate(ProgressPredictor(), [[], []], totals=[1.0])
    with pytest.raises(InvalidInput, match="reached: 0: must be at least one forecast"):
        calibrate(ProgressPredictor(), [])
    with pytest.raises(InvalidInput, match=r"reached: 1\.5: must be at least 0 and at most 1"):
        Calibration(np.array([1.5]))


def _lines(axes: Any) -> dict[str, list[float]]:
    return {line.get_label(): [float(value) for value in line.get_ydata()] for line in axes.lines}


def test_the_band_of_a_job() -> None:
    """Observed progress rises to 1, the mean of the forecast is its mean, and the band lies about it."""
    predictor, log = ProgressPredictor(), log_of(20)
    for length in (15, 20, 25):
        predictor.complete(log_of(length))
    axes = progress_band(predictor, log)
    forecast = predictor.predict(log)
    (band,) = list[Any](axes.collections)
    heights = band.get_paths()[0].vertices[:, 1]

    assert np.allclose(_lines(axes)["observed"], np.arange(1, 21) / 20)
    assert np.allclose(_lines(axes)["mean of the forecast"], forecast.mean_progress)
    assert np.isclose(heights.min(), forecast.interval(0.9)[0].min())
    assert legend(axes) == ["90% interval", "mean of the forecast", "observed"]


def test_a_band_of_a_job_that_still_runs() -> None:
    """With a total, observed progress ends where the log does."""
    axes = progress_band(ProgressPredictor(), log_of(20)[:5], total=20_000)
    assert np.allclose(_lines(axes)["observed"], np.arange(1, 6) / 20)


def test_coverage_by_predictor() -> None:
    """There is a line for each predictor and the diagonal, each from 0 to all."""
    found = {"one": Calibration(np.linspace(0.005, 0.995, 100)), "sure": Calibration(np.array([0.001, 0.999]))}
    lines = _lines(coverage(found))

    assert list(lines) == ["calibrated", "one", "sure"]
    assert np.abs(np.array(lines["one"]) - np.linspace(0, 1, 101)).max() < 0.02
    assert lines["sure"][95] == 0
    assert lines["sure"][-1] == lines["one"][-1] == 1


def test_tenths_of_the_forecasts() -> None:
    """Bars are the shares of forecasts in each tenth."""
    axes = reached(Calibration(np.array([0.05, 0.06, 0.55, 1.0])))
    heights = [bar.get_height() for bar in list[Any](axes.patches)]
    assert heights == [0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0.25]
