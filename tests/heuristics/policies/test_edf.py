"""EDF: deadlines in order, by hand and as in the program of ElasticFlow."""

from typing import Any

import pytest

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.edf import edf
from instances.scenarios import elasticflow as published
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import ALIKE, traces

#: Speeds that fall on four GPUs.
MENU = [(1, 1.0), (2, 1.5), (4, 1.2)]


def due(*sizes: tuple[float, float, float | None]) -> Any:
    """Make elastic jobs of (release date, duration, deadline)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU, deadline=by)
        for i, (r, d, by) in enumerate(sizes)
    )


@pytest.mark.parametrize(
    ("sizes", "gpus", "options", "times"),
    [
        (((0, 6, 9), (0, 6, 7)), 2, {}, (8, 4)),  # the earlier deadline has both GPUs
        (((0, 6, 7), (0, 6, 7)), 2, {}, (4, 8)),  # of equal ones the first
        (((0, 6, None), (0, 6, 99)), 1, {}, (12, 6)),  # who has none comes last
        (((0, 6, 20), (1, 6, 9)), 2, {}, (8, 5)),  # who comes with an earlier one stops the other
        (((0, 6, 3), (1, 6, 9)), 1, {}, (6, 12)),  # who is late keeps its place
        (((0, 6, 7),), 4, {}, (4,)),  # nobody takes GPUs that slow it down
        (((0, 6, 7),), 4, {"largest": True}, (5,)),
    ],
)
def test_by_hand(
    sizes: tuple[tuple[float, float, float | None], ...],
    gpus: int,
    options: dict[str, Any],
    times: tuple[float, ...],
) -> None:
    """Jobs complete when the rule says."""
    run = simulate(due(*sizes), edf, cluster=gpus, bound=False, **options)
    assert run.completion_times == pytest.approx(times)


@pytest.mark.parametrize("largest", [False, True])
def test_it_passes_the_check(largest: bool) -> None:
    """It replays scenarios of all kinds legally, and every job completes."""
    drop = (CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4))
    elastic = Scenario.of(due((0, 6, 9), (1, 4, 5), (2, 3, None)), 4)
    scenarios = [*ALIKE, elastic, elastic.model_copy(update={"capacity_changes": drop})]
    assert check_policy(edf, scenarios, largest=largest) == 2 * len(scenarios)


@pytest.mark.parametrize(("nodes", "kept", "mean"), [(16, 23, 163_563.5), (8, 11, 276_981.9)])
def test_as_the_program_of_elasticflow(nodes: int, kept: int, mean: float) -> None:
    """On the largest numbers of GPUs as many deadlines are kept as there, on 64 and on 32 GPUs."""
    scenario = published(traces(), nodes=nodes, gpus_per_node=4)
    free = scenario.model_copy(update={"overheads": {"": Overhead()}})
    run = simulate(free, edf, largest=True, bound=False)
    assert run.metrics.deadlines_kept == kept / 195
    assert run.metrics.mean_jct == pytest.approx(mean, rel=2e-3)
