"""Value tables in floats."""

from typing import Any

import pytest

from heuristics.allocation.value_table import value_table
from instances.allocation import elastic_jobs


@pytest.mark.parametrize("scaling", ["proportional", "imperfect"])
def test_tables_are_those_of_the_problem(scaling: Any) -> None:
    """Every entry is the problem's own value, in floats; entries that cannot fit are left out."""
    problem = elastic_jobs(jobs=9, scaling=scaling, seed=2)
    for job in problem.jobs:
        exact = [float(job.value(extra)) for extra in range(job.max_extra + 1)]
        assert value_table(job, 10**6) == pytest.approx(exact, rel=1e-14)
        assert value_table(job, 3 * job.gpus_per_worker) == pytest.approx(exact[:4], rel=1e-14)
