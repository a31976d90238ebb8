"""The generator of half-busy clusters."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.consolidation import half_busy


def test_one_seed_is_one_instance() -> None:
    """The same arguments give the same instance, another seed another."""
    assert half_busy(seed=3) == half_busy(seed=3)
    assert half_busy(seed=3).jobs != half_busy(seed=4).jobs


@pytest.mark.parametrize(("busy", "least", "most"), [(0.0, 0, 0), (0.5, 400, 620), (1.0, 1024, 1024)])
def test_so_many_gpus_are_busy(busy: float, least: int, most: int) -> None:
    """About the share of the 1,024 GPUs is taken, and not the same number on every machine."""
    problem = half_busy(racks=16, busy=busy)
    taken = [sum(gpu in problem.busy for gpu in gpus) for gpus in problem.cluster.gpus_of.values()]
    assert least <= sum(taken) <= most
    assert (len(set(taken)) > 1) == (least != most)


def test_demands_and_weights() -> None:
    """Powers of two divide each other, others do not; weights are as asked for."""
    two, others = half_busy(jobs=200), half_busy(jobs=200, demands="any", weights="drawn")
    assert {job.gpus for job in two.jobs} == {1, 2, 4, 8, 16, 32}
    assert {3, 5, 6, 12} <= {job.gpus for job in others.jobs}
    assert {job.weight for job in two.jobs} == {1.0}
    assert {job.weight for job in half_busy(jobs=99, weights="levels").jobs} == {1.0, 2.0, 4.0}
    assert len({job.weight for job in others.jobs}) > 100


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no racks": ({"racks": 0}, "racks: 0: must be at least 1"),
    "no machines": ({"machines": 0}, "machines: 0: must be at least 1"),
    "no GPUs": ({"gpus": 0}, "gpus: 0: must be at least 1"),
    "fewer jobs than none": ({"jobs": -1}, "jobs: -1: must be at least 0"),
    "more busy than all": ({"busy": 1.5}, "busy: 1.5: must be between 0 and 1"),
    "unknown demands": ({"demands": "odd"}, "demands: 'odd': must be one of powers_of_two, any"),
    "unknown weights": ({"weights": "two"}, "weights: 'two': must be one of one, levels, drawn"),
    "unknown objective": ({"maximize": "jobs"}, "maximize: 'jobs': must be one of value"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_named(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is one line with its name, value and rule."""
    with pytest.raises(InvalidInput, match=line):
        half_busy(**options)
