"""Measurements: measured step times, by placement or by numbers of nodes and GPUs."""

from typing import Annotated

from pydantic import AfterValidator, Field

from gsopt.core.problem import Frozen, Gpus, Many, RuleBroken, refuse_falls

#: A measurement: samples per GPU, duration of a step in seconds, and seconds of it spent on gradient exchange.
Point = tuple[
    Annotated[int, Field(ge=1, le=10**12)],
    Annotated[float, Field(gt=0, le=1e12)],
    Annotated[float, Field(ge=0, le=1e12)],
]


#: Largest number of nodes in a measured placement.
MOST_NODES = 500


def _check_points(points: tuple[Point, ...]) -> tuple[Point, ...]:
    refuse_falls("points[{}][0]", [point[0] for point in points])
    for index, (_, step, sync) in enumerate(points):
        if sync >= step:
            raise RuleBroken(f"points[{index}][2]", sync, f"must be below the {step} s of the step")
    return points


#: Step times, in ascending order of the number of samples per GPU.
Points = Annotated[Many[Point], Field(min_length=1), AfterValidator(_check_points)]


class MeasuredPlacement(Frozen):
    """Step times measured in one placement."""

    shape: Annotated[Many[Gpus], Field(min_length=1, max_length=MOST_NODES)]  # GPUs on each node
    points: Points


class Spread(Frozen):
    """Step times measured on given numbers of nodes and GPUs, however the GPUs are spread over the nodes."""

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)]
    gpus: Gpus
    points: Points
