"""The committed suites of waiting: both objectives and arrivals, and proofs that stand."""

import pytest

from formulations.waiting import exact
from gsopt.core.result import Status
from gsopt.problems.waiting import Waiting
from instances import load, names
from instances.waiting.suites import challenge, committed, medium, small


def test_every_size_has_both_objectives_and_arrivals() -> None:
    """Of each number of jobs there are four random instances."""
    for suite, sizes in ((small(), (3, 4, 5, 6)), (medium(), (8, 10, 12))):
        random = [problem for problem in suite if problem.about and problem.about.seed is not None]
        assert len(random) == 4 * len(sizes)
        assert {len(problem.jobs) for problem in random} == set(sizes)
    assert len(committed()) == len(small()) + len(medium()) + len(challenge())


def test_all_but_challenges_are_proven() -> None:
    """What the files say of small and medium instances is an optimum; of challenges it is a bracket."""
    for name in names("waiting/"):
        about = load(name).about
        assert about is not None
        assert about.objective is not None
        assert about.bound is not None
        assert about.bound <= about.objective
        assert about.proved_by or name.startswith("waiting/challenge/")


@pytest.mark.parametrize("name", ["batch-mean-jct-j05", "poisson-makespan-j06", "wait-for-a-machine"])
def test_what_files_say_is_found_again(name: str) -> None:
    """The exact method proves the optimum that the file says."""
    problem = load(f"waiting/small/{name}")
    assert isinstance(problem, Waiting)
    assert problem.about is not None
    result = exact(problem)

    assert result.status is Status.OPTIMAL
    assert result.objective is not None
    assert float(result.objective) == problem.about.objective
