"""The committed instances of consolidation."""

from formulations.consolidation import exact
from gsopt.evaluation.catalogue import load
from heuristics.consolidation import greedy
from instances.consolidation.suites import large, production
from tests.strategies.consolidation import committed


def test_every_large_instance_is_proven() -> None:
    """Value and bound in the file of a large instance are the same, proven by two families."""
    for problem in [*production(), *large()]:
        about = load(problem.name).about
        assert about is not None
        assert about.objective == about.bound is not None
        assert about.proved_by == "exact, HiGHS and CP-SAT"


def test_the_small_suite_tells_variants_apart() -> None:
    """The number of jobs and their value are different questions, and the greedy order is not always right."""
    small = {problem.name.rpartition("/")[2]: problem for problem in committed()}
    by_value, by_number = (exact(small[name]).solution for name in ("by-value", "by-number"))
    assert by_value is not None
    assert by_number is not None
    assert len(by_value.placed) < len(by_number.placed)
    assert small["by-value"].objective(by_value) > small["by-value"].objective(by_number)
    lost = [name for name, problem in small.items() if greedy(problem).objective != exact(problem).objective]
    assert len(lost) >= 3
