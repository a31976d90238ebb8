"""Projection: the goodput that a job expects on any GPU type, even one on which it has never run."""

from typing import Any

from gsopt.scenario.adaptive.view import TraineeView


def projected_goodput(
    trainee: TraineeView, gpu_type: str, nodes: Any, gpus: Any, most_batch: int | None = None
) -> Any:
    """Return the best goodput that a job expects on a GPU type, or None if it has not worked yet.

    On a type on which the job has worked, its throughput model for that type predicts the goodput. On any other
    type, the prediction for the first type on which the job worked is multiplied by the ratio of the two types'
    speeds on a single GPU, which are known from profiling.

    Source: Sia (SOSP 2023), section 3.2, and its authors' simulator, where the speed of a GPU is measured at
    the largest batch size.

    Parameters
    ----------
    trainee
        The job.
    gpu_type
        Type of the GPUs; ignored if the application does not distinguish types.
    nodes, gpus
        Numbers of nodes and GPUs.
    most_batch
        Largest batch size; None for the limit of the application.
    """
    application = trainee.application
    known = next((kind for kind in (gpu_type, *trainee.worked_on) if trainee.model_on(kind) is not None), None)
    if known is None or trainee.gradient is None:
        return None
    model = trainee.model_on(known)
    assert model is not None  # noqa: S101 - it is known
    limits = application.on(known).limits
    if most_batch is not None:
        limits = limits.model_copy(update={"most_batch": most_batch})
    found = model.goodput(nodes, gpus, trainee.gradient, limits).goodput
    if application.kind(known) == application.kind(gpu_type):
        return found
    return found * (application.on(gpu_type).single_speed / application.on(known).single_speed)
