"""The objectives that generators take."""

from typing import get_args

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import Placement
from instances.placement.objectives import Minimize, check_objective


def test_they_are_those_of_the_problem() -> None:
    """Generators know the objectives of the problem but racks, which their servers do not name."""
    assert (*get_args(Minimize), "racks") == get_args(Placement.model_fields["minimize"].annotation)
    for known in get_args(Minimize):
        check_objective(known)
    with pytest.raises(InvalidInput, match="minimize: 'cost': must be one of"):
        check_objective("cost")
