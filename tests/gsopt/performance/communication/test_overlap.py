"""Overlap of communication with the backward pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.communication import Collective, Layer, exposed, penalty

TIMES = st.integers(0, 50).map(float)
LAYERS = st.lists(
    st.builds(Layer, forward=TIMES, input_gradient=TIMES, weight_gradient=TIMES, size=TIMES),
    min_size=1,
    max_size=6,
)
COLLECTIVES = st.builds(Collective, latency=TIMES, per_byte=TIMES)


def by_hand() -> list[Layer]:
    """Two layers whose all-reduces take 5 and 7 seconds at a latency of 4 and 1 second per byte."""
    return [
        Layer(forward=1, input_gradient=2, weight_gradient=3, size=1),
        Layer(forward=10, input_gradient=4, weight_gradient=5, size=3),
    ]


def test_two_layers_by_hand() -> None:
    """The second layer sends from 16 to 23, the first one, ready at 23, until 28; all is computed at 25."""
    assert exposed(by_hand(), Collective(latency=4, per_byte=1)) == 3.0
    assert penalty(by_hand(), Collective(latency=4, per_byte=1)) == 3 / 25


def test_the_network_waits_for_a_layer_and_a_layer_for_the_network() -> None:
    """A slow layer leaves a pause on the network; a slow network lets the all-reduces queue."""
    assert exposed(by_hand(), Collective(latency=1)) == 0
    assert exposed(by_hand(), Collective(latency=20)) == 16 + 2 * 20 - 25


def test_scaled_computation_hides_less() -> None:
    """At half the computing times, the same all-reduces end at 8 + 7 + 5 instead of 12.5."""
    assert exposed(by_hand(), Collective(latency=4, per_byte=1), scale=0.5) == 7.5


@given(layers=LAYERS, collective=COLLECTIVES)
def test_the_last_all_reduces_run_without_a_pause(layers: list[Layer], collective: Collective) -> None:
    """What is exposed is the largest excess of the first k all-reduces over the computation beside them."""
    excess = [0.0]
    sending = beside = 0.0
    for layer in layers:
        sending += collective.seconds(layer.size)
        excess.append(sending - beside - layer.input_gradient)
        beside += layer.input_gradient + layer.weight_gradient

    assert exposed(layers, collective) == max(excess)


@given(layers=LAYERS, collective=COLLECTIVES, floor=st.floats(0, 10))
def test_a_floor_is_the_least_penalty(layers: list[Layer], collective: Collective, floor: float) -> None:
    """A penalty is that of the model or the floor, whichever is larger."""
    layers = [*layers, Layer(forward=1, input_gradient=1, weight_gradient=1, size=1)]

    assert penalty(layers, collective, floor=floor) == max(floor, penalty(layers, collective))


@given(layers=LAYERS, collective=COLLECTIVES, factor=st.floats(0.01, 100))
def test_what_counts_is_communication_per_computation(
    layers: list[Layer], collective: Collective, factor: float
) -> None:
    """Slower links and slower computation by one factor leave the penalty as it is."""
    layers = [*layers, Layer(forward=1, input_gradient=1, weight_gradient=1, size=1)]
    slower = Collective(latency=collective.latency * factor, per_byte=collective.per_byte * factor)
    once, again = penalty(layers, collective), penalty(layers, slower, scale=factor)

    assert abs(once - again) <= SUM * (1 + once)


def test_bad_options_are_refused() -> None:
    """A scale is above 0, a floor at least 0, and a model computes for some time."""
    layers, idle = by_hand(), Layer(forward=0, input_gradient=0, weight_gradient=0, size=1)
    with pytest.raises(InvalidInput, match=r"^scale: 0: must be more than 0$"):
        exposed(layers, Collective(latency=1), scale=0)
    with pytest.raises(InvalidInput, match=r"^floor: -0.1: must be at least 0$"):
        penalty(layers, Collective(latency=1), floor=-0.1)
    with pytest.raises(InvalidInput, match=r"^layers: 0.0: must compute for some time$"):
        penalty([idle], Collective(latency=1))
