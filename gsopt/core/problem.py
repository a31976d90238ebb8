"""Problem: the data of one decision, and the only judge of its solutions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from re import ASCII, fullmatch
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Number as Number  # noqa: PLC0414 - exported from here too
from gsopt.core.numbers.grid import decimal

T = TypeVar("T")

#: A sequence in the data: any list or tuple, which is stored as a tuple.
Many = Annotated[Sequence[T], AfterValidator(tuple)]

#: Text without control characters, line breaks and marks of direction, which terminals would interpret.
PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$"

#: A name, such as that of a job or machine: 1 to 200 characters without control characters.
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=PRINTABLE)]

#: A number of GPUs, from one to a million.
Gpus = Annotated[int, Field(ge=1, le=1_000_000)]

#: The latest instant in seconds.
LATEST_INSTANT = 10**18

#: Maximum number of digits in an instant's numerator and denominator, and of decimals when it is written.
MOST_DIGITS, _MOST_DECIMALS = 2_000, 100

#: Pattern of an instant that no double represents, written as text: a decimal or a fraction.
_INSTANT = r"[0-9]{1,2000}(\.[0-9]{1,2000}|/[1-9][0-9]{0,1999})?"


def _instant(value: object, info: ValidationInfo) -> float | Fraction:
    """Parse a point in time, as a float if that is exact, otherwise as a fraction."""
    if isinstance(value, str) and info.mode == "json" and fullmatch(_INSTANT, value, ASCII):
        value = Fraction(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise PydanticCustomError(
            "instant", "Input should be a number, or text such as '1700000000.000000001' or '10/3'"
        )
    if not 0 <= value <= LATEST_INSTANT:  # nor if it is NaN
        raise PydanticCustomError("instant", f"Input should be between 0 and {LATEST_INSTANT:g}")
    if isinstance(value, float):  # its shortest decimal says it
        return float(value)
    exact = Fraction(decimal(value))
    if max(exact.as_integer_ratio()) >= 10**MOST_DIGITS:
        raise PydanticCustomError("instant", f"Input should have at most {MOST_DIGITS} digits")
    nearest = float(exact)
    return nearest if decimal(nearest) == exact else exact


def _written(value: float | Fraction) -> float | str:
    """Return a point in time for JSON, as a string if it is not a double."""
    if isinstance(value, float):
        return value
    scaled, decimals = value, 0
    while scaled.denominator > 1 and decimals < _MOST_DECIMALS:
        scaled, decimals = scaled * 10, decimals + 1
    if scaled.denominator > 1:
        return str(value)
    digits = str(scaled.numerator).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


#: An exact point in time, in seconds: a double if its shortest decimal is exact, otherwise a fraction, which
#: is written to JSON as text, such as "1700000000.000000001" or "10/3".
Instant = Annotated[
    float | Fraction,
    PlainValidator(_instant),
    PlainSerializer(_written, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": LATEST_INSTANT},
                {"type": "string", "pattern": f"^{_INSTANT}$"},
            ]
        }
    ),
]


class Sense(StrEnum):
    """The direction of optimization: whether a smaller or a larger objective is better.

    Examples
    --------
    >>> import gsopt
    >>> gsopt.load("reclaiming/aryl-figure-5").sense
    <Sense.MINIMIZE: 'minimize'>
    """

    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"

    def better(self, value: Number, other: Number) -> bool:
        """Check whether `value` is strictly better than `other`."""
        return value < other if self is Sense.MINIMIZE else value > other


class Frozen(BaseModel):
    """Base class of immutable, strictly typed data, with a JSON format and JSON Schema."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced without validation; cached properties are not copied."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(copied).model_fields.keys():
            del copied.__dict__[name]
        return copied

    def __iter__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]  # pydantic's own type too
        """Yield the fields and their values, without cached properties."""
        return ((name, getattr(self, name)) for name in type(self).model_fields)


class RuleBroken(ValueError):
    """Error raised when data break a rule that the types of the fields cannot express.

    Pydantic collects the error, and the file reader reports it in one line.

    Examples
    --------
    >>> print(RuleBroken("demand", 9, "at most the 6 servers on loan"))
    demand: 9: at most the 6 servers on loan
    """

    def __init__(self, field: str, value: object, rule: str) -> None:
        self.field, self.value, self.rule = field, value, rule
        super().__init__(f"{field}: {value!r}: {rule}")


def refuse_doubles(field: str, names: Iterable[Any], *, part: str = ".name", what: str = "name") -> None:
    """Raise `RuleBroken` for the first item that repeats the name, or another attribute, of an earlier item.

    In the message, `what` is the word for the attribute, and `part` is appended to the path of the item.

    Examples
    --------
    >>> refuse_doubles("jobs", ["a", "b", "a"])
    Traceback (most recent call last):
    gsopt.core.problem.RuleBroken: jobs[2].name: 'a': must differ from every other name
    """
    seen: set[Any] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise RuleBroken(f"{field}[{index}]{part}", name, f"must differ from every other {what}")
        seen.add(name)


def refuse_falls(field: str, values: Sequence[float]) -> None:
    """Raise `RuleBroken` for the first value that is not greater than the previous one.

    ``{}`` in `field` is replaced by the index of that value.

    Examples
    --------
    >>> refuse_falls("points[{}].time", [0.0, 2.0, 2.0])
    Traceback (most recent call last):
    gsopt.core.problem.RuleBroken: points[2].time: 2.0: must rise
    """
    for index, (early, late) in enumerate(pairwise(values), start=1):
        if early >= late:
            raise RuleBroken(field.format(index), late, "must rise")


class About(Frozen):
    """The origin of an instance and its best known results.

    Attributes
    ----------
    source, seed
        Origin of the data, and the seed if they are random.
    objective
        Value of the best known solution, or None.
    bound
        Best proven bound, or None.
    proved_by
        Methods and solvers that proved that the value is optimal or, if there is no value, that no solution
        exists; empty if neither is proven.
    found_by
        Method (and solver, if any) or person that last improved the value or the bound; empty if a proof is
        recorded in `proved_by`.
    since
        Date of the proof or of the last improvement.
    """

    source: str = ""
    seed: int | None = None
    objective: float | None = None
    bound: float | None = None
    proved_by: str = ""
    found_by: str = ""
    since: date | None = None


S = TypeVar("S", bound=Frozen)


class Problem(Frozen, ABC, Generic[S]):
    """The data of one decision, the direction of its objective, and the judge of its solutions.

    All solutions, whether from solvers, heuristics or simulators, are scored by `objective` and checked by
    `violations`, in integers or fractions where possible. The judge uses no code of any formulation, although
    formulations may use quantities that the problem derives from its data. A subclass sets `word` (the name of
    the decision and of its folders), `sense` and `solution_type`.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> chosen = problem.solution_type(servers=["s1", "s2"])
    >>> problem.word, problem.unit, problem.objective(chosen), problem.violations(chosen)
    ('reclaiming', 'preemptions', 1, [])
    """

    word: ClassVar[str]
    sense: ClassVar[Sense]
    solution_type: ClassVar[type[Frozen]]

    name: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] = ""
    about: About | None = None

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of the objective, for table headings."""

    @property
    def step(self) -> Fraction | None:
        """A number of which the optimum is known to be a multiple, or None if no useful one is known.

        Bounds may be rounded to its multiples. The values of other solutions need not be multiples.
        """
        return None

    def resolution(self, value: Number) -> Number:
        """Return the difference up to which values near the given one count as equal; 0 if values are exact."""
        del value
        return 0

    @abstractmethod
    def objective(self, solution: S) -> Number:
        """Return the objective value of a solution without violations."""

    @abstractmethod
    def violations(self, solution: S) -> list[str]:
        """Return a list of sentences that state which rules the solution breaks.

        The solution is feasible if the list is empty.
        """

    def headline(self) -> dict[str, int | float | str]:
        """Return the few figures that distinguish the instances of a suite in a table, keyed by name."""
        return {}

    def measures(self, solution: S) -> dict[str, Number]:
        """Return further figures of a solution to show next to its objective, keyed by name."""
        del solution
        return {}

    def candidates(self) -> Iterator[S]:
        """Yield solutions of a tiny instance, including an optimal one if any exists, for brute force in tests.

        Some of them may be infeasible. Raise `gsopt.core.errors.Unsupported` if the problem has no enumeration.
        """
        raise Unsupported(f"{type(self).__name__} has no enumeration")
