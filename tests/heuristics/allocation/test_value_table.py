"""Value tables in floats."""

from typing import Any

import pytest

from gsopt.problems.allocation import ElasticJob
from heuristics.allocation.value_table import value_table
from instances.allocation import elastic_jobs


@pytest.mark.parametrize("scaling", ["proportional", "imperfect"])
def test_tables_are_those_of_the_problem(scaling: Any) -> None:
    """Every entry is the problem's own value, in floats; entries that cannot fit are left out."""
    problem = elastic_jobs(jobs=9, scaling=scaling, seed=2)
    for job in problem.jobs:
        exact = [float(job.value(extra)) for extra in job.extras]
        extras, values = value_table(job, 10**6)
        assert (list(extras), list(values)) == (list(job.extras), pytest.approx(exact, rel=1e-14))
        extras, values = value_table(job, 3 * job.gpus_per_worker)
        assert (list(extras), list(values)) == (list(job.extras)[:3], pytest.approx(exact[:3], rel=1e-14))


def test_menus_are_cut_where_they_do_not_fit() -> None:
    """Of 2, 5 or 9 extra workers of 3 GPUs each, two fit into 20 GPUs."""
    menu = ElasticJob(name="m", min_workers=1, counts=(2, 5, 9), gpus_per_worker=3, values=(1.5, 1, 7))
    assert value_table(menu, 20) == ((2, 5), (1.5, 1.0))
    assert value_table(menu, 5) == ((), ())
