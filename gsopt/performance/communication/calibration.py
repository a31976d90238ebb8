"""Calibration: communication and computing times, fitted to measured penalties.

`fit_scale` scales the computing times of one model, and `fit_collective` fits a latency and a time per byte to
the penalties of several models on one tier. Source of the former: Dally, section IV-C2, where computing times
are scaled until the simulated latency equals the measured one.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, log10, sqrt
from statistics import median
from typing import Annotated, Any

from pydantic import Field

from gsopt.core.errors import number_of, require
from gsopt.core.numbers.tolerances import FITTED, UNMEASURED_PENALTY
from gsopt.core.problem import Frozen
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.layers import Layer
from gsopt.performance.communication.overlap import penalty

#: Largest measured penalty, as in `gsopt.scenario.speed.TierPenalty`, and largest factor for computing times.
_LARGEST_PENALTY, _LARGEST_SCALE = 1e6, 1e12

#: Starting points of the fit: fractions of the latency, and of the time per byte, that could explain a penalty
#: alone.
_STARTS = ((1.0, 1e-3), (0.5, 0.5), (1e-3, 1.0))


class Fit(Frozen):
    """A fitted collective, and how well it fits.

    Attributes
    ----------
    collective
        Latency and time per byte of the collective.
    penalties
        Exposed communication time per unit of computing time, computed with the collective, keyed by model.
    spread
        Root mean square of the decimal logarithms of the ratios of modelled to measured penalties, after 1e-4
        is added to both. A spread of 0.01 corresponds to 2 %, and 0.3 to a factor of two.

    Examples
    --------
    >>> Fit(collective=Collective(latency=1e-3), penalties={"a": 0.5}, spread=0.01).penalties["a"]
    0.5
    """

    collective: Collective
    penalties: Mapping[str, float]
    spread: Annotated[float, Field(ge=0)]


def fit_collective(
    models: Mapping[str, Sequence[Layer]], measured: Mapping[str, float], scales: Mapping[str, float]
) -> Fit:
    """Fit a latency and a time per byte to the measured penalties of several models.

    The fit uses least squares on logarithms, because penalties range over several orders of magnitude.

    Parameters
    ----------
    models
        Layers of each model, keyed by model.
    measured
        Exposed communication time per unit of computing time, keyed by model.
    scales
        Factors for the computing times, keyed by model; 1 for models that are left out.

    Raises
    ------
    InvalidInput
        Nothing was measured, a measured model has no layers, no computing time or nothing to send, a measured
        penalty is not from 0 to 1e6, or a scale is not positive or is more than 1e12.

    Examples
    --------
    >>> large = Layer(forward=1e-3, input_gradient=1e-3, weight_gradient=1e-3, size=1e6)
    >>> small = large.model_copy(update={"size": 1e5})
    >>> truth = Collective(latency=2e-3, per_byte=3e-9)
    >>> models = {"a": [large], "b": [small]}
    >>> fit = fit_collective(models, {name: penalty(layers, truth) for name, layers in models.items()}, {})
    >>> round(fit.collective.latency, 6), round(fit.spread, 6)
    (0.002, 0.0)
    """
    from scipy.optimize import least_squares

    has_layers = bool(measured) and measured.keys() <= models.keys()
    require(has_layers, "measured", sorted(measured), "must name models that have layers")
    for name, target in measured.items():
        scale, rule = scales.get(name, 1.0), f"must be from 0 to {_LARGEST_PENALTY:g}"
        require(0 <= number_of(target) <= _LARGEST_PENALTY, f"measured[{name!r}]", target, rule)
        rule = f"must be more than 0 and at most {_LARGEST_SCALE:g}"
        require(0 < number_of(scale) <= _LARGEST_SCALE, f"scales[{name!r}]", scale, rule)

    def given(parameters: Any) -> dict[str, float]:
        collective = _collective(parameters)
        return {name: penalty(models[name], collective, scale=scales.get(name, 1.0)) for name in measured}

    def errors(parameters: Any) -> list[float]:
        values = given(parameters)
        return [
            log10((values[name] + UNMEASURED_PENALTY) / (target + UNMEASURED_PENALTY))
            for name, target in measured.items()
        ]

    alone = [_alone(models[name], target, scales.get(name, 1.0)) for name, target in measured.items()]
    positive = [times for times in alone if min(times) > 0]
    if not positive:  # no model waits, although none computes while its last gradients are sent
        free = Collective(latency=0.0)
        return Fit(collective=free, penalties=dict.fromkeys(measured, 0.0), spread=0.0)
    latency, per_byte = (median(times) for times in zip(*positive, strict=True))
    starts = [[log10(latency * share), log10(per_byte * other)] for share, other in _STARTS]
    fits = [least_squares(errors, start, xtol=FITTED, ftol=FITTED, gtol=FITTED) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost)).x
    spread = sqrt(sum(error**2 for error in errors(best)) / len(measured))
    return Fit(collective=_collective(best), penalties=given(best), spread=spread)


def _collective(parameters: Any) -> Collective:
    latency, per_byte = (10.0 ** min(float(value), 18.0) for value in parameters)
    return Collective(latency=latency, per_byte=per_byte)


def _alone(layers: Sequence[Layer], measured: float, scale: float) -> tuple[float, float]:
    """Return the latency and the time per byte that would each explain a penalty alone."""
    computation = scale * sum(layer.computation for layer in layers)
    waiting = measured * computation
    ends = [
        (waiting + scale * beside, number, size)
        for number, (size, beside) in enumerate(_ends(layers), start=1)
        if size > 0
    ]
    works = bool(ends) and computation > 0
    require(works, "models", len(layers), "must compute and send for some time")
    return min(time / number for time, number, _ in ends), min(time / size for time, _, size in ends)


def _ends(layers: Sequence[Layer]) -> Iterator[tuple[float, float]]:
    """Yield, for every k, the first k layers' bytes and the computing time after layer k's weight gradient."""
    size = beside = 0.0
    for layer in layers:
        size += layer.size
        yield size, beside + layer.input_gradient
        beside += layer.input_gradient + layer.weight_gradient


def fit_scale(layers: Sequence[Layer], collective: Collective, measured: float) -> float:
    """Return the factor by which computing times must be scaled so that a model has the measured penalty.

    The factor is computed directly from the layers, not by a search.

    Parameters
    ----------
    layers
        The layers, in the order of the forward pass.
    collective
        Durations of the all-reduces.
    measured
        Exposed communication time per unit of computing time. It must be positive, because the factor is not
        unique for 0.

    Raises
    ------
    InvalidInput
        The measured penalty is not positive, or computing or sending takes no time.

    Examples
    --------
    >>> layers = [Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)] * 2
    >>> fit_scale(layers, Collective(latency=4, per_byte=0.1), 0.25)
    1.0
    """
    require(0 < measured < inf, "measured", measured, "must be more than 0")
    computation = sum(layer.computation for layer in layers)
    works = computation > 0 and any(collective.seconds(layer.size) > 0 for layer in layers)
    require(works, "layers", len(layers), "must compute and send for some time")
    return max(
        (number * collective.latency + size * collective.per_byte) / (beside + computation * measured)
        for number, (size, beside) in enumerate(_ends(layers), start=1)
    )
