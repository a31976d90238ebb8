"""Jobs that gain from one number of GPUs only, of which three fill a node, or just do not."""

import pytest

from formulations.goodput import exact
from gsopt.core.errors import InvalidInput
from instances.goodput import triples


def test_every_job_gains_from_its_size_only() -> None:
    """A job stands still on fewer GPUs than its size, and cannot have more, nor GPUs of several nodes."""
    problem = triples(nodes=3, gpus_per_node=20, excess=2, seed=1)

    assert len(problem.jobs) == 9
    for job in problem.jobs:
        assert job.max_gpus is not None
        (row,) = job.speedups
        assert len(row) == job.max_gpus
        assert set(row[:-1]) == {0.0}
        assert row[-1] > 0


@pytest.mark.parametrize("excess", [0, 1])
def test_all_run_only_without_excess(excess: int) -> None:
    """Without excess every job has its GPUs in the optimum; with it some job has none that help."""
    problem = triples(nodes=3, gpus_per_node=16, excess=excess, seed=1)
    solution = exact(problem).solution

    assert solution is not None
    served = [job for job in problem.jobs if sum(solution.gpus.get(job.name, ())) == job.max_gpus]
    assert (len(served) == 9) == (excess == 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 0}, "nodes: 0: must be at least 1"),
        ({"gpus_per_node": 15}, "gpus_per_node: 15: must be at least 16"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, int], message: str) -> None:
    """Nodes for which there are no three jobs are refused, as are none at all."""
    with pytest.raises(InvalidInput, match=message):
        triples(**options)
