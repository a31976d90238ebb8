"""Placement: the steps that were measured on some GPUs."""

from typing import Annotated

from pydantic import Field, field_validator

from gsopt.core.problem import Frozen, Gpus, Many, RuleBroken

#: Samples of each GPU, seconds of a step, and seconds of it in which the GPUs exchange gradients.
Point = tuple[
    Annotated[int, Field(ge=1, le=10**12)],
    Annotated[float, Field(gt=0, le=1e12)],
    Annotated[float, Field(ge=0, le=1e12)],
]


#: Most nodes of a job that are measured.
MOST_NODES = 500


class Placement(Frozen):
    """Steps that were measured in one placement.

    Attributes
    ----------
    shape
        GPUs on each node.
    points
        Samples of each GPU, ascending, with the seconds of a step and of its exchange of gradients.
    """

    shape: Annotated[Many[Gpus], Field(min_length=1, max_length=MOST_NODES)]
    points: Annotated[Many[Point], Field(min_length=1)]

    @field_validator("points", mode="after")
    @classmethod
    def _points_rise(cls, points: tuple[Point, ...]) -> tuple[Point, ...]:
        return _rising("points", points)


class Spread(Frozen):
    """Steps that were measured on so many nodes and GPUs, however these are spread.

    Attributes
    ----------
    nodes, gpus
        Numbers of nodes and of GPUs.
    points
        As of a `Placement`.
    """

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)]
    gpus: Gpus
    points: Annotated[Many[Point], Field(min_length=1)]

    @field_validator("points", mode="after")
    @classmethod
    def _points_rise(cls, points: tuple[Point, ...]) -> tuple[Point, ...]:
        return _rising("points", points)


def _rising(field: str, points: tuple[Point, ...]) -> tuple[Point, ...]:
    for index in range(1, len(points)):
        if points[index][0] <= points[index - 1][0]:
            raise RuleBroken(f"{field}[{index}][0]", points[index][0], "must rise")
    for index, (_, step, sync) in enumerate(points):
        if sync >= step:
            raise RuleBroken(f"{field}[{index}][2]", sync, f"must be below the {step} s of the step")
    return points
