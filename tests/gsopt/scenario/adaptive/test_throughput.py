"""Step times and goodput, and fits of them, against the authors' program."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import LOCAL_BATCH, SUM
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.throughput import LEAST_SECONDS, ThroughputModel
from tests.effort import cases

# Step times and goodput, against figures of the authors' program and a search of every batch


#: What the authors' program fitted to six measurements, and what it then gives.
MODEL = ThroughputModel(
    compute=0.038391894416731076,
    compute_per_sample=0.005358379086234994,
    across=0.18374132157585557,
    across_per_gpu=0.013563622987334347,
    within=0.04032860990124549,
    within_per_gpu=0.02403094453561732,
    overlap=1.0000534421160907,
)
GRADIENT = Gradient(sqr=0.02, var=1.5)
LIMITS = Limits(initial_batch=64, most_batch=2048, least_local=8, most_local=96)

MODELS = st.builds(
    ThroughputModel,
    **dict.fromkeys(list(ThroughputModel.model_fields)[:-1], st.floats(1e-6, 1.0)),
    overlap=st.floats(1.0, 10.0),
)
LIMITED = st.builds(
    lambda initial, times, least, more: Limits(
        initial_batch=initial, most_batch=initial * times, least_local=least, most_local=least + more
    ),
    initial=st.integers(1, 200),
    times=st.integers(1, 30),
    least=st.integers(1, 40),
    more=st.integers(0, 200),
)
GRADIENTS = st.builds(Gradient, sqr=st.floats(1e-6, 10), var=st.floats(1e-6, 10))


def test_the_best_batches_are_those_of_the_authors() -> None:
    """Goodput, local batch and accumulations on seven shapes are what the authors' program gives."""
    best = MODEL.goodput([1, 1, 1, 1, 2, 3, 5], [1, 2, 3, 4, 7, 12, 40], GRADIENT, LIMITS)
    expected = [
        169.03456786,
        314.4465625,
        445.60248485,
        561.90434231,
        784.01013957,
        1109.9036638,
        1447.13618542,
    ]
    assert best.goodput == pytest.approx(expected, rel=SUM)
    assert best.local.tolist() == [93, 93, 95, 96, 96, 86, 52]
    assert best.steps.tolist() == [1, 0, 0, 1, 1, 1, 0]


def test_noise_and_computing() -> None:
    """Many GPUs have the least local batch, only variance makes samples count, and computing takes time."""
    best = MODEL.goodput(1, 300, GRADIENT, LIMITS)
    assert (best.goodput, best.local, best.steps) == (pytest.approx(222.62545102, rel=SUM), 8, 0)
    batch = LIMITS.model_copy(update={"initial_batch": 8, "most_batch": 64, "most_local": 64})
    noisy, exact, flat = (
        MODEL.goodput(2, 8, Gradient(sqr=sqr, var=var), batch) for sqr, var in ((0, 1), (1, 0), (0, 0))
    )
    assert noisy.goodput == pytest.approx(64 / MODEL.step_time(2, 8, 8))
    assert exact.goodput == flat.goodput == pytest.approx(8 / MODEL.step_time(2, 8, 8))
    with pytest.raises(ValidationError, match="compute_per_sample is 0"):
        ThroughputModel(**{**MODEL.model_dump(), "compute": 0.0, "compute_per_sample": 0.0})


@settings(max_examples=cases(200), deadline=None)
@given(model=MODELS, gradient=GRADIENTS, limits=LIMITED, gpus=st.integers(1, 40), spread=st.booleans())
def test_the_best_batch_is_the_best_of_fifty(
    model: ThroughputModel, gradient: Gradient, limits: Limits, gpus: int, spread: bool
) -> None:
    """No batch of the fifty has a better goodput, by plain arithmetic; and the chosen one has the one given."""
    nodes = 2 if spread and gpus > 1 else 1
    best = model.goodput(nodes, gpus, gradient, limits)
    start = max(limits.initial_batch, limits.least_local * gpus)
    worth = {}
    for batch in np.geomspace(start, limits.most_batch, 50).tolist():
        steps = ceil(batch / gpus / limits.most_local - LOCAL_BATCH) - 1
        if gpus == 1 and batch > limits.initial_batch + LOCAL_BATCH:
            steps = max(steps, 1)
        local = ceil(batch / gpus / (steps + 1) - LOCAL_BATCH)
        if limits.least_local <= local <= limits.most_local:
            worth[local, steps] = plain_goodput(model, gradient, limits, nodes, gpus, local, steps)
    assert best.goodput == pytest.approx(max(worth.values(), default=0.0), rel=SUM)
    assert not worth or worth[best.local, best.steps] == pytest.approx(best.goodput, rel=SUM)


def plain_goodput(
    model: ThroughputModel, gradient: Gradient, limits: Limits, nodes: int, gpus: int, local: int, steps: int
) -> float:
    """Return the goodput of one batch, number by number."""
    computing = model.compute + model.compute_per_sample * local
    base, each = (model.across, model.across_per_gpu) if nodes > 1 else (model.within, model.within_per_gpu)
    beyond = max(gpus - 2, LEAST_SECONDS)  # never 0, as in the authors' program
    exchange = base + each * beyond if gpus > 1 else LEAST_SECONDS
    norm = float(np.linalg.norm([computing, exchange], model.overlap))
    batch = gpus * local * (steps + 1)
    noise = gradient.var / gradient.sqr * limits.initial_batch
    efficiency = (noise + limits.initial_batch) / (noise + batch)
    return batch / (steps * computing + norm) * efficiency


@given(model=MODELS, gradient=GRADIENTS, limits=LIMITED)
def test_arrays_are_numbers_side_by_side(model: ThroughputModel, gradient: Gradient, limits: Limits) -> None:
    """Asked for many shapes at once, the model gives what it gives for each."""
    nodes, gpus = np.array([[1, 1], [2, 3]]), np.array([[1, 4], [4, 9]])
    best = model.goodput(nodes, gpus, gradient, limits)
    assert best.goodput.shape == best.local.shape == (2, 2)
    for place in np.ndindex(2, 2):
        alone = model.goodput(int(nodes[place]), int(gpus[place]), gradient, limits)
        assert (alone.goodput, alone.local, alone.steps) == tuple(each[place] for each in best)


@given(model=MODELS, gradients=st.lists(GRADIENTS, min_size=1, max_size=4), limits=LIMITED)
def test_gradients_are_numbers_side_by_side(
    model: ThroughputModel, gradients: list[Gradient], limits: Limits
) -> None:
    """Asked for many gradients at once, the model gives the best goodput that it gives for each."""
    nodes, gpus = [1, 1, 2], [1, 4, 9]
    rows = model.goodputs(nodes, gpus, [*gradients, gradients[0]], limits)
    for row, gradient in zip(rows, [*gradients, gradients[0]], strict=True):
        assert row.tolist() == model.goodput(nodes, gpus, gradient, limits).goodput.tolist()


@given(model=MODELS, local=st.integers(1, 100), gpus=st.integers(2, 64))
def test_a_step_lasts_between_the_longer_part_and_both(model: ThroughputModel, local: int, gpus: int) -> None:
    """Computation and exchange overlap in part, and each accumulation adds a computation."""
    computing, exchange = model.computation(local), model.exchange(2, gpus)
    step = model.step_time(2, gpus, local)
    assert max(computing, exchange) * (1 - SUM) <= step <= (computing + exchange) * (1 + SUM)
    assert model.step_time(2, gpus, local, 3) == pytest.approx(step + 3 * computing, rel=SUM)


# Fits, against the loss that the authors' program reaches on the same measurements


MEASURED = [
    Measurement(nodes=1, gpus=1, local=32, step=0.21, sync=0.004),
    Measurement(nodes=1, gpus=1, local=64, step=0.38, sync=0.005),
    Measurement(nodes=1, gpus=2, local=32, step=0.25, sync=0.04),
    Measurement(nodes=1, gpus=4, local=64, step=0.47, sync=0.09),
    Measurement(nodes=2, gpus=5, local=48, step=0.52, sync=0.21),
    Measurement(nodes=3, gpus=9, local=64, step=0.66, sync=0.26),
]

#: The loss of the model that the authors' program gives for the first so many of them.
LOSSES = {1: 0.03923131570, 2: 0.03651179710, 3: 0.01349055268, 4: 0.01883359743, 6: 0.03450962362}


def loss(model: ThroughputModel, measured: list[Measurement]) -> float:
    """Return the loss of a model, number by number."""
    errors = [
        (
            np.log(model.computation(each.local) / (each.step - each.sync)),
            np.log(model.step_time(each.nodes, each.gpus, each.local) / each.step),
        )
        for each in measured
    ]
    ratios = (model.across_per_gpu / model.across, model.within_per_gpu / model.within)
    spread = np.sqrt((np.array(errors) ** 2).mean(axis=0)).sum()
    return float(spread + 1e-3 * (model.overlap - 1) ** 2 + 1e-2 * sum(ratio**2 for ratio in ratios))


@pytest.mark.parametrize("number", LOSSES)
def test_fits_are_as_good_as_the_authors(number: int) -> None:
    """The loss of a fit exceeds that of the authors' program by no more than a millionth."""
    assert loss(fit(MEASURED[:number]), MEASURED[:number]) <= LOSSES[number] * (1 + 1e-6)


def test_fits() -> None:
    """Exchanges never seen are cheap, and a larger tolerance never gives a better fit."""
    alone, together = fit(MEASURED[:1]), fit(MEASURED[:4])
    assert alone.compute == pytest.approx((0.21 - 0.004) / 2)
    assert alone.exchange([1, 2], [4, 8]).max() < 1e-6
    assert together.across == 1.1 * together.within
    assert together.across_per_gpu == 1.1 * together.within_per_gpu
    rough, fine = fit(MEASURED, tolerance=1e-2), fit(MEASURED)
    assert loss(rough, MEASURED) > loss(fine, MEASURED)


@settings(max_examples=cases(24), deadline=None)
@given(measured=st.lists(st.sampled_from(MEASURED), min_size=1, unique=True), slower=st.floats(0.01, 100))
def test_a_fit_is_no_worse_than_where_it_begins(measured: list[Measurement], slower: float) -> None:
    """However long steps take, the search for a model ends no worse than it begins."""
    measured = [each._replace(step=slower * each.step, sync=slower * each.sync) for each in measured]
    begin = ThroughputModel(
        compute=0.1,
        compute_per_sample=0.01,
        across=0.1,
        across_per_gpu=0.01,
        within=0.1,
        within_per_gpu=0.01,
        overlap=1.001,
    )
    fixed = 0.02  # what seconds of 1e-8 that were never measured cost, as they are equal
    assert loss(fit(measured), measured) <= loss(begin, measured) + fixed


@settings(max_examples=cases(24), deadline=None)
@given(order=st.permutations(MEASURED))
def test_fits_stay_within_their_limits(order: list[Measurement]) -> None:
    """Whatever was measured first, seconds are positive, and the overlap is one of 1 to 10."""
    for number in range(1, len(order) + 1):
        model = fit(order[:number])
        assert min(model.model_dump().values()) > 0
        assert 1 <= model.overlap <= 10


@pytest.mark.parametrize(
    ("measured", "field"),
    [([], "measurements"), ([*MEASURED, Measurement(1, 1, 8, 0.1, 0.1)], r"measurements\[6\]")],
)
def test_what_cannot_be_fitted_is_refused(measured: list[Measurement], field: str) -> None:
    """Without measurements, or without computation, one line says which field is wrong."""
    with pytest.raises(InvalidInput, match=field):
        fit(measured)
