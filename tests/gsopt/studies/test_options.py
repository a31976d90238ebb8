"""Options from JSON, and windows as people write them."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.span import read_window
from gsopt.evaluation import catalogue
from gsopt.solvers.backends import CpSat
from gsopt.studies.options import known_options, typed
from tests.refusals import assert_refused, refusal


def test_readers_take_the_selection_too() -> None:
    """The options of a reader are its own and those of the typed dictionary that it unpacks."""
    known = known_options(catalogue.trace_readers()["sia"])
    assert {"trace", "number", "gpu", "window", "sample", "seed", "max_gpus", "cap"} <= set(known)


def test_every_method_policy_and_generator_can_be_asked() -> None:
    """The defaults of everything that is offered have the types that are expected of a file."""
    from gsopt.problems.reader import problem_types

    offered = [catalogue.policies(), catalogue.generators("workloads"), catalogue.trace_readers()]
    for word in problem_types():
        offered += [catalogue.methods(word), catalogue.generators(word)]
    for functions in offered:
        for function in functions.values():
            assert {"start", "on_incumbent", "log"}.isdisjoint(known_options(function))


def test_a_backend_is_given_by_name() -> None:
    """The option `backend` is the name of a solver."""
    milp = catalogue.methods("reclaiming")["milp"]
    assert isinstance(typed(milp, {"backend": "cp-sat"})["backend"], CpSat)
    assert_refused("backend: 'gurobi': must be one of", typed, milp, {"backend": "gurobi"})


def test_a_time_limit_may_be_text() -> None:
    """The option `time_limit` is a number of seconds, or text for one; nothing else is taken."""
    exact = catalogue.methods("reclaiming")["exact"]
    assert typed(exact, {"time_limit": "5s"}) == typed(exact, {"time_limit": 5}) == {"time_limit": 5.0}
    assert_refused("time_limit: 'soon': must be a number of seconds", typed, exact, {"time_limit": "soon"})


def test_an_iterable_is_read_at_once() -> None:
    """Options for any iterable are tuples, which are validated and can be read twice and sent to a process."""
    reader = catalogue.trace_readers()["itp"]
    assert typed(reader, {"clusters": [6, 7]}) == {"clusters": (6, 7)}
    assert typed(reader, {"clusters": None}) == {"clusters": None}
    rule = r"clusters: \[6, 'x'\]: input should be a valid integer"
    assert_refused(rule, typed, reader, {"clusters": [6, "x"]})


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"colour": 1}, "colour: 1: is not an option of greedy; there are tie"),
        ({"tie": "best"}, "tie: 'best': input should be"),
        ({"seed": "1"}, "seed: '1': input should be a valid integer"),
        ({"seed": 1.5}, "seed: 1.5"),
        ({"seed": True}, "seed: True"),
        ({"seed": None}, "seed: None"),
        ({"seed": {"a": 1}}, "seed: {'a': 1}"),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, Any], line: str) -> None:
    """An option that does not exist or has the wrong type is named with its value."""
    assert refusal(typed, catalogue.methods("reclaiming")["greedy"], options).startswith(line)


def test_options_without_types() -> None:
    """A function may leave types out, name some that are not there, and take options by position."""

    def mine(problem: object, alpha=0.5, *, beta: "Nowhere" = 1, gamma=None) -> None:  # type: ignore[no-untyped-def, name-defined]  # noqa: ANN001, F821
        """Do nothing: only the signature is read."""

    assert typed(mine, {"alpha": [1], "beta": "x", "gamma": {}}) == {"alpha": [1], "beta": "x", "gamma": {}}
    with pytest.raises(
        InvalidInput, match="problem: 1: is not an option of mine; there are alpha, beta, gamma"
    ):
        typed(mine, {"problem": 1})


def test_units() -> None:
    """Seconds, minutes, hours and days are told by their letter, seconds without one too."""
    assert read_window("30s:2m") == (30.0, 120.0)
    assert read_window("0.5h:1d") == (1800.0, 86400.0)
