"""Measured type: measurements of a model on GPUs of one type."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from gsopt.core.problem import Frozen, Many, RuleBroken
from gsopt.scenario.adaptive.limits import Samples
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Spread
from gsopt.scenario.adaptive.steps import least_rotation


def _check_shapes(placements: tuple[MeasuredPlacement, ...]) -> tuple[MeasuredPlacement, ...]:
    seen: set[tuple[int, ...]] = set()
    for index, placement in enumerate(placements):
        ring = least_rotation(placement.shape)
        if ring in seen:
            rule = "must differ from every other, and from its rotations"
            raise RuleBroken(f"placements[{index}].shape", list(placement.shape[:9]), rule)
        seen.add(ring)
    return placements


#: Step times in several placements.
Placements = Annotated[Many[MeasuredPlacement], Field(min_length=1), AfterValidator(_check_shapes)]


class MeasuredType(Frozen):
    """Step times of a model on GPUs of one type, and limits on the local batch size."""

    placements: Placements  # step times by placement
    spread: Many[Spread] = ()  # step times by numbers of nodes and GPUs
    # Samples that a GPU processes at once.
    least_local: Samples
    most_local: Samples

    @model_validator(mode="after")
    def _most_is_not_least(self) -> "MeasuredType":
        if self.most_local < self.least_local:
            rule = f"must be at least least_local, {self.least_local}"
            raise RuleBroken("most_local", self.most_local, rule)
        return self
