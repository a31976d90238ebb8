"""Overlap: what of the communication the backward pass does not hide."""

from collections.abc import Sequence

from gsopt.core.errors import InvalidInput, shorten
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.layers import Layer


def exposed(layers: Sequence[Layer], collective: Collective, *, scale: float = 1.0) -> float:
    """Return the seconds of an iteration in which GPUs wait for the network.

    The layers are passed backwards. As soon as a layer has its weight gradient, its all-reduce is ready; the
    all-reduces follow each other, while the layers below go on computing. What is left when the computation
    ends is exposed.

    Source: the layer-wise synchronisation of Dally, section III-A, as ASTRA-sim simulates it.

    Parameters
    ----------
    layers
        The layers, the first one of the forward pass first.
    collective
        How long the all-reduces take.
    scale
        Factor of the layers' computing times, by which a calibration fits them to a machine.

    Raises
    ------
    InvalidInput
        The scale is not above 0.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> exposed([layer, layer], Collective(latency=4, per_byte=0.1))
    3.0
    """
    require_scale(scale)
    computed = sent = scale * sum(layer.forward for layer in layers)
    for layer in reversed(layers):
        computed += scale * layer.weight_gradient
        sent = max(sent, computed) + collective.seconds(layer.size)
        computed += scale * layer.input_gradient
    return max(0.0, sent - computed)


def penalty(
    layers: Sequence[Layer], collective: Collective, *, scale: float = 1.0, floor: float = 0.0
) -> float:
    """Return the exposed communication per unit of computation, at least a floor.

    Parameters
    ----------
    layers, collective, scale
        As of `exposed`.
    floor
        What a model loses however it is placed: ResNet-50 has 12 % in Table I of Dally inside a machine and
        in a rack alike, which no time of a link explains. It is the least penalty and not added to that of
        the links, with which the 38 % on the network would be 49 %.

    Raises
    ------
    InvalidInput
        The scale is not above 0, the floor is below 0, or the layers compute nothing.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> penalty([layer, layer], Collective(latency=4, per_byte=0.1))
    0.25
    >>> penalty([layer, layer], Collective(latency=0), floor=0.12)
    0.12
    """
    computation = scale * sum(layer.computation for layer in layers)
    if not floor >= 0:
        raise InvalidInput("", "floor", shorten(floor), "must be at least 0")
    if not computation > 0:
        raise InvalidInput("", "layers", shorten(computation), "must compute for some time")
    return max(floor, exposed(layers, collective, scale=scale) / computation)


def require_scale(scale: float) -> None:
    """Refuse a factor of computing times that is none."""
    if not 0 < scale < float("inf"):
        raise InvalidInput("", "scale", shorten(scale), "must be more than 0")
