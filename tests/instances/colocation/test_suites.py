"""The committed instances of colocation."""

from gsopt.evaluation.catalogue import load
from heuristics.colocation import bsbf, first_fit
from instances.colocation.suites import large, production
from tests.strategies.colocation import committed


def test_every_large_instance_is_proven() -> None:
    """Value and bound in the file of a large instance are the same, proven by two techniques."""
    for problem in [*production(), *large()]:
        about = load(problem.name).about
        assert about is not None
        assert about.objective == about.bound is not None
        assert about.proved_by == "assignment and matching"


def test_the_small_suite_tells_methods_apart() -> None:
    """BSBF misses the optimum of at least three small instances, and first fit of more."""
    small = [problem for problem in committed() if problem.about is not None]
    best = [problem.about.objective for problem in small if problem.about is not None]
    missed = {
        method.__name__: sum(
            float(method(problem).objective or 0) < float(value or 0)
            for problem, value in zip(small, best, strict=True)
        )
        for method in (bsbf, first_fit)
    }
    assert 3 <= missed["bsbf"] <= missed["first_fit"]
