"""Objectives: what a generated instance may minimize."""

from typing import Literal, get_args

from gsopt.core.errors import require_one_of

Minimize = Literal["servers", "fragmentation", "preferences"]


def check_objective(minimize: str) -> None:
    """Raise `InvalidInput` unless there is such an objective."""
    known = get_args(Minimize)
    require_one_of("minimize", minimize, known)
