"""Overlap: the communication that the backward pass does not hide."""

from collections.abc import Sequence
from math import inf

from gsopt.core.errors import require
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.layers import Layer


def exposed(layers: Sequence[Layer], collective: Collective, *, scale: float = 1.0) -> float:
    """Return the time, in seconds, for which GPUs wait for the network in an iteration.

    The backward pass processes the layers in reverse order. The all-reduce of a layer may start as soon as its
    weight gradient is computed. All-reduces run one after another, while further layers are computed.
    Communication that remains when the computation is complete is exposed.

    Source: the layer-wise synchronization of Dally, section III-A, as simulated by ASTRA-sim.

    Parameters
    ----------
    layers
        The layers, in the order of the forward pass.
    collective
        Durations of the all-reduces.
    scale
        Positive factor for the layers' computing times, which calibrates them to a machine.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> exposed([layer, layer], Collective(latency=4, per_byte=0.1))
    3.0
    """
    require(0 < scale < inf, "scale", scale, "must be more than 0")
    computed = sent = scale * sum(layer.forward for layer in layers)
    for layer in reversed(layers):
        computed += scale * layer.weight_gradient
        sent = max(sent, computed) + collective.seconds(layer.size)
        computed += scale * layer.input_gradient
    return max(0.0, sent - computed)


def penalty(
    layers: Sequence[Layer], collective: Collective, *, scale: float = 1.0, floor: float = 0.0
) -> float:
    """Return the exposed communication time per unit of computing time, but at least `floor`.

    Parameters
    ----------
    layers, collective, scale
        As in `exposed`. The layers must have some computing time.
    floor
        Lowest penalty of a model in any placement. In Table I of Dally, ResNet-50 has the same penalty of 12 %
        inside a machine and in a rack, which the speeds of links cannot explain.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> penalty([layer, layer], Collective(latency=4, per_byte=0.1))
    0.25
    >>> penalty([layer, layer], Collective(latency=0), floor=0.12)
    0.12
    """
    computation = scale * sum(layer.computation for layer in layers)
    require(floor >= 0, "floor", floor, "must be at least 0")
    require(computation > 0, "layers", computation, "must compute for some time")
    return max(floor, exposed(layers, collective, scale=scale) / computation)
