"""The judge of colocation, against values worked out by hand and jobs that are played."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.files import to_json
from gsopt.problems.colocation import Colocation, ColocationSolution, Mode, Pending, Running, Share
from gsopt.testing import brute_force
from tests.gsopt.performance.colocation.play import completions, drawn
from tests.gsopt.problems.checks import refusal

RUNNING = (
    Running(name="a", gpus=4, seconds=400, model="x", memory=50),
    Running(name="b", gpus=1, seconds=100, model="y", memory=10),
)
PENDING = (
    Pending(
        name="p", gpus=2, seconds=100, model="y", memory=40, modes=[Mode(name="half", slowdown=1.25, memory=25)]
    ),
    Pending(name="q", gpus=1, seconds=100, model="x", memory=20),
)
TABLE = {"x": {"y": 2.0, "x": 1.5}, "y": {"x": 2.0, "y": 3.0}}


def two_and_two(**changes: Any) -> Colocation:
    """Return two running and two pending jobs, of which one has two modes."""
    fields: dict[str, Any] = {"running": RUNNING, "pending": PENDING, "interference": TABLE}
    return Colocation(**{**fields, **changes})


def shares(**partners: tuple[str, str]) -> ColocationSolution:
    """Return a solution by names of pending jobs."""
    return ColocationSolution(shares={name: Share(running=r, mode=m) for name, (r, m) in partners.items()})


VALUES: Mapping[str, tuple[ColocationSolution, Fraction]] = {
    "nobody": (shares(), Fraction(0)),
    "case 1": (shares(p=("a", "")), Fraction(900 - 700)),  # p at 200 s, a at 200 + 300
    "a sub-batch": (shares(p=("a", "half")), Fraction(900) - 250 - 525),
    "case 2": (shares(q=("b", "")), Fraction(300 - 400)),  # both slowed down by 2, until 200 s
    "two pairs": (shares(p=("a", ""), q=("b", "")), Fraction(200 - 100)),
    "one model": (shares(q=("a", "")), Fraction(900) - 150 - 450),
}


@pytest.mark.parametrize(("solution", "value"), VALUES.values(), ids=VALUES.keys())
def test_values_by_hand(solution: ColocationSolution, value: Fraction) -> None:
    """A pair saves what both completions come to one after the other, less what they come to together."""
    problem = two_and_two()
    assert problem.violations(solution) == []
    assert problem.objective(solution) == value


def test_values_are_what_is_played() -> None:
    """On random pairs the value is that of the two jobs as they run from event to event."""
    for seed in range(200):
        two = drawn(Random(f"judge {seed}"))
        decimals = [float(round(each, 3)) for each in two]
        exact = type(two)(*(Fraction(repr(each)) for each in decimals))
        problem = Colocation(
            running=[Running(name="a", gpus=1, seconds=decimals[0], model="a")],
            pending=[Pending(name="b", gpus=1, seconds=decimals[1], model="b")],
            interference={"a": {"b": decimals[2]}, "b": {"a": decimals[3]}},
        )
        waits, together = completions(exact, exact.seconds_a), completions(exact, Fraction(0))
        assert problem.objective(shares(b=("a", ""))) == sum(waits) - sum(together), seed


def test_pairs_that_are_not_listed_have_the_default() -> None:
    """A model that the table does not know has the default slowdown, and hinders by it."""
    problem = two_and_two(interference={}, default_interference=1.5)
    assert [problem.slowdown(*pair) for pair in (("x", "y"), ("", "z"))] == [Fraction(3, 2)] * 2
    assert two_and_two().slowdown("y", "z") == 1


WRONG: Mapping[str, tuple[ColocationSolution, str]] = {
    "no such job": (shares(z=("a", "")), "shares: 'z' is not a pending job of the instance"),
    "no such partner": (shares(p=("z", "")), "shares: 'p' is with 'z', which is not a running job"),
    "a pending partner": (shares(p=("q", "")), "shares: 'p' is with 'q', which is not a running job"),
    "no such mode": (shares(p=("a", "third")), "shares: 'p' has no mode 'third'"),
    "too few GPUs": (shares(p=("b", "half")), "shares: 'p' needs 2 GPUs, 'b' has 1"),
    "too much memory": (shares(p=("a", "")), "shares: 'p' and 'a' use 90 bytes, a GPU has 75"),
    "two partners": (shares(p=("a", "half"), q=("a", "")), "shares: 'a' has 2 partners"),
}


@pytest.mark.parametrize(("solution", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_broken_rules_are_named(solution: ColocationSolution, sentence: str) -> None:
    """Each rule that a solution breaks is one sentence with the jobs."""
    assert two_and_two(memory=75).violations(solution) == [sentence]


def test_what_is_offered_is_what_the_judge_allows() -> None:
    """A mode is offered beside a running job exactly where no rule forbids it, and saves what that counts."""
    problem = two_and_two(memory=75)
    for beside in problem.running:
        for job in problem.pending:
            offered = {each.name: each.pair.saved for each in problem.offered(beside, job)}
            for mode in ("", *(each.name for each in job.modes)):
                solution = shares(**{job.name: (beside.name, mode)})
                assert (mode in offered) == (not problem.violations(solution))
                assert offered.get(mode, problem.objective(solution)) == problem.objective(solution)


def test_candidates_are_all_pairings() -> None:
    """Two pending jobs, one in two modes, beside two running ones are 1 + 4 + 2 + 2 x 2 choices."""
    found = list(two_and_two().candidates())
    assert len(found) == len({str(each) for each in found}) == 1 + 4 + 2 + 4
    assert brute_force(two_and_two()) == (300, shares(q=("a", "")))


def test_figures_beside_the_value() -> None:
    """The measures count pairs, shared GPUs and divided batches; the headline both kinds of jobs."""
    problem = two_and_two()
    assert problem.headline() == {"running": 2, "pending": 2}
    measures = problem.measures(shares(p=("a", "half"), q=("b", "")))
    assert measures == {"pairs": 2, "shared_gpus": 3, "divided_batches": 1}


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "two running jobs of one name": ({"running": [RUNNING[0]] * 2}, "running[1].name: 'a': must differ"),
    "two pending jobs of one name": ({"pending": [PENDING[0]] * 2}, "pending[1].name: 'p': must differ"),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(changes: dict[str, Any], line: str) -> None:
    """Data that break a rule across fields are refused, field, value and rule named."""
    with pytest.raises(ValidationError) as raised:
        two_and_two(**changes)
    assert line in str(raised.value)


BAD_FILES = {
    "no GPUs": ('"gpus": 4', '"gpus": 0', "running[0].gpus: 0: "),
    "negative seconds": ('"seconds": 400.0', '"seconds": -1', "running[0].seconds: -1: "),
    "faster together": ('"y": 3.0', '"y": 0.5', "interference.y.y: 0.5: "),
    "faster in parts": ("1.25", "0.9", "pending[0].modes[0].slowdown: 0.9: "),
    "half a byte": ('"memory": 40', '"memory": 0.5', "pending[0].memory: 0.5: "),
    "a mode without a name": ('"half"', '""', "pending[0].modes[0].name: '': "),
    "another key": ('"interference"', '"slowdowns"', "slowdowns: "),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    """A file that breaks a rule is refused in one line that names field, value and rule."""
    assert line in refusal(tmp_path, to_json(two_and_two()), old, new)


def test_two_modes_of_one_name_are_refused() -> None:
    """Modes of a job have different names."""
    mode = Mode(name="half", slowdown=1, memory=1)
    with pytest.raises(ValidationError, match=r"modes\[1\]\.name: 'half': must differ"):
        Pending(name="p", gpus=1, seconds=1, modes=[mode, mode])
