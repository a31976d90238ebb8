"""Options in whole numbers, and what is known at once."""

import pytest

from formulations.configuration.case import Case, alone, kept
from gsopt.core.errors import Unsupported
from gsopt.problems.configuration import Configuration, Shape
from tests.effort import cases
from tests.exactness import configuration as oracle
from tests.strategies.configuration import job, node, tiny


def test_dearer_options_with_no_fewer_gpus_are_left_out() -> None:
    """Of equal costs both stay; what is dearer than none goes; none stays."""
    found = Case.of(node(4, job("a", 1.0, 1.0, 0.5))).options[0]
    assert [option.place for option in found] == [0, 1, None]


def test_fewer_gpus_of_another_type_rule_nothing_out() -> None:
    """An option is held against those of its own type only."""
    listed = [Shape(type="fast", gpus=1), Shape(type="slow", gpus=2)]
    jobs = [job("a", 4.0, 1.0)]
    problem = Configuration(gpus={"fast": 1, "slow": 2}, configurations=listed, jobs=jobs)
    assert [option.place for option in Case.of(problem).options[0]] == [0, 1, None]


def test_what_is_kept_breaks_no_rule_and_nothing_is_below_the_bound() -> None:
    """On instances with hard numbers the beginning is a solution, and the bound no more than the optimum."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        assert problem.violations(kept(problem)) == [], seed
        assert alone(problem) <= oracle.optimum(problem), seed


def test_pinned_jobs_are_kept_before_others() -> None:
    """Where not all fit that have GPUs, pinned ones keep theirs."""
    first, pinned = job("a", 1.0, 2.0, None, current=1), job("b", 1.0, 2.0, None, current=1, pinned=True)
    assert kept(node(2, first, pinned)).configurations == {"b": 1}


def test_totals_beyond_whole_numbers_are_refused() -> None:
    """Costs and a penalty of so many digits that sums of whole numbers may overflow raise Unsupported."""
    jobs = [job(name, 1.0, 2.0, 3.0) for name in "abcdefghijkl"]
    with pytest.raises(Unsupported, match="too many digits"):
        Case.of(node(16, *jobs, penalty=1.1234567890123457))
