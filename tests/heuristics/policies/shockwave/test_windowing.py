"""Windowing: when rounds begin, and when they are planned anew."""

from collections.abc import Sequence
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import State, simulate
from gsopt.simulation.parts.inventory import Inventory
from heuristics.policies.shockwave.windowing import Windowing
from tests.gsopt.simulation.scenarios import bundle


class InTurn:
    """Plans a round for each job in turn, and notes when."""

    def __init__(self) -> None:
        self.planned: list[float] = []

    def enter(self, state: State, job: int) -> None:
        """Do nothing."""

    def leave(self, job: int) -> None:
        """Do nothing."""

    def plan(self, state: State, inventory: Inventory, jobs: Sequence[int]) -> list[list[int]]:
        """Return the turns."""
        del inventory
        self.planned.append(float(state.now))
        return [[job] for job in jobs] or [[]]


def run(
    *sizes: tuple[float, float], renewal: int = 8, **options: Any
) -> tuple[tuple[float | None, ...], list[float]]:
    """Simulate jobs of one GPU of (release date, duration) in rounds of 10 s; give completions and plans."""
    planner = InTurn()
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=1) for i, (r, d) in enumerate(sizes))
    replay = simulate(
        jobs, lambda state: Windowing(state, planner, interval=10, renewal=renewal), **{"cluster": 1} | options
    )
    return replay.completion_times, planner.planned


def test_plans_are_followed_to_their_end() -> None:
    """Jobs take turns as planned, and the next plan is made when the last round of one is over."""
    times, planned = run((0, 20), (0, 20), (0, 20))
    assert times == (40, 50, 60)
    assert planned == [0, 30, 40, 50]


def test_arrivals_and_completions_wait_for_the_next_round() -> None:
    """A job that comes within a round runs from the next one on, and a GPU that is left is idle till then."""
    times, planned = run((0, 25), (21, 5))
    assert times == (25, 35)
    assert planned == [0, 10, 20, 30]


def test_rounds_are_planned_anew_after_so_many() -> None:
    """At every second round there is a new plan, though that before has not ended: the first job goes on."""
    times, planned = run((0, 20), (0, 20), (0, 20), renewal=2)
    assert times == (30, 40, 60)
    assert planned == [0, 20, 30, 40, 50]


def test_renewals_count_the_rounds_of_the_run() -> None:
    """There is a new plan in the second round for who came in the first one, and in the third all the same."""
    _, planned = run((0, 40), (0, 40), (5, 40), renewal=2)
    assert planned[:4] == [0, 10, 20, 40]


def test_a_job_that_comes_to_nobody_waits_for_the_next_round() -> None:
    """The round that was to begin when the last job was complete is not begun later, within another one."""
    assert run((0, 5), (21, 5)) == ((5, 35), [0, 30])


def test_rounds_begin_with_the_decision_after_them() -> None:
    """With decisions every 7 s rounds begin at 14 s, 21 s, 35 s and 42 s, the first ones after each 10 s."""
    times, planned = run((0, 20), (0, 20), round_length=7)
    assert times == (27, 48)
    assert planned == [0, 21, 35, 42]


def test_rounds_are_planned_anew_when_gpus_go_or_come() -> None:
    """When GPUs have gone or come there is a new plan in the next round; without any nobody runs."""
    changes = [CapacityChange(time=time, gpus=gpus) for time, gpus in ((5, 1), (25, 0), (55, 2))]
    times, planned = run((0, 40), (0, 40), (0, 40), cluster=2, capacity_changes=changes)
    assert planned[:6] == [0, 10, 30, 40, 50, 60]
    assert None not in times


def test_rounds_are_planned_anew_when_gpus_were_away_for_a_moment() -> None:
    """Though all GPUs are there again at the next round there is a new plan, as jobs were stopped."""
    changes = [CapacityChange(time=time, gpus=gpus) for time, gpus in ((2, 0), (4, 1))]
    times, planned = run((0, 20), (0, 20), capacity_changes=changes)
    assert planned[:2] == [0, 10]
    assert times == (38, 50)


def test_gpus_of_several_kinds_are_refused() -> None:
    """The cluster is named in one line."""
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("v100", "k80")]
    with pytest.raises(InvalidInput, match=r"^cluster: GPUs of several kinds: must be alike"):
        run((0, 1), cluster=Cluster(racks=[Rack(name="r", machines=machines)]))
