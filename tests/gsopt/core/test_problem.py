"""The problem base, its enumeration, errors and progress."""

import pickle
from collections.abc import Iterator
from fractions import Fraction
from re import fullmatch
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import gsopt
from gsopt.core.enumeration import brute_force
from gsopt.core.errors import GsoptError, InvalidInput, Unsupported, require, shorten
from gsopt.core.files import validated
from gsopt.core.numbers.grid import decimal, exact_total
from gsopt.core.problem import Frozen, Instant, Number, Problem, Sense
from gsopt.core.progress import KnownBracket, Watch
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution, Server
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.gsopt.problems.test_reclaiming import figure_5
from tests.refusals import refused

# The problem base and the helpers of the judge


@given(st.lists(st.integers(-(10**9), 10**9)))
def test_integers_add_up_to_an_integer(values: list[int]) -> None:
    """The exact total of integers, given as floats too, is the integer sum."""
    assert exact_total(map(float, values)) == sum(values)
    assert isinstance(exact_total(map(float, values)), int)


def test_values() -> None:
    """Reciprocals cancel, smaller is better when minimizing, and continuous decisions have no enumeration."""
    parts = [Fraction(1, n) for n in (3, 7, 11, 13, 17)]
    assert exact_total([*parts, *(-part for part in parts)]) == 0
    assert Sense.MINIMIZE.better(1, 2)
    assert Sense.MAXIMIZE.better(2, 1)
    assert not Sense.MINIMIZE.better(1, 1)
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    with pytest.raises(Unsupported, match="Scheduling has no enumeration"):
        next(Scheduling(gpus=1, jobs=[job]).candidates())


def test_data_are_frozen() -> None:
    """No field can be set, lists become tuples, and a copy with other fields computes anew."""
    reclaiming = Reclaiming(demand=0, servers=[Server(name="s", gpus=1)], jobs=[])
    with pytest.raises(ValidationError):
        reclaiming.demand = 1  # type: ignore[misc]
    assert ReclaimingSolution(servers=["a"]).servers == ("a",)
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    problem = Scheduling(gpus=4, jobs=[job])
    assert (problem.scenario.cluster.gpus, problem.workload.jobs[0].duration) == (4, 1.0)
    copied = problem.model_copy(update={"gpus": 2, "jobs": (job.model_copy(update={"work": 3.0}),)})
    assert (copied.scenario.cluster.gpus, copied.workload.jobs[0].duration) == (2, 3.0)
    assert problem.scenario.cluster.gpus == 4
    assert copied.model_copy(deep=True) == copied


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
    with refused("at: ", longest=200):
        validated(_Moment, "file.json", f'{{"at": {text}}}')


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


# Enumeration, the oracle of tiny instances


class Choice(Frozen):
    """A number."""

    value: int


class Pick(Problem[Choice]):
    """Pick one of the even numbers below ten, for which 4 and 6 are worth the same."""

    word: ClassVar[str] = "pick"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = Choice
    least: int = 0

    @property
    def unit(self) -> str:
        """What is counted."""
        return "steps"

    def objective(self, solution: Choice) -> Number:
        """Count the steps to five."""
        return abs(solution.value - 5)

    def violations(self, solution: Choice) -> list[str]:
        """Refuse odd numbers and small ones."""
        return ["bad"] if solution.value % 2 or solution.value < self.least else []

    def candidates(self) -> Iterator[Choice]:
        """Try every number."""
        return (Choice(value=value) for value in range(10))


class PickFar(Pick):
    """The same, as far from five as may be."""

    sense: ClassVar[Sense] = Sense.MAXIMIZE


@pytest.mark.parametrize(
    ("problem", "best"),
    [
        (Pick(), (1, 4)),  # of two equally good ones the first
        (Pick(least=5), (1, 6)),
        (PickFar(), (5, 0)),
        (PickFar(least=6), (3, 8)),
        (Pick(least=9), None),  # 9 is odd
    ],
)
def test_the_best_feasible_decision_is_found(problem: Pick, best: tuple[int, int] | None) -> None:
    """Of the feasible decisions the first best one is given with its value; None where there is none."""
    found = brute_force(problem)
    assert (found and (found[0], found[1].value)) == best


# Errors


def test_messages_are_one_line() -> None:
    """File, field, value and rule stand in this order without what is empty, also after pickling."""
    assert (
        str(InvalidInput("demand", "-1", "must be >= 0", source="a.json")) == "a.json: demand: -1: must be >= 0"
    )
    assert str(InvalidInput("method", "'x'", "must be known")) == "method: 'x': must be known"
    assert issubclass(InvalidInput, GsoptError)
    assert issubclass(InvalidInput, ValueError)
    error = InvalidInput("demand", "-1", "must be >= 0", source="a.json")
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)  # noqa: S301 - our own bytes
    require(True, "servers", 1, "must be at least 1")
    with pytest.raises(InvalidInput) as caught:
        require(False, "servers", -(10**400), "must be at least 1")
    assert str(caught.value) == (
        "servers: -100000000000000000000000000... (402 characters): must be at least 1"
    )


@pytest.mark.parametrize(
    "value", [10**400, 10**5000, "x" * 10_000, list(range(1000))], ids=["long", "huge", "text", "list"]
)
def test_shortened_values_fit_a_line(value: object) -> None:
    """Any value is shown in at most sixty characters and without a line break."""
    assert len(shorten(value)) <= 60
    assert "\n" not in shorten(value)


# Progress: reports of several parts become one history in which nothing gets worse


@pytest.fixture
def told() -> list[KnownBracket]:
    """Return what a listener hears."""
    return []


def test_only_what_is_better_is_told(told: list[KnownBracket]) -> None:
    """A worse value, a weaker bound and what is known already are not passed on."""
    watch = Watch(figure_5(2), told.append)
    for value, bound in ((None, None), (9, None), (9, 0), (10, None), (None, 4), (None, 3), (8, 2)):
        watch(KnownBracket(1.0, value, bound))
    assert [(known.value, known.bound) for known in told] == [(9, None), (9, 0), (9, 4), (8, 4)]
    assert (watch.value, watch.bound) == (8, 4)


def test_a_bound_is_rounded_and_never_better_than_a_value(told: list[KnownBracket]) -> None:
    """A bound is the next value that the objective can take; one above a solution's value is that value."""
    watch = Watch(figure_5(2), told.append)
    watch(KnownBracket(1.0, bound=0.5))
    watch(KnownBracket(2.0, value=3, bound=Fraction(7, 2)))
    assert [(known.value, known.bound) for known in told] == [(None, 1), (3, 3)]


def test_maximizing_a_value_rises_and_a_bound_falls(told: list[KnownBracket]) -> None:
    """Where more is better, bounds fall; fractions become numbers, and what is not known stays None."""
    assert KnownBracket(0.5, Fraction(3, 2), 1).as_dict() == {
        "runtime": 0.5,
        "value": 1.5,
        "bound": 1,
        "gap": 0.5,
    }
    assert KnownBracket(0.5).as_dict() == {"runtime": 0.5, "value": None, "bound": None, "gap": None}
    watch = Watch(gsopt.load("allocation/small/decimals"), told.append)
    for value, bound in ((1, 9), (2, None), (1, None), (None, 10), (None, 8), (None, 1)):
        watch(KnownBracket(1.0, value, bound))
    assert [(known.value, known.bound) for known in told] == [(1, 9), (2, 9), (2, 8), (2, 2)]
