"""Aryl with other schedulers: what each does in a run, and that runs are legal."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.testing import check_policy
from heuristics.policies.aryl import schedulers
from heuristics.policies.aryl.policy import aryl
from tests.effort import cases
from tests.gsopt.simulation.scenarios import rich_scenarios
from tests.heuristics.policies.aryl.scenes import job, machines_of, pools, run

_SECONDS: dict[str, Any] = {"interval": 1, "orchestrator_interval": 1}

#: Two elastic jobs on 8 GPUs, and one that comes and needs 4 of them.
_GROWING = job("a", 0, 60, 2, 6)
_COMING = job("c", 2, 4, 4)


def _times(scheduler: str, *jobs: Any, machines: int = 1, **options: Any) -> tuple[Any, ...]:
    return run(
        aryl, pools(machines, 0), *jobs, scheduler=scheduler, scheduler_options=options or None, **_SECONDS
    ).completion_times


def test_fifo_does_not_scale() -> None:
    """Job a stays on its two GPUs for a minute, though six are idle."""
    assert _times("fifo", _GROWING) == (60,)
    assert _times("gandiva", _GROWING) == (20,)


def test_gandiva_shrinks_for_whoever_waits() -> None:
    """Job a has 6 GPUs for 2 s, when c comes and takes 4; as nobody waits then, a goes on with 4."""
    assert _times("gandiva", _GROWING, _COMING) == (6 + Fraction(60 - 6 - 8, 3), 6)
    everything = job("c", 2, 4, 8)
    assert _times("gandiva", _GROWING, everything) == (2 + (60 - 6), 2 + 54 + 4)


def test_gandiva_grows_beside_its_own_workers() -> None:
    """Job a leaves the second machine alone, unless it may grow anywhere."""
    wide = job("a", 0, 60, 2, 12)
    for own, held in ((True, {"v0": 8}), (False, {"v0": 8, "v1": 4})):
        options = {"own_servers_only": own}
        ran = run(aryl, pools(2, 0), wide, scheduler="gandiva", scheduler_options=options, **_SECONDS)
        assert machines_of(ran, pools(2, 0), "a", 1) == held


def test_max_first_keeps_others_waiting() -> None:
    """With 6 GPUs for b and a at a time c, which needs 4, waits until b, which wants 4, is done."""
    jobs = (job("a", 0, 60, 2, 8), _COMING)
    assert _times("max_first", *jobs) == (15, 19)
    assert _times("two_phase", *jobs)[1] == 6


def test_afs_grows_whom_the_knapsack_does_not() -> None:
    """Of four GPUs beside the base workers AFS gives two to the first, the knapsack to who saves more time."""
    jobs = (job("a", 0, 20, 2, 6), job("b", 0, 60, 2, 6))
    afs, two_phase = (_times(scheduler, *jobs) for scheduler in ("afs", "two_phase"))
    assert afs[0] < two_phase[0]
    assert afs[1] > two_phase[1]


def test_tables_3_and_4() -> None:
    """The least GPU time first is optimal in Table 3, where the knapsack is not, and is not in Table 4."""
    b = job("B", 0, 60, 2, menu=linear_menu(2, range(2, 7)))
    wide, narrow = (job("A", 0, 150, 2, menu=linear_menu(2, range(2, most + 1))) for most in (6, 3))
    totals = [[sum(_times(scheduler, a, b)) for scheduler in ("marginal", "two_phase")] for a in (wide, narrow)]
    assert totals == [[Fraction(250, 3), Fraction(290, 3)], [Fraction(380, 3), 124]]


@settings(max_examples=cases(20), deadline=None)
@given(
    scenario=rich_scenarios(), name=st.sampled_from(schedulers.__all__), inference=st.sampled_from(["old", ""])
)
def test_runs_are_legal(scenario: Scenario, name: str, inference: str) -> None:
    """Whatever machines come and go, runs by each scheduler are legal and all jobs complete."""
    assume(not scenario.cluster.is_plain)
    check_policy(aryl, [scenario], inference=inference, interval=2, orchestrator_interval=5, scheduler=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_is_new_in_each_run(seed: int) -> None:
    """Two runs with one seed are the same."""
    jobs = [job(str(number), number, 30 + 7 * number, 2, 8) for number in range(6)]
    runs = [_times("goodput_search", *jobs, machines=2, interval=3, seed=seed) for _ in range(2)]
    assert runs[0] == runs[1]
