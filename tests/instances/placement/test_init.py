"""What every generator of placement has in common."""

from collections.abc import Callable
from typing import Any

import pytest

from gsopt.problems.placement import Placement
from instances import placement

GENERATORS = {name: getattr(placement, name) for name in placement.__all__}

#: Generators whose instances are those of papers on packing.
LITERATURE = {"vector_packing", "fine_sizes"}

Generator = Callable[..., Placement]


@pytest.fixture(params=list(GENERATORS.values()), ids=list(GENERATORS))
def generator(request: pytest.FixtureRequest) -> Generator:
    """Return each generator in turn."""
    made: Generator = request.param
    return made


def test_defaults_are_of_the_size_of_their_source(generator: Generator) -> None:
    """With defaults there are as many servers and workers as in Aryl or in the packing literature, and room."""
    problem: Any = generator()
    servers, workers = (60, 60) if generator.__name__ in LITERATURE else (963, 1501)

    assert problem.size >= servers
    assert sum(line.count for line in problem.workers) >= workers
    assert problem.misfit == ""
