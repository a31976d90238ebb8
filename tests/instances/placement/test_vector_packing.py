"""Vector packing: the classes of the literature with any number of resources."""

import pytest

from formulations.placement import column_generation
from gsopt.core.errors import InvalidInput
from instances.placement import vector_packing

RANGES = {1: (100, 400), 2: (1, 1000), 3: (200, 800), 4: (50, 200), 5: (25, 100), 6: (20, 100)}


@pytest.mark.parametrize("family", RANGES)
@pytest.mark.parametrize("resources", [1, 3, 10])
def test_sizes_of_the_uniform_classes(family: int, resources: int) -> None:
    """Every size is in the range of its class, for one, three and ten resources."""
    problem = vector_packing(family=family, workers=50, resources=resources)
    least, largest = RANGES[family]

    assert problem.size == 50
    assert len(problem.resources) == max(resources, 3)
    assert all(least <= size <= largest for demand in problem.demands for size in demand[:resources])
    assert {room[:resources] for room in problem.rooms} == {(150 if family == 6 else 1000,) * resources}


def test_sizes_are_close_in_class_7_and_opposite_in_class_8() -> None:
    """The other sizes differ from the first by at most 10, or add up with it to 110 to 130."""
    for first, *others in vector_packing(family=7, workers=100).demands:
        assert all(abs(first - other) <= 10 for other in others)
    for first, *others in vector_packing(family=8, workers=100).demands:
        assert all(110 <= first + other <= 130 for other in others)


def test_triplets_fill_servers() -> None:
    """In class 10 all workers fill a third as many servers to the brim, three to a server."""
    problem = vector_packing(family=10, workers=12, resources=5)

    assert [sum(sizes) for sizes in zip(*problem.demands, strict=True)] == [400] * 5
    assert column_generation(problem).objective == 4


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"family": 9}, "family: 9"),
        ({"workers": 0}, "workers: 0"),
        ({"family": 10, "workers": 10}, "workers: 10"),
        ({"resources": 0}, "resources: 0"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, int], line: str) -> None:
    """An argument out of its range is refused in one line."""
    with pytest.raises(InvalidInput, match=line):
        vector_packing(**options)
