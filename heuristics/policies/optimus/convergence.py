"""Convergence: the remaining work of a training job, predicted from the losses observed so far."""

from collections.abc import Iterable, Sequence

import numpy as np

from gsopt.simulation.policy import State

#: Number of final losses, below all observed ones, to try; and number of losses that a fit needs.
_TRIED, _NEEDED = 64, 3


class Convergence:
    """A predictor of the remaining work of training jobs, based on the losses observed at decisions.

    Source: Optimus (EuroSys 2018), section 3.1. In the paper, a job ends when its loss decreases by less
    than a threshold. Here, it ends when it reaches its user's target loss.
    """

    def __init__(self) -> None:
        self._seen: dict[int, list[tuple[float, float]]] = {}

    def forget(self, job: int) -> None:
        """Forget a completed job."""
        self._seen.pop(job, None)

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Record the current losses of jobs that have made progress since the last call."""
        for job in jobs:
            observed = state.observed(job)
            if observed is not None:
                point, seen = (float(observed.samples), observed.loss), self._seen.setdefault(job, [])
                if not seen or point[0] > seen[-1][0]:
                    seen.append(point)

    def left(self, state: State, job: int) -> float | None:
        """Return a job's remaining seconds of work, or None while it cannot be predicted."""
        item, seen = state.jobs[job], self._seen.get(job, [])
        if item.training is None or len(seen) < _NEEDED:
            return None
        total = samples_until(seen, item.training.loss)
        if total is None:
            return None
        return max(total - seen[-1][0], 0.0) * item.duration / item.training.samples


def samples_until(seen: Sequence[tuple[float, float]], target: float) -> float | None:
    """Return the samples after which a fitted loss reaches a target, or None if there is no such fit.

    `seen` has at least two pairs of samples and losses. The model of the loss after k samples is
    1 / (a k + b) + c, with a > 0 and c at least 0, but below all losses and the target. For each of several
    values of c, the line a k + b is fitted by least squares to 1 / (loss - c). The c with the smallest squared
    error of the losses is chosen.
    """
    if target <= 0:
        return None
    samples = np.array([point[0] for point in seen])
    losses = np.array([point[1] for point in seen])
    best: tuple[float, float] | None = None
    for final in np.linspace(0.0, min(float(losses.min()), target), _TRIED, endpoint=False):
        slope, offset = np.polyfit(samples, 1 / (losses - final), 1)
        line = slope * samples + offset
        if slope <= 0 or line.min() <= 0:
            continue
        error = float(np.square(1 / line + final - losses).sum())
        if best is None or error < best[0]:
            best = (error, float((1 / (target - final) - offset) / slope))
    return None if best is None else best[1]
