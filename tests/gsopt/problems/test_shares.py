"""The judge of shares, against values worked out by hand and the definitions in fractions."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.files import to_json
from gsopt.core.problem import Sense
from gsopt.problems.shares import Criterion, Shares, TimeShares, TypedJob
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.gsopt.problems.checks import refusal
from tests.strategies.shares import tiny

JOBS = (
    TypedJob(name="a", gpus=2, throughputs={"v100": 4.0, "k80": 1.0}, steps=600.0, weight=2.0, age=100.0),
    TypedJob(name="b", throughputs={"v100": 3.0}, steps=300.0, age=50.0, isolated=20.0),
)


def two(**changes: Any) -> Shares:
    """Return two jobs on two GPUs of one type and four of another."""
    fields: dict[str, Any] = {"gpus": {"v100": 2, "k80": 4}, "jobs": JOBS}
    return Shares(**{**fields, **changes})


def shares(**own: Mapping[str, float]) -> TimeShares:
    """Return shares by names of jobs."""
    return TimeShares(shares=own)


RIGHT = shares(a={"v100": 0.5, "k80": 0.5}, b={"v100": 1.0})

# a: 2.5 steps per second, b: 3. Isolated, a: 1/2 on v100 and 1 on k80, over 3/2; b: 1 and 2, over 3.
VALUES: Mapping[Criterion, Fraction] = {
    "max_min": Fraction(5, 2) * 2 / (2 * 2),  # a alike: (4 x 2 + 4) / 6 = 2; b: 3 / 1
    "makespan": Fraction(600) / Fraction(5, 2),
    "finish_time": max(
        (100 + Fraction(240)) / (600 / (Fraction(4, 3) + Fraction(2, 3))), Fraction(150) / (20 + Fraction(300))
    ),
    "fifo": 2 * Fraction(5, 2) / 4 + 1,
    "max_sum": Fraction(5, 2) + 3,
}


@pytest.mark.parametrize(("criterion", "value"), VALUES.items())
def test_values_by_hand(criterion: Criterion, value: Fraction) -> None:
    """Each criterion counts what its formula says."""
    problem = two(criterion=criterion)
    assert problem.violations(RIGHT) == []
    assert problem.objective(RIGHT) == value


def test_values_are_those_of_the_definitions() -> None:
    """On random shares of random jobs rules and values are those of the definitions, in fractions."""
    legal = 0
    for seed in range(cases(300)):
        problem, random = tiny(seed), Random(seed)
        given = {
            job.name: {kind: round(random.random() / random.randint(1, 4), 2) for kind in job.throughputs}
            for job in problem.jobs
        }
        for solution in (TimeShares(shares=given), problem.fitted(given)):
            value = oracle.value(problem, solution)
            assert (value is None) == bool(problem.violations(solution)), seed
            if value is not None:
                legal += 1
                assert problem.objective(solution) == value, seed
    assert legal > cases(300)


def test_senses() -> None:
    """Levels are raised, times lowered."""
    senses = {criterion: two(criterion=criterion).sense for criterion in VALUES}
    assert senses == {
        "max_min": Sense.MAXIMIZE,
        "fifo": Sense.MAXIMIZE,
        "max_sum": Sense.MAXIMIZE,
        "makespan": Sense.MINIMIZE,
        "finish_time": Sense.MINIMIZE,
    }


WRONG: Mapping[str, tuple[TimeShares, str]] = {
    "no such job": (
        shares(a=RIGHT.shares["a"], b={"v100": 1.0}, c={"v100": 0.0}),
        "shares: 'c' is not a job of the instance",
    ),
    "where it does not run": (
        shares(a={"v100": 0.5}, b={"k80": 0.5, "v100": 0.5}),
        "shares: 'b' does not run on 'k80'",
    ),
    "always and more": (
        shares(a={"v100": 0.5, "k80": 0.500000000000001}, b={"v100": 1.0}),
        "shares: 'a' runs 1.000000000000001 of the time, must be at most 1",
    ),
    "more GPUs than there are": (
        shares(a={"v100": 0.500000000000001}, b={"v100": 1.0}),
        "shares: 2.000000000000002 GPUs of 'v100' are used, there are 2",
    ),
    "a job that never ends": (shares(a={"v100": 1.0}), "shares: 'b' never runs, and would never end"),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: TimeShares, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence; the fifteenth digit counts."""
    assert two(criterion="makespan").violations(solution) == [sentence]


def test_who_needs_more_gpus_than_a_type_has_does_not_run_there() -> None:
    """A throughput on a type with too few GPUs counts for nothing: no share, no comparison."""
    problem = two(gpus={"v100": 1, "k80": 4})
    assert problem.rates["a"] == {"k80": 1}
    assert problem.proportional["a"] == Fraction(4, 5)
    assert problem.violations(shares(a={"v100": 0.1})) == ["shares: 'a' does not run on 'v100'"]


def test_isolated_shares_are_an_equal_part_of_the_gpus() -> None:
    """Each job has half of the GPUs of both types, and no more time than there is."""
    problem = two(
        gpus={"v100": 2, "k80": 1}, jobs=(JOBS[1], TypedJob(name="c", gpus=2, throughputs={"v100": 1.0}))
    )
    assert problem.isolated_shares == {"b": {"v100": Fraction(2, 3)}, "c": {"v100": Fraction(1, 2)}}
    assert problem.isolated_times == {"b": 20 + Fraction(300, 2), "c": 2}


def test_fitted_shares_keep_every_rule() -> None:
    """Whatever shares are given, those that are made of them break no rule and lose no more than they must."""
    for seed in range(cases(300)):
        problem, random = tiny(seed), Random(seed)
        given = {job.name: {kind: random.uniform(-0.2, 1.2) for kind in problem.gpus} for job in problem.jobs}
        fitted = problem.fitted(given)
        own = problem.model_copy(update={"criterion": "max_min"})
        assert own.violations(fitted) == [], seed
        assert own.fitted(fitted.shares) == fitted, seed


def test_fitted_shares_lose_the_sixteenth_digit_only() -> None:
    """A third is stored with fifteen digits, downwards, and a millionth of it too."""
    third, tiny_part = Fraction(1, 3), Fraction(1, 3_000_000)
    fitted = two().fitted({"a": {"v100": third, "k80": tiny_part}})
    assert fitted.shares["a"] == {"v100": 0.333333333333333, "k80": 3.33333333333333e-07}


def test_figures_beside_the_value() -> None:
    """The headline counts jobs, GPUs and types; the measures GPUs that are idle and jobs that never run."""
    problem = two()
    assert problem.headline() == {"jobs": 2, "gpus": 6, "types": 2, "criterion": "max_min"}
    assert problem.measures(shares(a={"k80": 0.5})) == {"idle_gpus": 5, "jobs_without_time": 1}
    assert problem.unit == "times the proportional throughput"


def test_a_billionth_is_no_difference() -> None:
    """The resolution is relative to the value, whatever its sign and size."""
    assert two().resolution(Fraction(2)) == Fraction(2, 10**9)
    assert two().resolution(1e-12) == Fraction(1e-12) / 10**9


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "two jobs of one name": ({"jobs": [JOBS[0]] * 2}, "jobs[1].name: 'a': must differ"),
    "an unknown type": ({"gpus": {"v100": 2}}, "jobs[0].throughputs: 'k80': must be a type of GPU of gpus"),
    "a job too large for all types": (
        {"gpus": {"v100": 1, "k80": 1}},
        "jobs[0].throughputs: {'v100': 4.0, 'k80': 1.0}: must be above 0 on a type",
    ),
    "no jobs": ({"jobs": []}, "jobs\n"),
    "no GPUs": ({"gpus": {}, "jobs": JOBS}, "gpus\n"),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], line: str) -> None:
    """Data that break a rule across fields are refused, field, value and rule named."""
    with pytest.raises(ValidationError) as raised:
        two(**changes)
    assert line in str(raised.value)


BAD_FILES = {
    "no steps": ('"steps": 600.0', '"steps": 0', "jobs[0].steps: 0: "),
    "negative weight": ('"weight": 2.0', '"weight": -1', "jobs[0].weight: -1: "),
    "hardly a throughput": (
        '"v100": 3.0',
        '"v100": 1e-300',
        "jobs[1].throughputs.v100: 1e-300: must be 0 or at least 1e-09",
    ),
    "another criterion": ('"criterion": "fifo"', '"criterion": "lifo"', "criterion: 'lifo': "),
    "half a GPU": ('"k80": 4', '"k80": 0.5', "gpus.k80: 0.5: "),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    """A file that breaks a rule is refused in one line that names field, value and rule."""
    assert line in refusal(tmp_path, to_json(two(criterion="fifo")), old, new)
