"""Names: the type of sequences whose items have distinct names."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ValidationInfo

from gsopt.core.problem import Many, refuse_doubles

T = TypeVar("T")


def _distinct(things: Sequence[T], info: ValidationInfo) -> Sequence[T]:
    refuse_doubles(info.field_name or "", (thing.name for thing in things))  # type: ignore[attr-defined]
    return things


#: A sequence of items with distinct names.
Named = Annotated[Many[T], AfterValidator(_distinct)]
