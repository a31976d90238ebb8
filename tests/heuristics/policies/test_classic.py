"""Classic policies: each rule by hand."""

from math import inf, nan
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies import (
    elastic_las,
    elastic_srtf,
    equal_share,
    fifo,
    fifo_skipping,
    las,
    random_order,
    sjf,
    srsf,
    srtf,
    ssf,
)
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import pieces

_MENU = ((1, 1.0), (2, 2.0), (4, 4.0))

_ELASTIC = bundle(
    [
        Job(name="a", release_date=0, duration=12, gpus=1, menu=linear_menu(1, [1, 2, 4])),
        Job(name="b", release_date=1, duration=5, gpus=1),
        Job(name="c", release_date=1, duration=4, gpus=2, menu=linear_menu(2, [2, 4])),
    ]
)


def check(policy: Policy, scenario: Scenario) -> None:
    """Check that every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = (CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=scenario.cluster.gpus))
    assert check_policy(policy, [scenario, scenario.model_copy(update={"capacity_changes": drop})]) == 4


@pytest.mark.parametrize(
    ("policy", "sizes", "completions", "preemptions"),
    [
        # the third job, which would fit at 2 s, waits behind the second, which waits for both GPUs
        (fifo, [(0, 4, 1), (1, 2, 2), (2, 1, 1)], (4, 6, 7), 0),
        # the last two overtake the second, which waits for both GPUs until 8 s
        (fifo_skipping, [(0, 4, 1), (1, 2, 2), (2, 1, 1), (2, 5, 1)], (4, 10, 3, 8), 0),
        # that of 3 s, then those of 2 s and 5 s side by side, as that of 4 s needs both GPUs
        (sjf, [(0, 5, 1), (0, 3, 2), (1, 4, 2), (2, 2, 1)], (8, 3, 12, 5), 0),
        # those of 1 and 5 GPU-seconds, then that of 4; the shorter one of 6 waits for both GPUs
        (ssf, [(0, 3, 2), (0, 5, 1), (0, 1, 1), (1, 4, 1)], (8, 5, 1, 5), 0),
        # the first runs 0-3, the third 2-3; the last stops both; with 3 s left they go before the second
        (srsf, [(0, 6, 1), (1, 4, 2), (2, 4, 1), (3, 1, 2)], (7, 11, 7, 4), 2),
        # the second runs 2-5, the third 3-4 beside it; at 4 the second has 1 s left, so the last waits until 5
        (srtf, [(0, 6, 2), (2, 3, 1), (3, 1, 1), (4, 2, 2)], (11, 5, 4, 7), 1),
        # the first runs 0-1, the second 1-2, the third 2-4; then the second, which has held less
        (las, [(0, 4, 2), (1, 3, 1), (2, 2, 2)], (9, 6, 4), 2),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_by_hand(
    policy: Policy, sizes: list[tuple[float, float, int]], completions: tuple[float, ...], preemptions: int
) -> None:
    """Jobs of (release date, duration, GPUs) on two GPUs complete when the rule says."""
    run = simulate(workload(*sizes), policy, cluster=2)
    assert (run.completion_times, run.metrics.preemptions) == (completions, preemptions)
    check(policy, Scenario(workload=workload(*sizes), cluster=Cluster.plain(2)))


@pytest.mark.parametrize(
    ("policy", "completions"),
    [
        (
            elastic_las,
            (6.5, 6, 5),
        ),  # a on 4 GPUs until 1 s, on 1 until c completes, on 2 until b does, then on 4
        (elastic_srtf, (3, 10, 5)),  # at 1 s a and c have 2 s to go on 4 GPUs, b 5 s: first a, then c, then b
    ],
)
def test_elastic_jobs(policy: Policy, completions: tuple[float, ...]) -> None:
    """Jobs grow in the order of the key."""
    assert simulate(_ELASTIC, policy, cluster=4, exact=True).completion_times == completions
    check(policy, Scenario(workload=_ELASTIC, cluster=Cluster.plain(4)))


def test_quantum_takes_turns() -> None:
    """With a quantum of 1 s two equal jobs take turns on one GPU: a, b, a, b."""
    run = simulate(workload((0, 2, 1), (0, 2, 1)), las, cluster=1, quantum=1, exact=True)
    assert run.completion_times == (3, 4)


@pytest.mark.parametrize(
    ("policy", "option", "value"),
    [(las, "quantum", value) for value in (0, -1, nan, inf, "1")]
    + [(policy, "alpha", value) for policy in (elastic_las, elastic_srtf) for value in (0, 1.01, nan, "1")],
)
def test_bad_options(policy: Policy, option: str, value: Any) -> None:
    """An option out of its range is refused in one line."""
    rule = "a positive number of seconds" if option == "quantum" else "a number above 0 and at most 1"
    with pytest.raises(InvalidInput, match=f"^{option}: .* must be {rule}"):
        simulate(_ELASTIC, policy, cluster=4, **{option: value})


def test_shares_shrink_for_newcomers_and_grow_again() -> None:
    """Alone a job has 4 GPUs, then 2, then 4 again."""
    sizes = [("a", 0, 16), ("b", 2, 4)]
    jobs = bundle(Job(name=n, release_date=r, duration=d, gpus=1, menu=_MENU) for n, r, d in sizes)
    run = simulate(jobs, equal_share, cluster=4, record=True)
    assert run.completion_times == (5.0, 4.0)
    assert [segment.gpus for segment in pieces(run, "a")] == [4, 2, 4]


@pytest.mark.parametrize(("jobs", "gpus", "last"), [(3, [2, 1, 1], 0.0), (5, [1, 1, 1, 1], 4.0)])
def test_smallest_counts_come_first(jobs: int, gpus: list[int], last: float) -> None:
    """What is left beyond the smallest counts goes to the lower number; jobs beyond them wait."""
    made = bundle(Job(name=str(n), release_date=0, duration=4, gpus=1, menu=_MENU) for n in range(jobs))
    run = simulate(made, equal_share, cluster=4, record=True)
    assert [segment.gpus for segment in pieces(run)[: len(gpus)]] == gpus
    assert run.start_times[-1] == last


def test_the_seed_decides_a_random_order() -> None:
    """Equal seeds give equal orders, and some other seed another one."""
    jobs = workload(*[(0, 1, 1)] * 8)
    orders = [simulate(jobs, random_order, cluster=1, seed=seed).completion_times for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1
