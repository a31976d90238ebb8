"""Sharing problems as arrays: which numbers the remainders tell apart."""

from fractions import Fraction
from math import prod
from random import Random

import pytest

from formulations.sharing import exact, jobs
from formulations.sharing.jobs import arrays_of
from gsopt.core.result import Status
from instances.sharing import interfering_jobs
from tests.effort import cases
from tests.exactness import sharing as oracle
from tests.formulations.sharing.tiny import TINY


def test_every_time_is_a_whole_number_of_parts() -> None:
    """In all schedules every start and end is a whole number of parts after the first date."""
    for seed in range(cases(40)):
        problem = oracle.drawn(Random(seed), 2 + seed % 2, 2)
        _, units = arrays_of(problem)
        spans = [span for each in problem.candidates() for span in problem.spans(each)]
        if units.parts:
            assert all((time - problem.origin) * units.parts % 1 == 0 for span in spans for time in span)


def test_times_of_the_same_remainders_are_equal_where_they_are_near() -> None:
    """The product of the primes, in parts of a second, is no less than what is called near."""
    for problem in (*(tiny.problem for tiny in TINY), interfering_jobs(jobs=8)):
        arrays, units = arrays_of(problem)
        assert units.parts > 0
        assert 0 < arrays.near[0] * units.unit * units.parts <= prod(units.primes)
        assert list(arrays.primes) == list(units.primes)
        assert all(units.parts % prime for prime in units.primes)


def test_a_total_between_the_parts_has_no_remainders() -> None:
    """The sum of ends of a schedule that starts between two events may equal no other by its remainders."""
    _, units = arrays_of(TINY[0].problem)
    between = Fraction(1, 2 * units.parts) / units.unit

    assert list(units.rests(2 * between)) == [1 % prime * pow(units.parts, -1, prime) for prime in units.primes]
    assert set(units.rests(between)) == {-1}


def test_without_remainders_the_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it would take too many primes, whatever floats cannot tell is left to fractions, and proven."""
    monkeypatch.setattr(jobs, "_MOST_PRIMES", 0)
    for tiny in TINY:
        arrays, units = arrays_of(tiny.problem)
        result = exact(tiny.problem)
        assert (arrays.near[0], units.parts) == (0, 0)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(tiny.problem))
