"""Shockwave: plans by hand, its parts against brute force, and every kind of scenario."""

from collections.abc import Iterator, Sequence
from functools import partial
from inspect import signature
from itertools import pairwise, product
from math import log
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.numbers.tolerances import CONTINUOUS, WINDOW_GAP
from gsopt.scenario.job import Job, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import Replay, State, simulate
from gsopt.simulation.parts.inventory import Inventory
from gsopt.testing import check_policy
from heuristics.policies.shockwave import outlook, search
from heuristics.policies.shockwave import policy as policy_module
from heuristics.policies.shockwave.counting import WindowRelaxation
from heuristics.policies.shockwave.outlook import Terms, WindowPlanner
from heuristics.policies.shockwave.packing import conserving, packed
from heuristics.policies.shockwave.policy import shockwave
from heuristics.policies.shockwave.program import Effort, RoundProgram
from heuristics.policies.shockwave.search import best_plan
from heuristics.policies.shockwave.window import Plan, Window, WindowClaim
from heuristics.policies.shockwave.windowing import Windowing
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import ALIKE, mixed

LENGTH = 60.0

#: Prices for which the one term of the worth, both, or the other one decide.
PRICES = (0.0, 1e-9, 1e-4, 1e-2, 1e5)


def drawn(random: Random, *, most_jobs: int = 3, most_rounds: int = 3) -> Window:
    """Draw a window of few jobs and rounds, in which gains and remaining times are sometimes equal."""
    rounds, gpus = random.randint(1, most_rounds), random.randint(1, 5)
    claims = []
    for _ in range(random.randint(1, most_jobs)):
        gains = [random.choice([0.0, 0.25, 0.5, 1.0, random.random()]) for _ in range(rounds)]
        claims.append(
            WindowClaim(
                gpus=random.randint(1, gpus),
                gains=tuple(sorted(gains, reverse=True)),
                left=random.choice([30.0, 60.0, 150.0, random.uniform(1, 300)]),
                least=random.choice([0, 0, 0, 1, 2]),
                weight=random.choice([1.0, 1.0, 3.0, random.uniform(1, 1000)]),
            )
        )
    return Window(
        gpus=gpus,
        rounds=rounds,
        length=LENGTH,
        claims=claims,
        price=random.choice([*PRICES, random.uniform(0, 0.02)]),
    )


def plans(window: Window) -> Iterator[Plan]:
    """Yield all plans of a window that take no more GPUs than there are."""
    shape = len(window.claims), window.rounds
    for cells in product((False, True), repeat=shape[0] * shape[1]):
        plan = [cells[job * shape[1] : (job + 1) * shape[1]] for job in range(shape[0])]
        loads = [
            sum(c.gpus for c, row in zip(window.claims, plan, strict=True) if row[t]) for t in range(shape[1])
        ]
        if max(loads) <= window.gpus:
            yield np.array(plan)


def value(window: Window, plan: Plan) -> float | None:
    """Return what a plan is worth, by its definition; None where a job gets too little."""
    worth, longest = 0.0, 0.0
    for claim, row in zip(window.claims, plan.tolist(), strict=True):
        if sum(row) < claim.least:
            return None
        worth += sum(claim.gains[: sum(row)])
        longest = max(longest, claim.left - LENGTH * sum(row))
    return worth - window.price * longest


def lateness(window: Window, plan: Plan) -> float:
    """Return the weighted sum of the mean places of rounds, by its definition."""
    total = 0.0
    for claim, row in zip(window.claims, plan.tolist(), strict=True):
        places = [place for place, runs in enumerate(row) if runs]
        total += claim.weight * sum(places) / len(places) if places else 0.0
    return total


def test_by_hand() -> None:
    """Each has rounds in the first window, and those with the fewest come first."""
    run = simulate(workload((0, 480, 1), (0, 240, 1), (0, 120, 1)), shockwave, cluster=1)
    assert run.completion_times == (840, 360, 120)


def test_the_makespan_is_worth_a_price() -> None:
    """The long job has both rounds of each window if its remaining time costs much, else each has one."""
    work = workload((0, 600, 1), (0, 240, 1))
    options: dict[str, Any] = {"rounds": 2, "renewal": 2, "ratio": 100.0}
    times = [
        simulate(work, shockwave, cluster=1, makespan=price, **options).completion_times for price in (0, 1e5)
    ]
    assert times == [(840, 480), (840, 720)]


def test_idle_gpus_go_to_the_longest() -> None:
    """The GPU beside a job of three goes to the longer one of two, though the shorter one is in time by it."""
    run = simulate(workload((0, 120, 3), (0, 120, 1), (0, 360, 1)), shockwave, cluster=4)
    assert run.completion_times == (120, 240, 360)


@pytest.mark.parametrize(
    ("gpus", "sizes", "changes", "options", "times"),
    [
        (
            3,
            [(30, 240, 2), (30, 150, 3), (60, 300, 2), (90, 150, 2)],
            [],
            {"rounds": 3, "renewal": 3, "ratio": 0.5},
            (780, 450, 960, 630),
        ),
        (
            2,
            [(0, 150, 2), (30, 150, 1), (60, 300, 2), (120, 90, 1)],
            [(60, 1), (240, 2)],
            {"rounds": 2, "renewal": 3, "ratio": 1.5},
            (330, 510, 720, 510),
        ),
        (
            3,
            [(0, 300, 2), (120, 90, 3), (150, 150, 1), (300, 60, 2)],
            [],
            {"rounds": 3, "renewal": 2, "power": 2, "since": "release"},
            (480, 270, 390, 360),
        ),
    ],
)
def test_the_only_best_plans(
    gpus: int,
    sizes: list[tuple[float, float, int]],
    changes: list[tuple[float, int]],
    options: dict[str, Any],
    times: tuple[float, ...],
) -> None:
    """Where every window has just one best plan, jobs complete as an enumeration of all plans says."""
    changed = [CapacityChange(time=time, gpus=left) for time, left in changes]
    terms: dict[str, Any] = {"interval": 60, "makespan": 0.01, "power": 5, "exact": True} | options
    policy = partial(shockwave, **terms)
    run = simulate(workload(*sizes), policy, cluster=gpus, capacity_changes=changed, clock_start=0)
    assert run.completion_times == times


@pytest.mark.parametrize(
    ("options", "effort"),
    [
        ({}, Effort(gap=WINDOW_GAP, limit=15)),
        ({"limit": 2}, Effort(WINDOW_GAP, 2)),
        ({"exact": True}, Effort()),
    ],
)
def test_presets(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], effort: Effort) -> None:
    """Plans are made as in the published program for 32 GPUs; what is exact has neither gap nor limit."""
    made: list[Terms] = []

    def watched(terms: Terms) -> WindowPlanner:
        made.append(terms)
        return WindowPlanner(terms)

    monkeypatch.setattr(policy_module, "WindowPlanner", watched)
    simulate(workload((0, 1, 1)), partial(shockwave, **options), cluster=1)
    assert made == [Terms(20, 120, 1e-3, 1.0, 12.0, 1e6, "start", effort)]
    assert signature(shockwave).parameters["renewal"].default == 8


def test_any_finish_time_may_be_fair() -> None:
    """A ratio beyond which there is no number leaves the plans as they are without the condition."""
    work = workload((0, 480, 1), (0, 240, 1), (0, 120, 1))
    times = [simulate(work, shockwave, cluster=1, ratio=r).completion_times for r in (100.0, 1e308)]
    assert times[0] == times[1]


def test_it_passes_the_check() -> None:
    """Whatever counts, it replays scenarios legally, and every job completes."""
    options: dict[str, Any] = {"interval": 30, "rounds": 2, "renewal": 2}
    assert check_policy(shockwave, ALIKE, **options) == 2 * len(ALIKE)
    options |= {"exact": True, "since": "release", "ratio": 0.7, "makespan": 10}
    assert check_policy(shockwave, ALIKE[:1], **options) == 2


@settings(max_examples=cases(8), deadline=None)
@given(scenario=plain_scenarios())
def test_any_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, all that is booked is what the judge finds."""
    assert check_policy(partial(shockwave, rounds=4), [scenario], interval=8.0) == 2


def test_jobs_that_demand_too_much_are_refused() -> None:
    """A job that would fit only with fewer GPUs than it demands is named."""
    work = bundle([Job(name="a", release_date=0, duration=5, gpus=4, menu=[(1, 0.5), (4, 1.0)])])
    with pytest.raises(Unsupported, match="job 'a' demands 4 GPUs"):
        simulate(work, shockwave, cluster=2)


@pytest.mark.parametrize(
    ("option", "values", "rule"),
    [
        ("interval", [0], "must be a finite number of seconds"),
        ("rounds", [0, 2.5, True], "must be a whole number from 1 to 1000"),
        ("renewal", [-1], "must be a whole number from 1 to 1000"),
        ("makespan", [-1, "1"], "must be from 0 to 1,000,000"),
        ("power", [float("inf")], "must be a finite number, at least 0"),
        ("ratio", [0, 10**400], "must be a finite number above 0"),
        ("most_weight", [0.5, 1e300], "must be from 1 to 1,000,000,000"),
        ("limit", [0], "must be a positive, finite number of seconds, or None"),
        ("since", ["end"], "must be one of start, release"),
    ],
)
def test_bad_options_are_refused(option: str, values: list[Any], rule: str) -> None:
    """An option out of its range is refused in one line."""
    for value in values:
        with pytest.raises(InvalidInput, match=rf"^{option}: [^:]*: {rule}"):
            simulate(workload((0, 1, 1)), partial(shockwave, **{option: value}), cluster=1)


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


def planned_with(jobs: Workload, gpus: int, **terms: Any) -> Replay:
    """Simulate jobs with some terms of plans."""
    meant = Terms(**TERMS | terms)

    def policy(state: State) -> Windowing:
        return Windowing(state, WindowPlanner(meant), interval=meant.interval, renewal=8)

    return simulate(jobs, policy, cluster=gpus)


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

    monkeypatch.setattr(outlook, "best_plan", watched)
    jobs = workload(*((*size, 1) for size in sizes)).jobs
    planned_with(bundle(job.model_copy(update={"phases": tuple(phases)}) for job in jobs), gpus, **terms)
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

    monkeypatch.setattr(outlook, "best_plan", nobody)
    assert planned_with(workload((0, 60, 1), (0, 120, 1)), 1).completion_times == (180, 120)


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
    planner, jobs = InTurn(), workload(*((*size, 1) for size in sizes))
    policy = partial(Windowing, planner=planner, interval=10, renewal=renewal)
    return simulate(jobs, policy, **{"cluster": 1} | options).completion_times, planner.planned


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
    with pytest.raises(InvalidInput, match=r"^cluster: GPUs of several kinds: must be alike"):
        run((0, 1), cluster=mixed(1, "v100", "k80"))


def test_the_plan_is_the_best() -> None:
    """Whatever the price, no plan is worth more; where none gives all what they must get there is none."""
    random = Random(9)
    for _ in range(cases(500)):
        window = drawn(random)
        worths = [worth for plan in plans(window) if (worth := value(window, plan)) is not None]
        found = best_plan(window, Effort())
        assert (found is None) == (not worths)
        if found is not None:
            assert (window.load(found) <= window.gpus).all()
            assert value(window, found) == pytest.approx(max(worths), rel=CONTINUOUS, abs=CONTINUOUS)


def test_within_the_gap() -> None:
    """With a gap a plan gains at most that part less than the best, and leaves no more time to the longest."""
    random = Random(10)
    for _ in range(cases(200)):
        window = drawn(random)
        worths = [worth for plan in plans(window) if (worth := value(window, plan)) is not None]
        found = best_plan(window, Effort(gap=0.3))
        if found is not None:
            worth = value(window, found)
            assert worth is not None
            spare = 0.3 * sum(sum(claim.gains) for claim in window.claims)
            assert worth >= max(worths) - spare - CONTINUOUS


@pytest.mark.parametrize(
    ("claims", "gpus", "price", "gap", "counts"),
    [
        # a job of both GPUs for one round and one of one GPU for two fit by number, not by round
        ([(2, (1.0, 0.0), 1.0), (1, (0.75, 0.75), 1.0)], 2, 0.0, 0.0, [1, 1]),
        # a round each leaves 100 s and is worth 1 - 100 / 64; both for the first leave 160 s: 1.625 - 160 / 64
        ([(1, (0.875, 0.75), 150.0), (1, (0.125, 0.0), 160.0)], 1, 1 / 64, 0.0, [1, 1]),
        # both jobs once gain 1 and leave 30 s; the first one twice gains as much and leaves 90 s to the other
        ([(1, (0.5, 0.5), 90.0), (2, (0.5, 0.0), 90.0)], 2, 1 / 256, 0.0, [1, 1]),
        # a gap of an eighth leaves less than a sixteenth of 1/2 open, not 5/16 of what 60 s cost
        ([(1, (1.0, 0.25), 90.0), (2, (0.25, 0.25), 180.0)], 2, 1 / 32, 0.125, [0, 2]),
    ],
)
def test_best_plans_by_hand(
    claims: list[tuple[int, tuple[float, ...], float]], gpus: int, price: float, gap: float, counts: list[int]
) -> None:
    """Numbers that fit no rounds are given up, and gain and the longest remaining time are weighed."""
    made = [WindowClaim(*claim) for claim in claims]
    plan = best_plan(Window(gpus=gpus, rounds=2, length=60.0, claims=made, price=price), Effort(gap=gap))
    assert plan is not None
    assert plan.sum(axis=1).tolist() == counts


@pytest.mark.parametrize(("gap", "gained"), [(0.0, 2.0), (0.04, 2.0), (0.1, 1.9)])
def test_a_packing_is_enough_within_the_gap(gap: float, gained: float) -> None:
    """Where the best numbers do not fit, the next ones that do are taken within the gap, else the best plan."""
    gains = [(2, (0.9, 0.6)), (3, (1.0, 0.8)), (2, (0.5, 0.5)), (3, (1.0, 0.8))]
    claims = [WindowClaim(gpus, worth, left=1.0) for gpus, worth in gains]
    window = Window(gpus=3, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = best_plan(window, Effort(gap=gap))
    assert plan is not None
    assert window.gained(plan.sum(axis=1)) == pytest.approx(gained)


def test_no_jobs() -> None:
    """Without jobs the plan is empty."""
    plan = best_plan(Window(gpus=1, rounds=2, length=60.0, claims=[], price=1.0), Effort())
    assert plan is not None
    assert plan.shape == (0, 2)


def test_the_order_is_the_best() -> None:
    """No plan with the same numbers of rounds has a lower weighted sum of mean places."""
    random = Random(7)
    for _ in range(cases(120)):
        window = drawn(random)
        every = list(plans(window))
        plan = random.choice(every)
        found = RoundProgram(window, Effort()).first(plan)
        alike = [other for other in every if (other.sum(axis=1) == plan.sum(axis=1)).all()]
        best = min(lateness(window, other) for other in alike)
        assert found.sum(axis=1).tolist() == plan.sum(axis=1).tolist()
        assert (window.load(found) <= window.gpus).all()
        assert lateness(window, found) == pytest.approx(best, rel=CONTINUOUS, abs=CONTINUOUS)


def test_the_most_gain_is_the_most() -> None:
    """No plan with the fewest rounds of all jobs gains more, and where there is none nothing is found."""
    random = Random(8)
    for _ in range(cases(80)):
        window = drawn(random)
        least = np.array([claim.least for claim in window.claims])
        gains = [window.gained(n) for plan in plans(window) if ((n := plan.sum(axis=1)) >= least).all()]
        plan = None if (least > window.rounds).any() else RoundProgram(window, Effort()).most(least)
        assert (plan is None) == (not gains)
        if plan is not None:
            assert window.gained(plan.sum(axis=1)) == pytest.approx(max(gains), rel=CONTINUOUS, abs=CONTINUOUS)


def test_jobs_change_places() -> None:
    """The two heaviest of three jobs come first, whoever shared their rounds."""
    claims = [WindowClaim(1, (0.0, 0.0), left=9.0, weight=weight) for weight in (1.0, 2.0, 3.0)]
    window = Window(gpus=2, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = np.array([[False, True], [True, False], [False, True]])
    assert RoundProgram(window, Effort()).first(plan).astype(int).tolist() == [[0, 1], [1, 0], [1, 0]]


def test_without_time_the_most_is_the_start() -> None:
    """A solve that has no time ends with the plan that it was given, and finds none without."""
    claims = [WindowClaim(gpus, (1.0, 0.5), left=9.0) for gpus in (1, 2, 2)]
    program = RoundProgram(Window(gpus=3, rounds=2, length=60.0, claims=claims, price=0.0), Effort(limit=0.0))
    start = np.array([[True, False], [False, False], [False, False]])
    found = program.most(np.array([1, 0, 0]), start)
    assert found is not None
    assert found.tolist() == start.tolist()
    assert program.most(np.array([1, 0, 0])) is None


def test_gains_may_be_tiny() -> None:
    """Gains of a trillionth are told apart, though solvers take them for none."""
    claims = [WindowClaim(1, (gain, gain), left=9.0) for gain in (1e-12, 2e-12, 3e-12)]
    window = Window(gpus=1, rounds=2, length=60.0, claims=claims, price=0.0)
    plan = RoundProgram(window, Effort()).most(np.zeros(3, dtype=np.int64))
    assert plan is not None
    assert plan.sum(axis=1).tolist() == [0, 0, 2]


def test_without_time_the_plan_is_the_start() -> None:
    """A solve that has no time leaves the numbers of rounds as they are, the heaviest rounds first."""
    claims = [WindowClaim(1, (0.0,) * 3, left=9.0, weight=weight) for weight in (1.0, 5.0)]
    window = Window(gpus=1, rounds=3, length=60.0, claims=claims, price=0.0)
    plan = np.array([[True, False, True], [False, True, False]])
    assert RoundProgram(window, Effort(limit=0.0)).first(plan).tolist() == [
        [False, True, True],
        [True, False, False],
    ]


def test_choices_are_the_best_numbers_of_rounds() -> None:
    """The first is the best of all that fit, the next ones gain less on fewer GPUs, the ceiling is no less."""
    random = Random(3)
    for _ in range(cases(400)):
        window = drawn(random)
        least = np.array([min(claim.least, window.rounds) for claim in window.claims])
        counting, room = WindowRelaxation(window), window.gpus * window.rounds
        ceiling = counting.ceiling(least)
        if window.sizes @ least > room:
            assert ceiling is None
            continue
        ranges = [range(number, window.rounds + 1) for number in least.tolist()]
        fitting = [np.array(counts) for counts in product(*ranges) if window.sizes @ counts <= room]
        choices = list(counting.choices(least))
        taken = [int(window.sizes @ counts) for counts in choices]
        assert all(fewer < more for more, fewer in pairwise(taken))
        gains = [window.gained(counts) for counts in choices]
        assert gains[0] == pytest.approx(max(map(window.gained, fitting)), rel=1e-12, abs=1e-12)
        assert gains == sorted(gains, reverse=True)
        assert gains[-1] == window.gained(least)
        assert ceiling is not None
        assert ceiling >= gains[0] * (1 - 1e-12)


def test_a_packing_has_the_rounds_and_fits() -> None:
    """A packing gives every job its rounds on no more GPUs than there are."""
    random, found = Random(4), 0
    for _ in range(cases(400)):
        window = drawn(random)
        counts = np.array([random.randint(0, window.rounds) for _ in window.claims])
        plan = packed(window, counts)
        if plan is not None:
            found += 1
            assert plan.sum(axis=1).tolist() == counts.tolist()
            assert (window.load(plan) <= window.gpus).all()
    assert found > 0


def test_jobs_of_one_size_are_packed_whenever_they_can_be() -> None:
    """Jobs of one GPU fit as soon as all their rounds together do."""
    random = Random(5)
    for _ in range(cases(200)):
        gpus, rounds = random.randint(1, 4), random.randint(1, 6)
        counts = [random.randint(0, rounds) for _ in range(random.randint(1, 8))]
        claims = [WindowClaim(1, (0.0,) * rounds, left=1.0) for _ in counts]
        window = Window(gpus=gpus, rounds=rounds, length=60.0, claims=claims, price=0.0)
        assert (packed(window, np.array(counts)) is not None) == (sum(counts) <= gpus * rounds)


def test_no_gpu_is_idle_that_a_job_could_use() -> None:
    """Nobody loses a round, and who does not run in one does not fit it; the longest come first."""
    random = Random(6)
    for _ in range(cases(200)):
        window = drawn(random)
        plan = np.zeros((len(window.claims), window.rounds), dtype=np.bool_)
        plan[0, 0] = True
        filled = conserving(window, plan)
        load = window.load(filled)
        assert filled[0, 0]
        assert (load <= window.gpus).all()
        assert (filled | (load + window.sizes[:, None] > window.gpus)).all()


def test_the_longest_job_takes_idle_gpus_first() -> None:
    """Of two jobs for one GPU the one with more left runs, whatever their order."""
    claims = [WindowClaim(1, (0.0, 0.0), left=5.0), WindowClaim(1, (0.0, 0.0), left=9.0)]
    window = Window(gpus=1, rounds=2, length=60.0, claims=claims, price=0.0)
    assert conserving(window, np.zeros((2, 2), dtype=np.bool_)).tolist() == [[False, False], [True, True]]


def test_worth_and_load_are_as_defined() -> None:
    """Whatever the plan, both figures are those of the definition, and its longest time is a level."""
    random = Random(1)
    for _ in range(cases(40)):
        window = drawn(random, most_rounds=2)
        for plan in plans(window):
            counts, wanted = plan.sum(axis=1), value(window, plan)
            assert wanted is None or window.worth(counts) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
            assert window.load(plan).max() <= window.gpus
            assert window.longest(counts) in window.levels


def test_least_rounds_of_a_level() -> None:
    """No job has more left than the level with them, one does with a round less, and too many are None."""
    random = Random(2)
    for _ in range(cases(80)):
        window = drawn(random)
        for level in window.levels.tolist():
            least = window.least(level)
            if least is None:
                assert any(
                    c.least > window.rounds or c.left - 60 * window.rounds > level for c in window.claims
                )
                continue
            assert window.longest(least) <= level
            for claim, number in zip(window.claims, least.tolist(), strict=True):
                assert number == claim.least or claim.left - 60 * (number - 1) > level
