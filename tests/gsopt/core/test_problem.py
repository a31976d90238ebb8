"""The problem base and the helpers of the judge."""

from fractions import Fraction
from re import fullmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.files import validated
from gsopt.core.numbers.grid import decimal, exact_total
from gsopt.core.problem import Frozen, Instant, Sense
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


class _Moment(Frozen):
    at: Instant


@pytest.mark.parametrize(
    ("instant", "written"),
    [
        (0, "0.0"),
        (1.7e9, "1700000000.0"),
        (Fraction(1, 10), "0.1"),
        (Fraction("1700000000.000000001"), '"1700000000.000000001"'),
        (Fraction("0.001") + Fraction("1e-40"), f'"0.001{"0" * 36}1"'),
        (2**53 + 1, '"9007199254740993"'),
        (Fraction(10, 3), '"10/3"'),
        (Fraction(1, 2**1074), f'"1/{2**1074}"'),
    ],
)
def test_instants_come_back_from_json(instant: float | Fraction, written: str) -> None:
    """An instant is a number where the shortest decimal of a double says it, else text; it comes back."""
    moment = _Moment(at=instant)
    assert decimal(moment.at) == decimal(instant)
    assert moment.model_dump_json() == f'{{"at":{written}}}'
    back = _Moment.model_validate_json(moment.model_dump_json())
    assert back == moment
    assert type(back.at) is type(moment.at)


@given(st.fractions(min_value=0, max_value=10**12) | st.floats(min_value=0, max_value=1e12))
def test_every_instant_comes_back(instant: Fraction | float) -> None:
    """Whatever the fraction or double, reading what was written gives the same number."""
    back = _Moment.model_validate_json(_Moment(at=instant).model_dump_json())
    assert decimal(back.at) == decimal(instant)


@pytest.mark.parametrize(
    "text",
    [
        *("true", "null", "[1]", "-1", "1e19", "NaN", '""', '"1e9"', '"-1"', '" 1"', '"1."', '".5"', '"inf"'),
        *('"1/0"', '"1/03"', '"\u0661"', f'"{"9" * 19}"', f'"1/{"9" * 2001}"', f'"0.{"1" * 2000}"'),
    ],
)
def test_what_is_no_instant_is_refused_in_one_line(text: str) -> None:
    """Malformed, negative, late and endless instants in a file are refused in one short line."""
    with pytest.raises(InvalidInput) as refused:
        validated(_Moment, "file.json", f'{{"at": {text}}}')
    assert "at: " in str(refused.value)
    assert len(str(refused.value)) < 200
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["10/3", True, None, float("nan"), float("inf"), -1, Fraction(1, 10**2000)])
def test_instants_are_strict_in_memory(value: object) -> None:
    """Text, truth values and what JSON could not say again are no instants in memory."""
    with pytest.raises(ValidationError):
        _Moment(at=value)  # type: ignore[arg-type]


def test_schema_of_an_instant() -> None:
    """The JSON Schema of an instant allows numbers and the texts that are read."""
    number, text = _Moment.model_json_schema(mode="serialization")["properties"]["at"]["anyOf"]
    assert (number["type"], text["type"]) == ("number", "string")
    assert all(fullmatch(text["pattern"], each) for each in ("1700000000.000000001", "10/3", "7"))
    assert not any(fullmatch(text["pattern"], each) for each in ("1/0", "-1", "1e3", ""))


@pytest.mark.parametrize(
    "mark", ["\x1b", "\x7f", "\x85", "\x9b", "\u061c", "\u200f", "\u2028", "\u202e", "\u2069", "\ufeff"]
)
def test_names_hold_nothing_that_a_terminal_obeys(mark: str) -> None:
    """Control characters, breaks of lines and marks of direction are refused in names; other writing is not."""
    with pytest.raises(ValidationError, match="pattern"):
        Server(name=f"a{mark}b", gpus=1)
    assert Server(name="Größe, размер, 大小, حجم, \u0645\u06cc\u200c\u0634\u0648\u062f", gpus=1).gpus == 1
