"""What every generator of reclaiming has in common."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from gsopt.problems.reclaiming import Reclaiming
from instances import reclaiming

GENERATORS = {name: getattr(reclaiming, name) for name in reclaiming.__all__}

Generator = Callable[..., Reclaiming]


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


def test_instances_carry_a_name_and_a_source(generator: Generator) -> None:
    """An instance made with defaults has a name, a source, and the seed if there is one."""
    problem = generator()

    assert problem.name
    assert problem.about is not None
    assert problem.about.source
    assert (problem.about.seed is not None) == ("seed" in inspect.signature(generator).parameters)


def test_the_seed_decides(generator: Generator) -> None:
    """The same seed gives the same instance, and another seed another one."""
    options: list[dict[str, Any]] = [{"seed": 1}, {"seed": 2}]
    if "seed" not in inspect.signature(generator).parameters:
        options = [{}]

    made = [generator(**option) for option in options]

    assert made == [generator(**option) for option in options]
    assert len({repr(problem.jobs) for problem in made}) == len(options)
