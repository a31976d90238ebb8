"""The shortest job first, beside the partner with which both complete soonest."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.colocation import Colocation, ColocationSolution, Mode, Pending, Running, Share
from heuristics.colocation import bsbf
from tests.strategies.colocation import small, tiny


def shares(problem: Colocation, **options: Any) -> dict[str, Share]:
    """Return the pairs that are chosen."""
    solution = bsbf(problem, **options).solution
    assert solution is not None
    return dict(solution.shares)


def test_no_pair_loses() -> None:
    """By the end points no pair costs more than waiting; by the printed cases some do."""
    lost = 0
    for seed in range(150):
        problem = tiny(seed)
        each = [ColocationSolution(shares={name: s}) for name, s in shares(problem).items()]
        assert all(problem.objective(solution) >= 0 for solution in each), seed
        printed = [ColocationSolution(shares={n: s}) for n, s in shares(problem, rule="cases").items()]
        lost += sum(problem.objective(solution) < 0 for solution in printed)
    assert lost > 10


@pytest.mark.parametrize(
    ("name", "rule", "together"),
    [
        ("pair-shares", "end_points", True),
        ("pair-shares", "sign", False),
        ("pair-waits", "end_points", False),
        ("pair-waits", "sign", False),
        ("pair-waits", "cases", True),
        ("pair-tie", "end_points", True),
    ],
)
def test_rules_by_hand(name: str, rule: str, together: bool) -> None:
    """The pairs (4, 1, 2) and (1, 1, 3), and one where both ends are equal, by each rule."""
    assert bool(shares(small(name), rule=rule)) == together


def test_the_soonest_pair_is_not_the_one_that_saves_most() -> None:
    """Each job takes the partner with which both are soonest done, and a tenth of the savings is lost."""
    problem = small("short-partner-is-chosen-first")
    found, best = bsbf(problem).objective, exact_value(problem)
    assert shares(problem) == {"p": Share(running="soon"), "q": Share(running="late")}
    assert found is not None
    assert 0.8 * best < found < 0.9 * best
    suiting = small("models-that-suit")
    assert shares(suiting) == {"p": Share(running="b"), "q": Share(running="a")}


def test_the_partner_beside_which_most_is_saved_is_an_option() -> None:
    """Whoever prefers savings takes the long partner, whose end is worst to wait for."""
    problem = Colocation(
        running=[Running(name="soon", gpus=1, seconds=20), Running(name="late", gpus=1, seconds=900)],
        pending=[Pending(name="p", gpus=1, seconds=15)],
    )
    assert shares(problem) == {"p": Share(running="soon")}
    assert shares(problem, prefers="saved") == {"p": Share(running="late")}
    with pytest.raises(InvalidInput, match="prefers: 'any': must be one of mean_jct, saved"):
        bsbf(problem, prefers="any")  # type: ignore[arg-type]


def exact_value(problem: Colocation) -> float:
    """Return the optimum that stands in an instance's file."""
    assert problem.about is not None
    assert problem.about.objective is not None
    return problem.about.objective


def test_jobs_are_ordered_by_seconds_or_by_gpus() -> None:
    """Of two jobs that want one partner the shorter one has it, or the smaller one where that is asked for."""
    problem = Colocation(
        running=[Running(name="a", gpus=4, seconds=100)],
        pending=[Pending(name="short", gpus=4, seconds=5), Pending(name="small", gpus=1, seconds=9)],
    )
    assert list(shares(problem)) == ["short"]
    assert list(shares(problem, key="gpus")) == ["small"]
    with pytest.raises(InvalidInput, match="key: 'age': must be one of seconds, gpus"):
        bsbf(problem, key="age")  # type: ignore[arg-type]


def test_the_smaller_of_equal_sub_batches_is_an_option() -> None:
    """A sub-batch that is as fast as the whole batch is taken where the printed line is asked for."""
    problem = Colocation(
        running=[Running(name="a", gpus=1, seconds=100)],
        pending=[Pending(name="p", gpus=1, seconds=5, modes=[Mode(name="half", slowdown=1, memory=0)])],
    )
    assert shares(problem) == {"p": Share(running="a")}
    assert shares(problem, ties="smaller") == {"p": Share(running="a", mode="half")}


def test_the_largest_sub_batch_that_fits_is_chosen() -> None:
    """Where the whole batch does not fit, half of it does."""
    assert shares(small("half-a-batch-fits")) == {"p": Share(running="a", mode="half")}
    assert shares(small("nothing-fits")) == {}
