"""The judge of sequencing, against values worked out by hand."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.problems.sequencing import Machine, Sequences, Sequencing, UnitJob
from gsopt.testing import brute_force


def two_types(**changes: Any) -> Sequencing:
    """Return a fast GPU, a slow one that is free in half a second, and a job that runs on the slow one only."""
    machines = [Machine(name="fast", gpu_type="v100"), Machine(name="slow", gpu_type="k80", available=0.5)]
    jobs = [
        UnitJob(name="a", seconds={"v100": 1.1, "k80": 3.0}),
        UnitJob(name="b", seconds={"v100": 2.2, "k80": 4.0}),
        UnitJob(name="c", seconds={"k80": 1.0}),
    ]
    return Sequencing(**{"machines": machines, "jobs": jobs, **changes})


def order(**names: str) -> Sequences:
    """Return a solution by the letters of the jobs of each machine."""
    return Sequences(order={machine: list(jobs) for machine, jobs in names.items()})


VALUES: Mapping[str, tuple[Sequences, Fraction]] = {
    "shortest first": (order(fast="ab", slow="c"), Fraction("1.1") + Fraction("3.3") + Fraction("1.5")),
    "longest first": (order(fast="ba", slow="c"), Fraction("2.2") + Fraction("3.3") + Fraction("1.5")),
    "all on the slow one": (order(slow="cab"), Fraction("1.5") + Fraction("4.5") + Fraction("8.5")),
    "an idle machine named": (order(slow="cab", fast=""), Fraction("14.5")),
}


@pytest.mark.parametrize(("solution", "total"), VALUES.values(), ids=VALUES.keys())
def test_values_by_hand(solution: Sequences, total: Fraction) -> None:
    """Completion times add up from when machines are free, in decimals."""
    problem = two_types()
    assert problem.violations(solution) == []
    assert problem.objective(solution) == total


WRONG: Mapping[str, tuple[Sequences, str]] = {
    "no such machine": (
        order(fast="ab", slow="c", other=""),
        "order: 'other' is not a machine of the instance",
    ),
    "no such job": (order(fast="abz", slow="c"), "order: 'z' is not a job of the instance"),
    "twice": (order(fast="ab", slow="ca"), "order: 'a' runs 2 times, must run once"),
    "never": (order(fast="a", slow="c"), "order: 'b' runs 0 times, must run once"),
    "on the wrong type": (order(fast="abc"), "order: 'c' does not run on 'v100', the type of 'fast'"),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: Sequences, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence with the job or the machine."""
    assert two_types().violations(solution) == [sentence]


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "one name": ({"jobs": [UnitJob(name="a", seconds={"k80": 1.0})] * 2}, r"jobs\[1\].name: 'a': must differ"),
    "one machine twice": (
        {"machines": [Machine(name="m", gpu_type="k80")] * 2},
        r"machines\[1\].name: 'm': must differ",
    ),
    "nowhere": (
        {"jobs": [UnitJob(name="a", seconds={"p100": 1.0})]},
        r"jobs\[0\].seconds: .*: must name a type of which there is a machine",
    ),
    "no machines": ({"machines": []}, "at least 1 item"),
    "before now": (
        {"machines": [{"name": "m", "gpu_type": "k80", "available": -1.0}]},
        "greater than or equal",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], message: str) -> None:
    """Data that make no sense are refused with the field, its value and the rule."""
    with pytest.raises(ValidationError, match=message):
        two_types(**changes)


def test_measures_are_those_of_the_orders() -> None:
    """Mean, last completion and idle machines follow from the orders."""
    measures = two_types().measures(order(slow="cab"))
    assert measures == {"mean_completion": pytest.approx(14.5 / 3), "makespan": 8.5, "idle_machines": 1}


def test_candidates_hold_the_optimum_by_hand() -> None:
    """Both jobs that may run on the fast machine do, the shorter one first."""
    assert brute_force(two_types()) == (Fraction("5.9"), order(fast="ab", slow="c"))


def test_values_are_multiples_of_the_step() -> None:
    """The step is the largest number of which all seconds are multiples."""
    assert two_types().step == Fraction(1, 10)
