"""The heuristics of colocation."""

from collections import Counter
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.colocation import Colocation, ColocationSolution, Mode, Pending, Running, Share
from gsopt.testing import check_heuristic
from heuristics.colocation import bsbf, first_fit, random_pairs
from heuristics.colocation.queue import shortest_first
from tests.heuristics.results import solved, value
from tests.strategies.colocation import committed, small, tiny


def shares(problem: Colocation, **options: Any) -> dict[str, Share]:
    """Return the pairs that are chosen."""
    solution = solved(bsbf(problem, **options))
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


def test_the_first_that_fits_is_taken_whatever_it_costs() -> None:
    """On an instance where the first partners are the wrong ones sharing costs time, and BSBF saves some."""
    problem = small("first-fit-costs")
    found = first_fit(problem)
    assert found.objective is not None
    assert found.objective < 0
    better = value(bsbf(problem))
    assert better > 0


def test_every_pairing_is_drawn() -> None:
    """Over many seeds each of three partners is drawn about as often as the others, and one seed draws one."""
    problem = Colocation(
        running=[Running(name=name, gpus=1, seconds=9) for name in "abc"],
        pending=[Pending(name="p", gpus=1, seconds=5)],
    )
    drawn: Counter[str] = Counter()
    for seed in range(300):
        solution = solved(random_pairs(problem, seed=seed))
        assert solution == random_pairs(problem, seed=seed).solution
        drawn[solution.shares["p"].running] += 1
    assert set(drawn) == {"a", "b", "c"}
    assert min(drawn.values()) > 70


def test_whoever_has_room_is_used() -> None:
    """No job waits while a partner that has room is left alone."""
    problem = Colocation(
        running=[Running(name=f"r{k}", gpus=k, seconds=9) for k in (1, 2, 3)],
        pending=[Pending(name=f"p{k}", gpus=1, seconds=5) for k in (1, 2, 3)],
    )
    for seed in range(20):
        solution = solved(random_pairs(problem, seed=seed))
        assert len(solution.shares) == 3


def test_equal_jobs_keep_their_order() -> None:
    """Jobs of one length, or of one number of GPUs, stand as in the instance."""
    sizes = {"a": (2, 5.0), "b": (1, 9.0), "c": (2, 3.0), "d": (1, 5.0)}
    jobs = [Pending(name=name, gpus=gpus, seconds=seconds) for name, (gpus, seconds) in sizes.items()]
    problem = Colocation(running=[], pending=jobs)
    assert [job.name for job in shortest_first(problem, "seconds")] == ["c", "a", "d", "b"]
    assert [job.name for job in shortest_first(problem, "gpus")] == ["b", "d", "a", "c"]


HEURISTICS = heuristics("colocation")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_pairs_jobs_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds pairs that no rule forbids and that save no more than the optimum."""
    assert check_heuristic(method, committed()) == len(committed())


def test_the_best_stands_first() -> None:
    """Whoever has little time begins with the rule that looks at interference."""
    assert next(iter(HEURISTICS)) == "bsbf"
