"""Calibration, on made-up models and on Table I."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.communication import Collective, Layer, fit_collective, fit_scale, penalty
from gsopt.errors import InvalidInput
from gsopt.speed import TIER_PENALTIES
from gsopt.tolerances import SUM

#: Factors of computing times of the simulator's own calibration (Dally, section IV-C2); the paper prints none.
SCALES = {
    "vgg11": 0.01549,
    "alexnet": 0.0199,
    "mobilenetv3": 0.00639,
    "resnet18": 0.001223,
    "resnet50": 0.03395,
}

TIMES = st.integers(1, 50).map(float)
LAYERS = st.lists(
    st.builds(Layer, forward=TIMES, input_gradient=TIMES, weight_gradient=TIMES, size=TIMES),
    min_size=1,
    max_size=6,
)


@given(
    layers=LAYERS,
    collective=st.builds(Collective, latency=TIMES, per_byte=TIMES),
    measured=st.floats(1e-6, 1e6),
)
def test_a_fitted_scale_gives_what_was_measured(
    layers: list[Layer], collective: Collective, measured: float
) -> None:
    """With the fitted factor of the computing times, the penalty is the measured one."""
    scale = fit_scale(layers, collective, measured)

    assert abs(penalty(layers, collective, scale=scale) - measured) <= SUM * (1 + measured)


def test_a_fit_finds_the_truth() -> None:
    """Penalties that some collective made are explained by it, also those that are 0."""
    truth = Collective(latency=5e-4, per_byte=2e-10)
    even = [Layer(forward=1e-3, input_gradient=1e-3, weight_gradient=1e-3, size=size) for size in (1e5, 1e7)]
    models = {"small": even[:1] * 9, "large": even[1:] * 4, "mixed": even * 3, "quiet": even[:1]}
    scales = {"small": 0.1, "large": 0.5}
    measured = {name: penalty(models[name], truth, scale=scales.get(name, 1.0)) for name in models}
    fit = fit_collective(models, measured, scales)

    assert measured["quiet"] == 0
    assert fit.spread < 1e-5
    assert abs(fit.collective.latency / truth.latency - 1) < 1e-3
    assert abs(fit.collective.per_byte / truth.per_byte - 1) < 1e-3


def test_the_network_column_of_table_1(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """One latency and one time per byte explain the network column of all five CNNs, within 5 %."""
    measured = {model: TIER_PENALTIES[model].network for model in SCALES}
    fit = fit_collective(models, measured, SCALES)

    assert {
        model: abs(fit.penalties[model] / measured[model] - 1) <= 0.05 for model in SCALES
    } == dict.fromkeys(SCALES, True)
    assert fit.spread < 0.0125
    assert 2.4e-4 < fit.collective.latency < 2.6e-4


@pytest.mark.parametrize(("tier", "spread"), [("rack", 0.27), ("machine", 1.1)])
def test_the_other_columns_fit_to_a_factor(
    models: Mapping[str, tuple[Layer, ...]], tier: str, spread: float
) -> None:
    """Rack and machine are explained to a factor of two and of ten, without the 12 % of ResNet-50."""
    measured = {model: getattr(TIER_PENALTIES[model], tier) for model in SCALES if model != "resnet50"}
    fit = fit_collective(models, measured, SCALES)

    assert 0.25 < fit.spread < spread
    assert penalty(models["resnet50"], fit.collective, scale=SCALES["resnet50"]) < 0.01


def test_what_cannot_be_fitted_is_refused() -> None:
    """A penalty is measured, and above 0 where it is to give a scale; models compute and send."""
    layer = Layer(forward=1, input_gradient=1, weight_gradient=1, size=1)
    silent = layer.model_copy(update={"size": 0.0})
    with pytest.raises(InvalidInput, match=r"^measured: 0: must be more than 0$"):
        fit_scale([layer], Collective(latency=1), 0)
    with pytest.raises(InvalidInput, match=r"^layers: 1: must compute and send for some time$"):
        fit_scale([silent], Collective(latency=0, per_byte=1), 0.5)
    with pytest.raises(InvalidInput, match=r"^measured: \['b'\]: must name models that have layers$"):
        fit_collective({"a": [layer]}, {"b": 0.5}, {})
    with pytest.raises(InvalidInput, match=r"^measured: \[\]: must name models"):
        fit_collective({"a": [layer]}, {}, {})
    with pytest.raises(InvalidInput, match=r"^models: 1: must compute and send for some time$"):
        fit_collective({"a": [silent]}, {"a": 0.5}, {})
