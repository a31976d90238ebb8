"""Outlook of Shockwave: gains, promises and weights by hand."""

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pytest

from gsopt.scenario.job import Job, Phase
from gsopt.simulation import State, simulate
from heuristics.policies.shockwave import outlook, search
from heuristics.policies.shockwave.outlook import Terms, WindowPlanner
from heuristics.policies.shockwave.program import Effort
from heuristics.policies.shockwave.window import Plan, Window
from heuristics.policies.shockwave.windowing import Windowing
from tests.gsopt.simulation.scenarios import bundle

TERMS: dict[str, Any] = {
    "rounds": 2,
    "interval": 60.0,
    "makespan": 1e-3,
    "ratio": 1.0,
    "power": 2.0,
    "most_weight": 1e6,
    "since": "start",
    "effort": Effort(),
}


def windows(
    monkeypatch: pytest.MonkeyPatch,
    *sizes: tuple[float, float],
    gpus: int = 1,
    phases: Sequence[Phase] = (),
    **terms: Any,
) -> list[Window]:
    """Simulate jobs of one GPU of (release date, duration), and give the windows that were planned."""
    asked: list[Window] = []

    def watched(window: Window, effort: Effort) -> Plan | None:
        asked.append(window)
        return search.best_plan(window, effort)

    meant = Terms(**TERMS | terms)

    def policy(state: State) -> Windowing:
        return Windowing(state, WindowPlanner(meant), interval=meant.interval, renewal=8)

    monkeypatch.setattr(outlook, "best_plan", watched)
    jobs = bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, phases=tuple(phases))
        for i, (r, d) in enumerate(sizes)
    )
    simulate(jobs, policy, cluster=gpus)
    return asked


def test_gains_are_those_of_the_piecewise_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of five rounds goes from the corner at 0 to those at a fifth and at two fifths."""
    (claim,) = windows(monkeypatch, (0, 300))[0].claims
    assert claim.left == 300
    assert claim.gains == pytest.approx([(log(0.2) - log(1e-6)) / 2, (log(0.4) - log(0.2)) / 2])
    shared = windows(monkeypatch, (0, 300), (0, 300))[0]
    assert shared.claims[0].gains == pytest.approx([gain / 2 for gain in claim.gains])


def test_nothing_is_gained_beyond_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that is complete after half a round gains all in its first round, and no more."""
    (claim,) = windows(monkeypatch, (0, 30), gpus=2)[0].claims
    assert claim.gains == pytest.approx([-log(1e-6) / 2, 0])


def test_work_counts_at_the_speed_of_the_present_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that is half as fast has twice as long to run, and gains half as much from a round."""
    phases = [Phase(until=1, slowdown=2.0)]
    (claim,) = windows(monkeypatch, (0, 300), gpus=2, phases=phases)[0].claims
    assert claim.left == 600
    assert claim.gains == pytest.approx([(log(0.2) - log(1e-6)) / 4] * 2)
    assert claim.least == 2


def test_rounds_that_are_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs of 300 s are promised 600 s: 480 s after the window, half of them for each, leave 240 s."""
    first = windows(monkeypatch, (0, 300), (0, 300))[0]
    assert [claim.least for claim in first.claims] == [1, 1]
    assert [claim.weight for claim in first.claims] == [1, 1]


def test_who_is_just_in_time_is_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight equal jobs on seven GPUs the one that ran in all of seven rounds may leave out the eighth."""
    planned = windows(monkeypatch, *[(0, 480)] * 8, gpus=7, rounds=1, makespan=0.0)
    (last,) = [window for window in planned if sorted(c.left for c in window.claims) == [60] + [120] * 7]
    assert sorted(claim.least for claim in last.claims) == [0] + [1] * 7


def test_no_share_is_more_than_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone on two GPUs a job of 300 s is promised 300 s, so that it must run in both rounds of a window."""
    first = windows(monkeypatch, (0, 300), gpus=2)[0]
    assert [claim.least for claim in first.claims] == [2]


def test_nobody_is_idle_that_the_plan_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the plan has nobody run, jobs run all the same where there are GPUs, the longest first."""

    def nobody(window: Window, effort: Effort) -> Plan:
        del effort
        return np.zeros((len(window.claims), window.rounds), dtype=np.bool_)

    def policy(state: State) -> Windowing:
        return Windowing(state, WindowPlanner(Terms(**TERMS)), interval=60, renewal=8)

    monkeypatch.setattr(outlook, "best_plan", nobody)
    jobs = bundle(Job(name=f"j{d}", release_date=0, duration=d, gpus=1) for d in (60, 120))
    assert simulate(jobs, policy, cluster=1).completion_times == (180, 120)


def test_late_jobs_weigh_their_ratio_to_a_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """With less than the promise allowed no plan is fair, and ratios above it count."""
    first = windows(monkeypatch, (0, 60), (0, 60), ratio=0.5)[0]
    assert [claim.least for claim in first.claims] == [0, 0]
    assert [claim.weight for claim in first.claims] == [1, 1]  # a ratio of 1 to any power
    second = windows(monkeypatch, (0, 60), (0, 60), (0, 60), ratio=0.5)[1]
    # two jobs are left; the promise is 180 s as long as there were three, then 120 s: .9 x 180 + .1 x 120
    assert [claim.weight for claim in second.claims] == pytest.approx([((60 + 120) / 174) ** 2] * 2)


def test_weights_are_cut_and_rise_for_the_last_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late job that needs less than a round weighs as much as a job may."""
    second = windows(monkeypatch, (0, 50), (0, 50), (0, 50), ratio=0.5, most_weight=7.0)[1]
    assert [claim.weight for claim in second.claims] == pytest.approx([7, 7])


def test_who_is_just_in_time_weighs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 74.4 s, for a promise of 93 s, 62 s and again 93 s, the 93 s that it takes are 1.25 times as much."""
    sizes = [(0.0, 0.125), (0.0, 31.0), (0.0, 39.0), (21.0, 13.0)]
    planned = windows(monkeypatch, *sizes, interval=8.0, ratio=1.25)
    lefts = [[claim.left for claim in window.claims] for window in planned]
    _, unfair = [window for window, left in zip(planned, lefts, strict=True) if left == [23, 31, 13]]
    assert [claim.weight for claim in unfair.claims] == [1, 1, 1]


def test_finish_times_count_from_the_release_if_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs of a release at 600 s are late by 6 s: of 774 s from the start of the run, or of 174 s."""
    sizes = [(0.0, 60.0), (600.0, 60.0), (600.0, 60.0), (600.0, 60.0)]
    for since, ratio in (("start", 780 / 774), ("release", 180 / 174)):
        third = windows(monkeypatch, *sizes, since=since, ratio=0.5)[2]
        assert [claim.weight for claim in third.claims] == pytest.approx([ratio**2] * 2)
