"""The search of Pollux."""

from typing import Any

import pytest

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput
from gsopt.problems.goodput import Goodput
from heuristics.goodput import genetic
from instances.goodput import running_jobs
from tests.processes import PATIENCE
from tests.strategies.goodput import LINEAR, job


def test_a_seed_repeats_the_search() -> None:
    """The same seed finds the same division, and more generations none that is worse."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    few, again, more = (genetic(problem, generations=n, population=20, seed=1) for n in (5, 5, 40))
    assert few.solution == again.solution
    assert few.objective is not None
    assert more.objective is not None
    assert more.objective <= few.objective


def test_no_generation_leaves_what_runs() -> None:
    """Without generations jobs keep what they have."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    result = genetic(problem, generations=0)
    assert result.solution is not None
    assert result.solution.gpus == {each.name: each.current for each in problem.jobs if each.current}


def test_repair_favours_the_jobs_listed_first() -> None:
    """Of jobs that hold more than they may the first keeps its nodes, and a limit takes what is beyond it."""
    wide = [job(name, *LINEAR, current=[1, 1]) for name in "ab"]
    result = genetic(Goodput(nodes=[2, 2], jobs=wide), generations=0)
    assert result.solution is not None
    assert result.solution.gpus == {"a": (1, 1)}
    limited = [job("a", *LINEAR, current=[3, 0], max_gpus=2)]
    result = genetic(Goodput(nodes=[3, 3], jobs=limited), generations=0)
    assert result.solution is not None
    assert result.solution.gpus == {"a": (2, 0)}


def test_jobs_stand_on_no_more_nodes_than_asked() -> None:
    """With one node to a job none is spread."""
    problem = running_jobs(nodes=4, jobs=5, seed=2)
    result = genetic(problem, generations=10, population=20, most_nodes=1)
    assert result.solution is not None
    assert max(sum(map(bool, gpus)) for gpus in result.solution.gpus.values()) == 1


def test_a_faster_job_on_more_nodes_is_not_allowed_either() -> None:
    """What limits the nodes of a job limits the search also where more of them are twice as fast."""
    problem = Goodput(nodes=[1, 1], jobs=[job("a", [1.0, 2.0], [2.0])])
    solutions = [genetic(problem, most_nodes=most, generations=20).solution for most in (1, 2)]
    assert [each and sum(each.gpus["a"]) for each in solutions] == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: 1: must be at least 2"),
        ({"generations": -1}, "generations: -1: must be at least 0"),
        ({"most_nodes": 0}, "most_nodes: 0: must be at least 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Each option is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        genetic(running_jobs(nodes=2, jobs=3), **options)


def test_no_generation_begins_without_time() -> None:
    """Without any second for it the search gives what no generation gives; with enough, what all give."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    first, last = (genetic(problem, generations=number).solution for number in (0, 5))
    assert first != last
    assert genetic(problem, generations=5, budget=Budget(time_limit=0)).solution == first
    assert genetic(problem, generations=5, budget=Budget(time_limit=PATIENCE)).solution == last
