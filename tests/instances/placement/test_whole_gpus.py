"""Workers that need GPUs only."""

import pytest

from gsopt.core.errors import InvalidInput
from instances.placement import whole_gpus


@pytest.mark.parametrize(("powers_of_two", "sizes"), [(True, {1, 2, 4, 8}), (False, set(range(1, 9)))])
def test_the_sizes(powers_of_two: bool, sizes: set[int]) -> None:
    """Every worker is a job of its own and needs GPUs of one of the sizes, nothing else."""
    problem = whole_gpus(workers=500, powers_of_two=powers_of_two)

    assert {line.demand.gpu for line in problem.workers} == sizes
    assert {(line.demand.cpu, line.demand.memory, line.count) for line in problem.workers} == {(0, 0, 1)}
    assert len({line.job for line in problem.workers}) == 500


def test_no_workers_is_an_instance_too() -> None:
    """Without workers there are servers only."""
    assert whole_gpus(workers=0, servers=3).size == 3


@pytest.mark.parametrize(
    ("options", "line"), [({"workers": -1}, "workers: -1"), ({"servers": 0}, "servers: 0")]
)
def test_bad_arguments_are_refused(options: dict[str, int], line: str) -> None:
    """An argument out of its range is refused in one line."""
    with pytest.raises(InvalidInput, match=line):
        whole_gpus(**options)  # type: ignore[arg-type]
