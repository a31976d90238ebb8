"""Applications: measurements of six models by Pollux and Sia, which determine how fast adaptive jobs run."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Point, Spread
from gsopt.scenario.adaptive.validation import Epoch, Validation
from instances.traces.profile import (
    PLACEMENT_COLUMNS,
    SPREAD_COLUMNS,
    between,
    name_of,
    point,
    spread_point,
)
from instances.traces.reading import TraceRow, read_whole_table

#: Path of the measurements in the folder of public traces.
FOLDER = Path("sia", "profiles")

#: Number of epochs until each model is trained. Source: the simulators of Pollux and Sia.
EPOCHS: Mapping[str, int] = {
    "bert": 2,
    "cifar10": 100,
    "deepspeech2": 80,
    "imagenet": 90,
    "ncf": 10,
    "yolov3": 50,
}

_EPOCH_COLUMNS = ("progress", "iteration", "grad_sqr", "grad_var")
_VALIDATION = re.compile(r"validation-([0-9]{1,9})\.csv")
_LARGEST = 1e30


def read_application(
    folder: Path, gpu: str = "aws", *, most_local: int | None = None, slowdown: float = 1.0
) -> Application:
    """Read the measurements of one model on one GPU type from the model's folder.

    The files are ``placements-<gpu>.csv``, ``scalability-<gpu>.csv`` and ``validation-<batch size>.csv``. The
    smallest validated batch size is the initial one of a job, and the largest is its upper limit. A GPU
    processes at most `most_local` samples at once, by default the largest measured number. Real runs take
    `slowdown` times as long as measured.

    Raises
    ------
    InvalidInput
        The model is unknown, a file cannot be read, or a row breaks a rule.
    """
    if folder.name not in EPOCHS:
        raise InvalidInput("model", shorten(folder.name), f"must be one of {', '.join(EPOCHS)}")
    try:
        placements, validations = _placements(folder, gpu), _validations(folder)
        locals_ = [local for placement in placements for local, _, _ in placement.points]
        return Application(
            name=folder.name,
            placements=placements,
            spread=_spread(folder, gpu),
            validations=validations,
            limits=Limits(
                initial_batch=validations[0].batch,
                most_batch=validations[-1].batch,
                least_local=min(locals_),
                most_local=most_local or max(locals_),
            ),
            epochs=EPOCHS[folder.name],
            slowdown=slowdown,
        )
    except ValidationError as error:
        raise first_error(str(folder), error) from None


def read_applications(
    home: Path,
    models: Iterable[str],
    gpu: str = "aws",
    *,
    most_local: Mapping[str, int],
    slowdowns: Mapping[str, float],
) -> dict[str, Application]:
    """Read the measurements of several models from their folders in `home`, as in `read_application`."""
    return {
        model: read_application(
            home / model, gpu, most_local=most_local.get(model), slowdown=slowdowns.get(model, 1.0)
        )
        for model in sorted(set(models))
    }


def on_types(measured: Mapping[str, Mapping[str, Application]]) -> dict[str, Application]:
    """Combine the measurements of the same models on one or more GPU types.

    Parameters
    ----------
    measured
        Applications, keyed by GPU type and then by model. The first type is the default type of each model.
    """
    (_, own), *others = measured.items()
    return {
        model: application.model_copy(
            update={"gpu_types": {gpu_type: _on_type(there[model]) for gpu_type, there in others}}
        )
        for model, application in own.items()
    }


def _on_type(application: Application) -> MeasuredType:
    return MeasuredType(
        placements=application.placements,
        spread=application.spread,
        least_local=application.limits.least_local,
        most_local=application.limits.most_local,
    )


def _placements(folder: Path, gpu: str) -> list[MeasuredPlacement]:
    by_shape: dict[tuple[int, ...], list[Point]] = {}
    file = folder / f"placements-{gpu}.csv"
    for row, step in read_whole_table(file, PLACEMENT_COLUMNS, point, name_of(file)):
        by_shape.setdefault(tuple(map(int, row.values["placement"])), []).append(_whole(step))
    return [MeasuredPlacement(shape=shape, points=_averaged(points)) for shape, points in by_shape.items()]


def _spread(folder: Path, gpu: str) -> list[Spread]:
    by_numbers: dict[tuple[int, int], list[Point]] = {}
    file = folder / f"scalability-{gpu}.csv"
    for _, (nodes, gpus, step) in read_whole_table(file, SPREAD_COLUMNS, spread_point, name_of(file)):
        by_numbers.setdefault((nodes, gpus), []).append(_whole(step))
    return [
        Spread(nodes=nodes, gpus=gpus, points=_averaged(points)) for (nodes, gpus), points in by_numbers.items()
    ]


def _averaged(points: Iterable[Point]) -> list[Point]:
    """Return the mean of the measurements for each batch size.

    Most batch sizes were measured twice on ``dgx-ext``.
    """
    by_batch: dict[int, list[Point]] = {}
    for each in points:
        by_batch.setdefault(each[0], []).append(each)
    return [
        (local, fmean(seconds for _, seconds, _ in same), fmean(sync for _, _, sync in same))
        for local, same in sorted(by_batch.items())
    ]


def _whole(step: tuple[float, float, float]) -> Point:
    local, seconds, sync = step
    return int(local), seconds, sync


def _validations(folder: Path) -> list[Validation]:
    found = []
    for file in folder.glob("validation-*.csv"):
        name = _VALIDATION.fullmatch(file.name)
        if name:
            epochs = read_whole_table(file, _EPOCH_COLUMNS, _epoch, name_of(file))
            found.append(Validation(batch=int(name[1]), epochs=[epoch for _, epoch in epochs]))
    if not found:
        raise InvalidInput("", "", "must hold validation-<batch size>.csv", source=str(folder))
    return sorted(found, key=lambda each: each.batch)


def _epoch(row: TraceRow) -> Epoch:
    progress, iterations, sqr, var = (between(row, column, 0, _LARGEST) for column in _EPOCH_COLUMNS)
    return Epoch(progress=progress, iterations=iterations, sqr=sqr, var=var)
