"""Calibration, on made-up models and on Table I."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.communication import Collective, Layer, fit_collective, fit_scale, penalty
from gsopt.scenario.speed import TIER_PENALTIES
from tests.gsopt.performance.communication.layers import layers_of

#: The models of Table I whose layers are all at hand: BERT's are listed in part.
NETWORKS = ("vgg11", "alexnet", "mobilenetv3", "resnet18", "resnet50")

TIMES = st.integers(1, 50).map(float)
COLLECTIVES = st.builds(Collective, latency=TIMES, per_byte=TIMES)


@given(layers=layers_of(TIMES), collective=COLLECTIVES, measured=st.floats(1e-6, 1e6))
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


#: What one all-reduce takes between racks, with which the factors below are those of the published simulator.
BETWEEN_RACKS = Collective(latency=2.49e-4, per_byte=3e-13)


def _scales(models: Mapping[str, tuple[Layer, ...]]) -> dict[str, float]:
    """Calibrate each model by itself on the network column."""
    return {model: fit_scale(models[model], BETWEEN_RACKS, TIER_PENALTIES[model].network) for model in NETWORKS}


def test_the_network_column_of_table_1(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """One all-reduce explains it, with a factor for each model that makes it compute 25 to 1,000 times less.

    A factor explains any penalty, so what is tested is that the factors are of that size, and found together.
    """
    measured = {model: TIER_PENALTIES[model].network for model in NETWORKS}
    scales = _scales(models)
    fit = fit_collective(models, measured, scales)
    assert all(abs(fit.penalties[model] / measured[model] - 1) <= 0.05 for model in NETWORKS)
    assert abs(fit.collective.latency / BETWEEN_RACKS.latency - 1) < 0.05
    assert 1 / 1000 < min(scales.values()) < max(scales.values()) < 1 / 25


@pytest.mark.parametrize(("tier", "spread"), [("rack", 0.27), ("machine", 1.1)])
def test_the_other_columns_fit_to_a_factor(
    models: Mapping[str, tuple[Layer, ...]], tier: str, spread: float
) -> None:
    """Rack and machine are explained to a factor of two and of ten, without the 12 % of ResNet-50."""
    scales = _scales(models)
    measured = {model: getattr(TIER_PENALTIES[model], tier) for model in NETWORKS if model != "resnet50"}
    fit = fit_collective(models, measured, scales)
    assert 0.25 < fit.spread < spread
    assert penalty(models["resnet50"], fit.collective, scale=scales["resnet50"]) < 0.01


def test_models_that_never_wait_send_in_no_time() -> None:
    """If nothing hides the last all-reduce and no model waits, the only explanation is that sending is free."""
    bare = Layer(forward=1, input_gradient=0, weight_gradient=3, size=10)
    for layers in ([bare], [bare, bare.model_copy(update={"input_gradient": 2.0})]):
        fit = fit_collective({"a": layers}, {"a": 0.0}, {})
        assert fit.collective == Collective(latency=0)
        assert fit.penalties == {"a": penalty(layers, fit.collective)} == {"a": 0.0}
        assert fit.spread == 0


def test_a_model_that_never_waits_does_not_spoil_the_fit_of_others() -> None:
    """The starting point comes from the models that allow some time for sending."""
    bare = Layer(forward=1, input_gradient=0, weight_gradient=3, size=10)
    models = {"a": [bare], "b": [bare], "c": [bare] * 2}
    fit = fit_collective(models, {"a": 0.0, "b": 0.0, "c": 0.5}, {})
    assert fit.penalties["c"] > 0
    assert fit.spread > 1


@pytest.mark.parametrize("measured", [-0.2, float("inf"), float("nan"), 2e6, "0.5", True])
def test_a_measured_penalty_is_a_number_in_range(measured: object) -> None:
    """A negative, infinite, huge or wordy penalty is refused by one line that names the model."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    with pytest.raises(InvalidInput, match=r"^measured\['a'\]: .*: must be from 0 to 1e\+06$"):
        fit_collective({"a": [layer]}, {"a": measured}, {})  # type: ignore[dict-item]


@pytest.mark.parametrize("scale", [0, -1.0, float("inf"), float("nan"), 1e13])
def test_a_scale_is_a_number_in_range(scale: float) -> None:
    """A factor for computing times is above 0 and not huge; the error names the model."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    with pytest.raises(InvalidInput, match=r"^scales\['a'\]: .*: must be more than 0 and at most 1e\+12$"):
        fit_collective({"a": [layer]}, {"a": 0.5}, {"a": scale})


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
    idle = Layer(forward=0, input_gradient=0, weight_gradient=0, size=1)
    for layers in ([silent], [idle]):
        with pytest.raises(InvalidInput, match=r"^models: 1: must compute and send for some time$"):
            fit_collective({"a": layers}, {"a": 0.5}, {})
