"""Schedules that are planned with knowledge of all jobs."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gsopt import judge, simulate
from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.compiled import twin
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.studies import offline
from gsopt.studies.offline import OfflineSchedule, offline_schedule
from gsopt.studies.offline_kernel import advance
from heuristics.policies import srtf
from tests.effort import cases
from tests.unwrap import unwrap

Array = np.ndarray[Any, Any]

#: Seconds that outweigh all prices.
_LONG = 1e12


def _scenario(jobs: Sequence[tuple[float, float, int]], gpus: int) -> Scenario:
    """Return rigid jobs with the given release dates, durations and numbers of GPUs."""
    own = [Job(name=f"j{n}", release_date=r, duration=d, gpus=k) for n, (r, d, k) in enumerate(jobs)]
    return Scenario.of(Workload(jobs=own), gpus)


def _bound(scenario: Scenario) -> PriceBound:
    return price_bound(scenario, evaluations=30)


def _drawn(
    seed: int, jobs: int, gpus: int, scale: float = 1.0, origin: float = 0.0, apart: int = 1
) -> Scenario:
    draw = random.Random(seed)
    times = [(apart * draw.randint(0, 30), draw.choice([1, 1, 2, 5, 9, 40])) for _ in range(jobs)]
    return _scenario([(origin + r * scale, d * scale, draw.randint(1, gpus)) for r, d in times], gpus)


def _planned(scenario: Scenario, **options: float) -> OfflineSchedule:
    return offline_schedule(scenario, _bound(scenario), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_the_judge_finds_the_same_value(scale: float, origin: float) -> None:
    """The judge finds every schedule legal, with the mean JCT of the plan, which is not below the bound."""
    if origin and scale < 1:
        origin = 1.7  # seconds of that size would vanish beside a later clock
    for seed in range(8):
        scenario = _drawn(seed, jobs=1 + seed * 3, gpus=1 + seed % 5, scale=scale, origin=origin)
        bound = _bound(scenario)
        found = offline_schedule(scenario, bound, horizon=20 * scale, tries=seed % 3)
        verdict = judge(found.schedule, scenario)

        assert verdict.violations == ()
        assert verdict.mean_jct == pytest.approx(found.mean_jct, rel=1e-6)
        assert found.mean_jct >= bound.mean_jct * (1 - 1e-9)


def test_prices_know_no_clock() -> None:
    """Shifted and scaled scenarios have shifted and scaled schedules, whatever the order of their jobs."""
    for seed in range(8):
        scenario = _drawn(seed, jobs=12, gpus=4)
        found = _planned(scenario, horizon=20)
        later = _planned(_drawn(seed, jobs=12, gpus=4, scale=64.0, origin=2.0**30), horizon=20 * 64)
        jobs = scenario.workload.jobs[::-1]
        same = _planned(scenario.model_copy(update={"workload": Workload(jobs=jobs)}), horizon=20)

        assert later.mean_jct == pytest.approx(64 * found.mean_jct)
        assert same.mean_jct == pytest.approx(found.mean_jct, rel=0.25)  # ties are broken by number


def test_a_long_horizon_is_shortest_remaining_time_first() -> None:
    """On one GPU, with a horizon that outweighs the prices, the schedule is optimal."""
    for seed in range(8):
        scenario = _drawn(seed, jobs=10, gpus=1)
        best = simulate(scenario, srtf).metrics.mean_jct

        assert _planned(scenario, horizon=_LONG).mean_jct == pytest.approx(best)


def test_without_prices_the_shortest_remaining_time_counts() -> None:
    """On one GPU, a schedule without prices is optimal, and tries do not change it."""
    for seed in range(5):
        scenario = _drawn(seed, jobs=10, gpus=1)
        best = simulate(scenario, srtf).metrics.mean_jct

        assert offline_schedule(scenario, None, tries=3).mean_jct == pytest.approx(best)


def test_the_knapsack_leaves_no_gpus_idle() -> None:
    """Two jobs that fill the cluster run before one that is worth more per GPU and leaves a GPU idle."""
    scenario = _scenario([(0, 5, 3), (0, 9, 2), (0, 9, 2)], gpus=4)
    ends = {each.job: each.end for each in _planned(scenario, horizon=_LONG).schedule.segments}

    assert ends == {"j1": 9, "j2": 9, "j0": 14}


def test_tries_never_make_it_worse() -> None:
    """More tries give a mean JCT that is at most as long, repeatably, and better ones are reported."""
    scenario, reported = _drawn(5, jobs=60, gpus=5), list[OfflineSchedule]()
    bound = _bound(scenario)
    values = [offline_schedule(scenario, bound, tries=tries).mean_jct for tries in (0, 4, 16)]
    found = offline_schedule(scenario, bound, tries=16, on_better=reported.append)

    assert values[0] > values[-1]
    assert values == sorted(values, reverse=True)
    assert (found.mean_jct, found.tries) == (values[-1], 16)
    assert [each.mean_jct for each in reported] == sorted((each.mean_jct for each in reported), reverse=True)
    assert reported[-1].schedule == found.schedule


def test_mixtures_that_are_no_better_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the settings of several periods do not go together, the best schedule so far is kept."""
    scenario, reported = _drawn(5, jobs=60, gpus=5), list[OfflineSchedule]()
    bound = _bound(scenario)
    first = offline_schedule(scenario, bound).mean_jct
    monkeypatch.setattr(offline._Packing, "better_there", lambda _, kept, __: np.arange(len(kept)) % 2 == 0)  # noqa: SLF001
    found = offline_schedule(scenario, bound, tries=16, on_better=reported.append)

    values = [first, *(each.mean_jct for each in reported)]
    assert values == sorted(values, reverse=True)
    assert found.mean_jct == values[-1]
    assert len(reported) < 16


@pytest.mark.parametrize(
    ("kept", "tried", "better"),
    [
        ([5, 15, 25, 35], [5, 14, 25, 36], [False, True, False, False]),
        ([5, 41, 25, 35], [5, 40, 23, 36], [False, True, True, True]),
        ([5, 40, 25, 35], [5, 41, 24, 35], [False, False, False, False]),
        ([5, 15, 25, 35], [5, 15, 25, 35], [False, False, False, False]),
    ],
)
def test_periods_in_which_a_schedule_is_better(kept: list[int], tried: list[int], better: list[bool]) -> None:
    """A period lasts while jobs that end at different times are there, and counts as a whole."""
    scenario = _scenario([(0, 5, 1), (10, 5, 1), (20, 3, 1), (30, 4, 1)], gpus=1)
    packing = offline._Packing(scenario, _bound(scenario))  # noqa: SLF001

    assert packing.better_there(np.array(kept), np.array(tried)).tolist() == better


def test_worths_follow_the_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """After every cell in which jobs are left, their worths are updated to the prices from then on."""
    scenario = _scenario([(0, d, k) for d, k in [(3, 2), (8, 1), (8, 3), (5, 4), (2, 3)]], gpus=4)
    bound, told = _bound(scenario), dict[float, list[float]]()
    slopes_now = offline._Packing._slopes_now  # noqa: SLF001

    def told_now(self: Any, now: float, jobs: Array, left: Array) -> Array:
        found = slopes_now(self, now, jobs, left)
        told[now] = found.tolist()
        return found

    monkeypatch.setattr(offline._Packing, "_slopes_now", told_now)  # noqa: SLF001
    offline_schedule(scenario, bound)

    assert len(told) > 1
    assert len(told) == len({tuple(each) for each in told.values()})


def test_without_time_the_first_schedule_is_returned() -> None:
    """A limit of no time leaves the first schedule, which is complete."""
    scenario = _drawn(5, jobs=30, gpus=5)
    found = _planned(scenario, tries=1_000, time_limit=0)

    assert found.tries == 0
    assert found.mean_jct == _planned(scenario).mean_jct


def test_a_simulation_looks_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A try whose time runs out between two events is left, with or without prices."""
    scenario = _drawn(5, jobs=300, gpus=5)
    for bound in (None, _bound(scenario)):
        ticks = iter(range(10_000))
        monkeypatch.setattr(offline, "monotonic", lambda ticks=ticks: next(ticks))
        packing = offline._Packing(scenario, bound)  # noqa: SLF001

        assert packing.run(packing.settings(1.0, 20.0), end=1) is None
        assert next(ticks) == 2


def _lefts(marks: list[offline._Mark]) -> list[Array]:
    """Return the remaining times of the jobs at each mark."""
    return [mark.left for mark in marks]


def test_what_continues_from_a_mark_ends_like_a_whole_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a mark before the first change until both are in the same state, all jobs end as in a whole run."""
    monkeypatch.setattr(offline, "_APART", 3)
    shorter = 0
    for seed in range(cases(60)):
        draw, scenario = (
            np.random.default_rng(seed),
            _drawn(seed, jobs=80, gpus=4 + seed % 5, apart=[1, 10, 100][seed % 3]),
        )
        packing = offline._Packing(scenario, None if seed % 4 == 0 else _bound(scenario))  # noqa: SLF001
        base = unwrap(packing.run(packing.settings(1.0, 1.0), np.inf))
        for _ in range(10):
            tried, first = packing.drawn(base, draw, np.inf)
            found, whole = packing.run(tried, np.inf, base, first), unwrap(packing.run(tried, np.inf))
            found = unwrap(found)

            assert found.ends.tolist() == whole.ends.tolist()
            assert found.total == whole.total
            assert len(found.marks) == len(whole.marks)
            assert all(map(np.array_equal, *(_lefts(run.marks) for run in (found, whole))))
            shorter += len(found.runs) < len(whole.runs)
            base = found
    assert shorter


def test_far_periods_are_improved_separately() -> None:
    """A copy of all jobs, a year later, has the same share in the best schedule that the tries find."""
    jobs = [(0.0, 8.0, 3), (0.0, 9.0, 2), (1.0, 9.0, 2), (2.0, 1.0, 4), (2.0, 3.0, 1), (3.0, 30.0, 2)]
    year = 2.0**25
    once = _scenario(jobs, gpus=4)
    twice = _scenario([*jobs, *((year + r, d, k) for r, d, k in jobs)], gpus=4)

    assert _planned(twice, tries=40).mean_jct <= _planned(once).mean_jct
    assert _planned(twice).mean_jct == pytest.approx(_planned(once).mean_jct)


def _run(
    kernel: Any, release: Array, work: Array, gpus: Array, slopes: Array, window: int, rows: int = 200
) -> Any:
    """Return the final state of a kernel on 10 GPUs, with a horizon of 5 s, and its runs."""
    count = len(release)
    runs = np.zeros((rows, 3))
    active, chosen = np.empty(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    fixed = release, gpus, gpus.astype(float), 10, window, np.full(count, 5.0)
    variable = np.zeros(count), slopes, work.copy(), active, np.full(count, -1.0), chosen, (0.0, 0, 0, 0)
    state, at = kernel(*fixed, *variable, np.inf, 10**9, runs, 0)
    return state, runs[:at].tolist()


def test_compiled_and_plain_kernels_are_the_same() -> None:
    """The compiled kernel and its source fill in the same runs."""
    draw, count = np.random.default_rng(3), 40
    release = np.sort(draw.integers(0, 50, count)).astype(float)
    work, gpus = draw.integers(1, 20, count).astype(float), draw.integers(1, 11, count)
    given = release, work, gpus, draw.random(count), 4
    state, runs = _run(advance, *given)

    assert (state, runs) == _run(twin(advance), *given)
    assert state[1:3] == (0, count)


def test_the_kernel_stops_before_its_rows_run_out() -> None:
    """With too few rows for all runs, the simulation stops while there is still room for one more event."""
    count, rows = 8, 20
    given = np.arange(count) * 1.0, np.full(count, 9.0), np.full(count, 10), np.arange(count) * 1.0, 4
    whole = _run(advance, *given)[1]
    state, runs = _run(advance, *given, rows=rows)

    assert state[1] > 0
    assert runs == whole[: len(runs)]
    assert len(runs) <= rows < len(runs) + 2 * state[1] + 2


def test_of_equal_jobs_the_first_runs_first() -> None:
    """If two jobs are worth the same, the one that comes first runs, whatever the order of the others."""
    scenario = _scenario([(0, 3, 1), (0, 5, 1), (0, 5, 1), (1, 2, 1), (2, 5, 1)], gpus=1)
    ends = {each.job: each.end for each in offline_schedule(scenario, None).schedule.segments}

    assert ends["j1"] < ends["j2"] < ends["j4"]


def test_jobs_after_the_window_fill_up() -> None:
    """A job that the knapsack does not consider runs if enough GPUs are left."""
    gpus, slopes = np.array([4, 3, 9, 3]), np.array([16.0, 9.0, 18.0, 3.0])
    _, runs = _run(advance, np.zeros(4), np.full(4, 5.0), gpus, slopes, 1)

    assert sorted(runs) == [[0, 0, 5], [1, 0, 5], [2, 5, 10], [3, 0, 5]]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"power": -1}, "power"),
        ({"horizon": -1}, "horizon"),
        ({"horizon": float("inf")}, "horizon"),
        ({"tries": -1}, "tries"),
    ],
)
def test_options_out_of_range(options: dict[str, float], field: str) -> None:
    """An option that is out of range is named."""
    with pytest.raises(InvalidInput, match=field):
        _planned(_drawn(1, jobs=3, gpus=2), **options)


def test_other_scenarios_are_refused() -> None:
    """Jobs with menus, overheads, other clusters and foreign bounds are named in one line."""
    scenario = _drawn(1, jobs=3, gpus=2)
    bound = _bound(scenario)
    elastic = Job(name="e", release_date=0, duration=3, gpus=1, menu=[(1, 1), (2, 2)])
    jobs = (*scenario.workload.jobs[:2], elastic)
    others = [
        (scenario.model_copy(update={"workload": Workload(jobs=jobs)}), "rigid"),
        (scenario.model_copy(update={"cluster": Cluster.uniform(machines=1, gpus=2)}), "plain"),
        (_drawn(1, jobs=4, gpus=2), "3"),
    ]
    for other, said in others:
        with pytest.raises(InvalidInput, match=said) as caught:
            offline_schedule(other, bound)
        assert "\n" not in str(caught.value)
