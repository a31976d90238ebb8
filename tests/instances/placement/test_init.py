"""What every generator of placement has in common."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from gsopt.problems.placement import Placement
from instances import placement

GENERATORS = {name: getattr(placement, name) for name in placement.__all__}

#: Generators whose instances are those of papers on packing.
LITERATURE = {"vector_packing", "fine_sizes"}

Generator = Callable[..., Placement]


@pytest.fixture(params=list(GENERATORS.values()), ids=list(GENERATORS))
def generator(request: pytest.FixtureRequest) -> Generator:
    """Give each generator in turn."""
    made: Generator = request.param
    return made


def test_parameters_can_be_given_as_text(generator: Generator) -> None:
    """Every parameter has a default, and an annotation by which its text can be read."""
    for parameter in inspect.signature(generator).parameters.values():
        read = TypeAdapter(parameter.annotation).validate_python(str(parameter.default))
        assert read == parameter.default


def test_instances_carry_a_name_a_source_and_the_seed(generator: Generator) -> None:
    """An instance made with defaults has a name, a source and the seed."""
    problem = generator(seed=7)

    assert problem.name.endswith("-7")
    assert problem.about is not None
    assert problem.about.source
    assert problem.about.seed == 7


def test_the_seed_decides(generator: Generator) -> None:
    """The same seed gives the same instance, and another seed another one."""
    made = [generator(**options) for options in ({"seed": 1}, {"seed": 2})]

    assert made == [generator(**options) for options in ({"seed": 1}, {"seed": 2})]
    assert made[0].workers != made[1].workers


def test_defaults_are_of_the_size_of_their_source(generator: Generator) -> None:
    """With defaults there are as many servers and workers as in Aryl or in the packing literature, and room."""
    problem: Any = generator()
    servers, workers = (60, 60) if generator.__name__ in LITERATURE else (963, 1501)

    assert problem.size >= servers
    assert sum(line.count for line in problem.workers) >= workers
    assert problem.misfit == ""
