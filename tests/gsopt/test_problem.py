"""The problem base and the helpers of the judge."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.errors import Unsupported
from gsopt.grid import exact_total
from gsopt.problem import Sense
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution, Server
from gsopt.problems.scheduling import ElasticJob, Scheduling


@given(st.lists(st.integers(-(10**9), 10**9)))
def test_integers_add_up_to_an_integer(values: list[int]) -> None:
    """The exact total of integers, given as floats too, is the integer sum."""
    assert exact_total(map(float, values)) == sum(values)
    assert isinstance(exact_total(map(float, values)), int)


def test_fractions_do_not_leave_residues() -> None:
    """Five reciprocals added and taken away again leave exactly 0."""
    parts = [Fraction(1, n) for n in (3, 7, 11, 13, 17)]
    assert exact_total([*parts, *(-part for part in parts)]) == 0


def test_sense_orders_values() -> None:
    """Smaller is better when minimizing, larger when maximizing, equal never."""
    assert Sense.MINIMIZE.better(1, 2)
    assert Sense.MAXIMIZE.better(2, 1)
    assert not Sense.MINIMIZE.better(1, 1)


def test_data_are_frozen() -> None:
    """No field of a problem can be set after it was made."""
    problem = Reclaiming(demand=0, servers=[Server(name="s", gpus=1)], jobs=[])
    with pytest.raises(ValidationError):
        problem.demand = 1  # type: ignore[misc]


def test_lists_become_tuples() -> None:
    """Sequences may be given as lists and are stored immutable."""
    assert ReclaimingSolution(servers=["a"]).servers == ("a",)


def test_a_copy_does_not_keep_what_was_computed() -> None:
    """A copy with other fields computes anew what the original has computed and keeps."""
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    problem = Scheduling(gpus=4, jobs=[job])
    assert (problem.scenario.cluster.gpus, problem.workload.jobs[0].duration) == (4, 1.0)

    copied = problem.model_copy(update={"gpus": 2, "jobs": (job.model_copy(update={"work": 3.0}),)})
    assert (copied.scenario.cluster.gpus, copied.workload.jobs[0].duration) == (2, 3.0)
    assert problem.scenario.cluster.gpus == 4
    assert copied.model_copy(deep=True) == copied


def test_what_has_no_enumeration_says_so() -> None:
    """A decision that is continuous cannot be enumerated, which is told as every other limit of a method."""
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    with pytest.raises(Unsupported, match="Scheduling has no enumeration"):
        next(Scheduling(gpus=1, jobs=[job]).candidates())


@pytest.mark.parametrize(
    "mark", ["\x1b", "\x7f", "\x85", "\x9b", "\u061c", "\u200f", "\u2028", "\u202e", "\u2069", "\ufeff"]
)
def test_names_hold_nothing_that_a_terminal_obeys(mark: str) -> None:
    """Control characters, breaks of lines and marks of direction are refused in names; other writing is not."""
    with pytest.raises(ValidationError, match="pattern"):
        Server(name=f"a{mark}b", gpus=1)
    assert Server(name="Größe, размер, 大小, حجم, \u0645\u06cc\u200c\u0634\u0648\u062f", gpus=1).gpus == 1
