"""Fitting: the fit of a throughput model to step times that a job has measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.adaptive.threads import one_thread
from gsopt.scenario.adaptive.throughput import LEAST_SECONDS, ThroughputModel

_Floats = NDArray[np.float64]

#: Starting point and lower and upper limits of the search, in the order of the model's fields.
_START = (0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001)
_LEAST = (*(LEAST_SECONDS,) * 6, 1.0)
_MOST = (*(np.inf,) * 6, 10.0)

#: Indices of the model's fields.
_COMPUTE, _COMPUTE_EACH, _ACROSS, _ACROSS_EACH, _WITHIN, _WITHIN_EACH, _OVERLAP = range(7)

#: Weights of the loss terms that do not measure errors: the square of overlap - 1, and the squares of the
#: ratios of exchange time per additional GPU to base exchange time.
_SIMPLE, _OPTIMISTIC = 1e-3, 1e-2

#: Minimum ratio of exchange times between nodes to those within a node, which applies as long as none are
#: measured between nodes.
_SLOWER = 1.1

#: Largest number of cached fits; a day of Pollux's 160 jobs needs several hundred.
_REMEMBERED = 4096


class Measurement(NamedTuple):
    """The duration of a job's step in one configuration, not including gradient accumulations."""

    nodes: int
    gpus: int
    local: int  # samples that each GPU processed at once
    step: float  # seconds
    sync: float  # seconds of the step in which GPUs exchanged gradients without computing


def fit(measurements: Sequence[Measurement], *, tolerance: float | None = None) -> ThroughputModel:
    """Fit a throughput model to measured step times, one measurement for each configuration.

    The fit minimizes the sum of two root mean square errors: that of the logarithms of computing times and that
    of the logarithms of step times. One small additional term rewards little overlap. Another one rewards
    exchange times that hardly grow with each additional GPU, so that untried configurations look promising.
    Exchanges that were never measured are assumed to take almost no time or, between nodes, 1.1 times as long
    as within one node. If only one local batch size was measured, half of the mean computing time is assumed
    to be constant.

    Source: Pollux (OSDI 2021), section 4.1; loss, starting point and limits as in the authors' program.

    The search is local. In about one of fifty random cases, its result depends on the order of the
    measurements. Jobs pass their measurements in the order in which these were made, as in the authors'
    program. The search typically takes 10 to 100 evaluations of the loss and its gradient, each in time linear
    in the number of measurements. It ends when the change of the loss, or its gradient, falls below
    `tolerance`. If `tolerance` is None, scipy's defaults are used, as in the program of Pollux: 2e-9 for the
    change, and 1e-5 for the gradient. Sia's program uses 1e-5 for both.
    """
    return _fitted(tuple(measurements), tolerance)


@lru_cache(maxsize=_REMEMBERED)
def _fitted(measurements: tuple[Measurement, ...], tolerance: float | None) -> ThroughputModel:
    """Fit a model. Fits are cached, because jobs of one application often have the same measurements."""
    from scipy.optimize import Bounds, minimize

    measured = _Measurements.of(measurements)
    start, least, most = _limits(measured)
    bounds = Bounds(least, most, keep_feasible=True)
    with one_thread():  # on several it takes twenty times as long
        found = minimize(measured.loss, start, jac=True, bounds=bounds, method="L-BFGS-B", tol=tolerance).x
    if not (measured.nodes > 1).any():
        for across, within in ((_ACROSS, _WITHIN), (_ACROSS_EACH, _WITHIN_EACH)):
            found[across] = max(found[across], _SLOWER * found[within])
    return ThroughputModel(**dict(zip(ThroughputModel.model_fields, found.tolist(), strict=True)))


@dataclass(frozen=True, eq=False)
class _Measurements:
    """The measurements as arrays. Computing and exchange times are linear in the first six parameters."""

    nodes: _Floats
    gpus: _Floats
    local: _Floats
    computing: _Floats
    step: _Floats
    computes: _Floats  # shape (measurements, parameters)
    exchanges: _Floats

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> "_Measurements":
        if not measurements:
            raise InvalidInput("measurements", "none", "must be at least one")
        nodes, gpus, local, step, sync = np.array(measurements, dtype=np.float64).T
        if not (step > sync).all() or not (step > 0).all():
            worst = int((step - sync).argmin())
            raise InvalidInput(f"measurements[{worst}].step", shorten(step[worst]), "must be above its sync")
        beyond = np.maximum(gpus - 2, LEAST_SECONDS)
        several, single = nodes > 1, (nodes <= 1) & (gpus > 1)
        computes, exchanges = np.zeros((2, len(step), len(_START)))
        computes[:, _COMPUTE], computes[:, _COMPUTE_EACH] = 1.0, local
        exchanges[:, _ACROSS], exchanges[:, _ACROSS_EACH] = several, several * beyond
        exchanges[:, _WITHIN], exchanges[:, _WITHIN_EACH] = single, single * beyond
        return cls(nodes, gpus, local, step - sync, step, computes, exchanges)

    def loss(self, parameters: _Floats) -> tuple[float, _Floats]:
        """Return the loss and its gradient at the given parameters."""
        overlap = parameters[_OVERLAP]
        computing = self.computes @ parameters
        exchange = self.exchanges @ parameters + (self.gpus <= 1) * LEAST_SECONDS
        logs = np.log(computing), np.log(exchange)
        together = np.logaddexp(overlap * logs[0], overlap * logs[1])
        parts = [np.exp(overlap * log - together) for log in logs]
        steps = (
            self.computes * (parts[0] / computing)[:, None] + self.exchanges * (parts[1] / exchange)[:, None]
        )
        steps[:, _OVERLAP] = (parts[0] * logs[0] + parts[1] * logs[1] - together / overlap) / overlap
        first = _root_mean_square(logs[0] - np.log(self.computing), self.computes / computing[:, None])
        second = _root_mean_square(together / overlap - np.log(self.step), steps)
        prior = _prior(parameters)
        return first[0] + second[0] + prior[0], first[1] + second[1] + prior[1]


def _root_mean_square(errors: _Floats, slopes: _Floats) -> tuple[float, _Floats]:
    """Return the root mean square of errors and its gradient, which is 0 if all errors are 0."""
    size = float(np.sqrt((errors**2).mean()))
    slope: _Floats = errors @ slopes / (len(errors) * size) if size else np.zeros(slopes.shape[1])
    return size, slope


def _prior(parameters: _Floats) -> tuple[float, _Floats]:
    """Return the part of the loss that does not depend on measurements, and its gradient."""
    loss = _SIMPLE * (parameters[_OVERLAP] - 1) ** 2
    slope = np.zeros(len(parameters))
    slope[_OVERLAP] = 2 * _SIMPLE * (parameters[_OVERLAP] - 1)
    for base, each in ((_ACROSS, _ACROSS_EACH), (_WITHIN, _WITHIN_EACH)):
        ratio = parameters[each] / parameters[base]
        loss += _OPTIMISTIC * ratio**2
        slope[each] = 2 * _OPTIMISTIC * ratio / parameters[base]
        slope[base] = -2 * _OPTIMISTIC * ratio**2 / parameters[base]
    return float(loss), slope


def _limits(measured: _Measurements) -> tuple[Any, Any, Any]:
    """Return the starting point and the limits of the search. Parameters without measurements are fixed."""
    start, least, most = np.array([_START, _LEAST, _MOST])
    if (measured.local == measured.local[0]).all():
        start[_COMPUTE] = least[_COMPUTE] = most[_COMPUTE] = measured.computing.mean() / 2
    unknown = set()
    if not (measured.nodes > 1).any():
        unknown |= {_ACROSS, _ACROSS_EACH}
    if not ((measured.nodes <= 1) & (measured.gpus > 1)).any():
        unknown |= {_WITHIN, _WITHIN_EACH}
    if not (measured.gpus > 2).any():  # noqa: PLR2004 - the model counts GPUs beyond two
        unknown |= {_ACROSS_EACH, _WITHIN_EACH}
    for place in unknown:
        start[place] = most[place] = least[place]
    return start, least, most
