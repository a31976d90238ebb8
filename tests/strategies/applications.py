"""Small applications whose times and trainings follow formulas."""

from functools import cache

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Point, Spread
from gsopt.scenario.adaptive.validation import Epoch, Validation

#: Local batches at which steps are measured.
LOCALS = (4, 8, 16, 32)

#: Batches with which whole trainings are known.
BATCHES = (8, 32, 128)


@cache
def application(name: str = "small", *, epochs: int = 6, length: float = 400.0) -> Application:
    """Return an application measured on up to three nodes of two GPUs, and on four by numbers."""
    shapes = [[1], [2], [1, 1], [1, 2], [2, 2], [1, 1, 2]]
    return Application(
        name=name,
        placements=[MeasuredPlacement(shape=shape, points=_points(len(shape), sum(shape))) for shape in shapes],
        spread=[Spread(nodes=4, gpus=gpus, points=_points(4, gpus)) for gpus in (4, 6, 8)],
        validations=[Validation(batch=batch, epochs=_epochs(batch, epochs, length)) for batch in BATCHES],
        limits=Limits(initial_batch=8, most_batch=128, least_local=4, most_local=32),
        epochs=epochs,
    )


def _points(nodes: int, gpus: int) -> list[Point]:
    sync = 0.0 if gpus == 1 else 0.01 * nodes + 0.002 * gpus
    return [(local, 0.05 + 0.004 * local + sync, sync) for local in LOCALS]


def _epochs(batch: int, number: int, length: float) -> list[Epoch]:
    """Return epochs in which gradients become noisier, so that larger batches pay later on."""
    more = 1 + batch / 1e5
    return [
        Epoch(
            progress=length * epoch * more,
            iterations=length * epoch * (8 / batch) ** 0.7,
            sqr=1.0 / epoch,
            var=2.0 * epoch * 8 / batch,
        )
        for epoch in range(1, number + 1)
    ]
