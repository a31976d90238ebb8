"""Jobs of one size each, of which three fill a pool, or just do not."""

import pytest

from formulations.configuration import exact
from gsopt.core.errors import InvalidInput
from instances.configuration import triples


def test_every_job_runs_on_one_number_of_gpus_of_any_pool() -> None:
    """A job is as fast in every pool, and runs on one number of GPUs there."""
    problem = triples(pools=3, gpus=20, excess=2, seed=1)

    assert len(problem.jobs) == 9
    for job in problem.jobs:
        runs = [(problem.configurations[place], each) for place, each in enumerate(job.goodputs) if each]
        assert len({shape.gpus for shape, _ in runs}) == len({goodput for _, goodput in runs}) == 1
        assert [shape.type for shape, _ in runs] == list(problem.gpus)


@pytest.mark.parametrize("excess", [0, 1])
def test_all_run_only_without_excess(excess: int) -> None:
    """Without excess the optimum leaves nobody waiting; with it somebody waits."""
    problem = triples(pools=3, gpus=16, excess=excess, seed=1)
    solution = exact(problem).solution

    assert solution is not None
    assert (len(solution.configurations) == 9) == (excess == 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"pools": 0}, "pools: 0: must be at least 1"), ({"gpus": 15}, "gpus: 15: must be at least 16")],
)
def test_options_out_of_range_are_refused(options: dict[str, int], message: str) -> None:
    """Pools for which there are no three jobs are refused, as are none at all."""
    with pytest.raises(InvalidInput, match=message):
        triples(**options)
