"""The committed instances of reclaiming: their optima are right, and they tell variants apart."""

import pytest

from gsopt.problems.reclaiming import Reclaiming
from gsopt.testing import brute_force
from instances import load, names

TINY = ["reclaiming/aryl-figure-5", *names("reclaiming/small/")]


def loaded(name: str) -> Reclaiming:
    """Load an instance of reclaiming."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    return problem


def optimum(name: str) -> float:
    """Return the optimum that a file carries."""
    about = load(name).about
    assert about is not None
    assert about.objective is not None
    return about.objective


@pytest.mark.parametrize("name", TINY)
def test_brute_force_confirms_every_small_instance(name: str) -> None:
    """The optimum that a small file carries is the one that trying every choice finds."""
    problem = loaded(name)
    found = brute_force(problem)

    assert found is not None
    assert problem.about is not None
    assert problem.about.objective == problem.about.bound == found[0]
    assert problem.about.proved_by == "brute force"
    assert 4 <= len(problem.servers) <= 9


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show that each variant of the problem changes the optimum."""
    objective = {name.rpartition("/")[2]: optimum(name) for name in TINY}

    assert objective["fungible"] < objective["tagged"]
    assert objective["fungible-weighted"] < objective["tagged-weighted"]
    assert objective["collateral-fungible"] < objective["collateral-tagged"]
    assert objective["demand-0"] == objective["no-jobs"] == 0
    assert objective["weighted-fractions"] == 0.75


def test_the_production_suite() -> None:
    """Three modes and four demands at 520 servers."""
    expected = [
        f"reclaiming/production/{mode}-{demand}"
        for mode in ("mixed", "packed", "worker")
        for demand in ("020", "060", "150", "300")
    ]

    assert expected == names("reclaiming/production/")
    for name in expected:
        problem = loaded(name)
        assert (len(problem.servers), problem.demand) == (520, int(name[-3:]))
