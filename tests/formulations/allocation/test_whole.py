"""Whole values: exactly those of the problem, as whole numbers."""

from fractions import Fraction

import numpy as np
import pytest

from formulations.allocation import whole as module
from formulations.allocation.groups import Groups
from formulations.allocation.whole import LARGEST_TOTAL, whole_values
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.problems.allocation import Allocation, ElasticJob
from instances.allocation import elastic_jobs
from tests.effort import cases
from tests.strategies.allocation import Impatient, tiny


@pytest.mark.parametrize("seed", range(cases(300)))
def test_values_are_those_of_the_problem_exactly(seed: int) -> None:
    """Of any items, of any magnitude: the number over the denominator is the problem's own fraction."""
    problem = tiny(seed)
    if problem.obstacle:
        return
    groups = Groups.of(problem)
    for items in (np.arange(groups.value.size), np.arange(0, groups.value.size, 3)):
        whole = whole_values(groups, items, Budget())
        assert whole is not None
        given = [problem.jobs[groups.job[item]].value(int(groups.extra[item])) for item in items.tolist()]
        assert [Fraction(int(number), whole.denominator) for number in whole.numbers] == given


def test_machine_integers_as_long_as_totals_fit() -> None:
    """A total of 2**60 in units of the denominator is where Python's integers take over."""
    for total, kind in ((LARGEST_TOTAL // 4, np.int64), (LARGEST_TOTAL // 2, object)):
        jobs = tuple(
            ElasticJob(name=name, min_workers=1, max_workers=2, values=(float(total) / 10**7,)) for name in "ab"
        )
        jobs += (ElasticJob(name="c", min_workers=1, max_workers=2, values=(1e-7,)),)
        groups = Groups.of(Allocation(capacity=9, jobs=jobs))
        whole = whole_values(groups, np.arange(6), Budget())
        assert whole is not None
        assert (whole.denominator, whole.numbers.dtype) == (10**7, np.dtype(kind))


def test_production_sizes_fit_machine_integers() -> None:
    """Two thousand jobs with up to 25 workers need no long numbers, nor do tables of seconds."""
    for scaling in ("proportional", "across_servers"):
        groups = Groups.of(elastic_jobs(jobs=2_000, capacity=4_000, scaling=scaling, seed=1))
        whole = whole_values(groups, np.arange(groups.value.size), Budget())
        assert whole is not None
        assert whole.numbers.dtype == np.int64


def test_a_job_that_is_only_there_with_nothing_costs_nothing() -> None:
    """Where only the empty item of a long job is asked for, its time does not make numbers long."""
    long = ElasticJob(name="long", min_workers=1, max_workers=2, time_at_min=1e12)
    third = ElasticJob(name="third", min_workers=2, max_workers=30, time_at_min=1)
    groups = Groups.of(Allocation(capacity=40, jobs=(long, third)))
    whole = whole_values(groups, np.array([0, *range(2, 12)]), Budget())
    assert whole is not None
    assert whole.numbers.dtype == np.int64


@pytest.mark.parametrize("most", [20_000, 40])
def test_a_denominator_that_is_too_long_is_refused(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many different worker counts have no short common denominator, alone or together with the times'."""
    monkeypatch.setattr(module, "_LONGEST", 20_000 if most > 100 else 60)
    job = ElasticJob(name="a", min_workers=1, max_workers=most, time_at_min=0.001)
    groups = Groups.of(Allocation(capacity=19_000, jobs=(job,)))
    with pytest.raises(Unsupported, match="no short common denominator"):
        whole_values(groups, np.arange(groups.value.size), Budget())


def test_too_many_long_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all numbers together would fill the memory they are not computed."""
    monkeypatch.setattr(module, "_MOST_DIGITS", 1_000)
    job = ElasticJob(name="a", min_workers=1, max_workers=60, time_at_min=1)
    groups = Groups.of(Allocation(capacity=100, jobs=(job,)))
    with pytest.raises(Unsupported, match="no short common denominator"):
        whole_values(groups, np.arange(groups.value.size), Budget())


@pytest.mark.parametrize("values", [(1e9, 1e-9), None])
def test_none_when_the_budget_passes_on_the_way(values: tuple[float, ...] | None) -> None:
    """Tables and proportional values alike look at the clock while they are converted."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=values, time_at_min=1)
    groups = Groups.of(Allocation(capacity=9, jobs=(job,)))
    for looks in (0, 1):
        assert whole_values(groups, np.arange(3), Impatient(looks=[looks])) is None
    assert whole_values(groups, np.arange(3), Impatient(looks=[2])) is not None
