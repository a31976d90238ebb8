"""Fits, against the loss that the authors' program reaches on the same measurements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.throughput import ThroughputModel
from tests.effort import cases

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


def test_what_was_not_measured_is_thought_to_be_cheap() -> None:
    """Exchanges never seen take next to no time, those between nodes 1.1 times as long as those within one."""
    alone, together = fit(MEASURED[:1]), fit(MEASURED[:4])

    assert alone.compute == pytest.approx((0.21 - 0.004) / 2)
    assert alone.exchange([1, 2], [4, 8]).max() < 1e-6
    assert together.across == 1.1 * together.within
    assert together.across_per_gpu == 1.1 * together.within_per_gpu


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


def test_a_search_ends_earlier_where_less_is_asked() -> None:
    """A larger tolerance never gives a better fit of the same measurements, and none is scipy's."""
    rough, fine = fit(MEASURED, tolerance=1e-2), fit(MEASURED)

    assert loss(rough, MEASURED) > loss(fine, MEASURED)


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
