"""Three jobs for each rack, which just fit, or just do not."""

import pytest

from gsopt.core.errors import InvalidInput
from instances.consolidation import triples


@pytest.mark.parametrize("excess", [0, 3])
@pytest.mark.parametrize(("machines", "gpus"), [(2, 8), (17, 1), (3, 7), (8, 8)])
def test_three_jobs_come_to_a_rack_and_the_excess(machines: int, gpus: int, excess: int) -> None:
    """All jobs together need what was asked for, and each is between a quarter and half of a rack."""
    problem = triples(racks=5, machines=machines, gpus=gpus, excess=excess, seed=1)

    rack = machines * gpus
    assert len(problem.jobs) == 15
    assert sum(job.gpus for job in problem.jobs) == 5 * (rack + excess)
    assert all(rack < 4 * job.gpus and 2 * job.gpus < rack for job in problem.jobs)
    assert problem.busy == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"racks": 0}, "racks: 0: must be at least 1"),
        ({"machines": 1, "gpus": 15}, "machines: 1: must have 16 GPUs in all, or more"),
        ({"excess": 4}, "excess: 4: must be between 0 and 3"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, int], message: str) -> None:
    """Racks for which there are no three jobs are refused, as are other numbers out of range."""
    with pytest.raises(InvalidInput, match=message):
        triples(**options)
