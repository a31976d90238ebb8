"""Marginal efficiency: its segments against a scan of all, its keys by hand, and rolling prices."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import (
    Action,
    Decider,
    IllegalDecision,
    Policy,
    Resize,
    Start,
    State,
    Stop,
    replay,
    simulate,
)
from gsopt.simulation.estimates import misjudging
from gsopt.testing import check_policy
from heuristics.policies import marginal, marginal_attained, srsf
from heuristics.policies.marginal.rolling_prices import rolling_prices
from heuristics.policies.marginal.segments import SegmentGrants, gain_of
from tests.effort import cases
from tests.gsopt.simulation.adaptive import learning
from tests.gsopt.simulation.parts.test_greedy import calm, large
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, tree_scenarios
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import pieces


class Scan:
    """Looks at every segment of every job at every event."""

    preemptive = True

    def __init__(
        self, key: Callable[[State, int, Any], Any], *, exponent: int, hysteresis: int, charge: int = 0
    ) -> None:
        self._key, self._exponent, self._hysteresis, self._charge = key, exponent, hysteresis, charge
        self._there: set[int] = set()

    def decide(self, state: State) -> Iterable[Action]:
        """Grant every segment its GPUs that can have them, and change what differs from that."""
        self._there |= set(state.arrived)
        self._there -= set(state.completed)
        counts = dict.fromkeys(self._there, 0)
        free = state.capacity
        ranked = sorted(rank for job in self._there for rank in self._ranks(state, job))
        for _, job, _, gpus, total in ranked:
            if gpus <= free and counts[job] == total - gpus:
                free, counts[job] = free - gpus, total
        less: list[Action] = []
        more: list[Action] = []
        for job in [job for _, job, place, _, _ in ranked if place == 0]:
            held, count = state.running.get(job, 0), counts[job]
            if count > held:
                more.append(Resize(job, count) if held else Start(job, count))
            elif count < held:
                less.append(Resize(job, count) if count else Stop(job))
        return less + more

    def _ranks(self, state: State, job: int) -> Iterable[tuple[Any, int, int, int, int]]:
        gain = gain_of(state.jobs[job], state.cluster, type(state.now))
        key, held = self._key(state, job, gain.area), state.running.get(job, 0)
        totals = list(accumulate(gain.gpus))
        for place, (gpus, efficiency, total) in enumerate(
            zip(gain.gpus, gain.efficiencies, totals, strict=True)
        ):
            if total > held > 0 and self._charge:
                left, before = state.remaining(job), gain.speeds[totals.index(held)]
                if left / before - left / gain.speeds[place] <= self._charge:
                    break
            rank = key / efficiency**self._exponent
            yield rank / self._hysteresis if total <= held else rank, job, place, gpus, total


def scan_remaining(state: State, *, exponent: int = 4, hysteresis: int = 1, charge: int = 0) -> Decider:
    """Scan in the order of the remaining areas."""
    del state
    return Scan(
        lambda state, job, area: max(state.remaining(job), 0) * area,
        exponent=exponent,
        hysteresis=hysteresis,
        charge=charge,
    )


def scan_attained(state: State, *, exponent: int = 8, hysteresis: int = 16, grace: int = 600) -> Decider:
    """Scan in the order of the service attained."""
    del state
    return Scan(lambda state, job, _: state.service(job) + grace, exponent=exponent, hysteresis=hysteresis)


def assert_equal(fast: Policy, slow: Policy, scenario: Scenario, *, exact: bool, **options: Any) -> None:
    """Both policies run the same pieces, at every event and in rounds."""
    for round_length in (None, 1.75):
        runs = [
            replay(scenario, policy, record=True, round_length=round_length, exact=exact, **options)
            for policy in (fast, slow)
        ]
        assert set(pieces(runs[0])) == set(pieces(runs[1]))


@settings(calm, max_examples=cases(80))
@given(
    scenario=plain_scenarios(elastic=True),
    exponent=st.integers(1, 6),
    hysteresis=st.sampled_from([1, 4]),
    charge=st.sampled_from([0, 2]),
)
def test_falling_keys_in_fractions(scenario: Scenario, exponent: int, hysteresis: int, charge: int) -> None:
    """In fractions the segments that run are those of the scan, whatever happens to the cluster."""
    options = {"exponent": exponent, "hysteresis": hysteresis, "charge": charge}
    assert_equal(marginal, scan_remaining, scenario, exact=True, **options)


@settings(calm, max_examples=cases(80))
@given(
    scenario=plain_scenarios(elastic=True).map(lambda each: each.model_copy(update={"overheads": {}})),
    hysteresis=st.sampled_from([1, 4]),
    grace=st.sampled_from([1, 100]),
)
def test_rising_keys_in_fractions(scenario: Scenario, hysteresis: int, grace: int) -> None:
    """So they are where the keys rise with the GPU-seconds held."""
    options = {"exponent": 3, "hysteresis": hysteresis, "grace": grace}
    assert_equal(marginal_attained, scan_attained, scenario, exact=True, **options)


@pytest.mark.parametrize("seed", range(cases(8)))
def test_large(seed: int) -> None:
    """In a crowd, in floats and in rounds, what is decided is still what a scan decides."""
    scenario = large(seed)
    for options in ({"hysteresis": 1}, {"hysteresis": 4}, {"hysteresis": 2, "charge": 1}):
        assert_equal(marginal, scan_remaining, scenario, exact=False, **options)
    if seed % 6 == 0:
        assert_equal(marginal_attained, scan_attained, scenario, exact=True, grace=1)


def _typed(name: str, kind: str, release: float, duration: float, demand: int) -> Job:
    menu = [(demand, 1.0), (2 * demand, 1.6), (3 * demand, 1.9)]
    return Job(name=name, release_date=release, duration=duration, gpus=demand, menu=menu, gpu_type=kind)


@pytest.mark.parametrize("policy", [marginal, marginal_attained], ids=lambda policy: policy.__name__)
def test_types_are_clusters_of_their_own(policy: Policy) -> None:
    """Jobs that are tied to a type of GPU run as they would on a cluster of these GPUs alone."""
    kinds = {"old": 5, "new": 7}
    jobs = [
        _typed(f"{kind} {index}", kind, index % 5 * 3.0, 1 + 7 * index % 11, 1 + index % 3)
        for kind in kinds
        for index in range(12)
    ]
    machines = [Machine(name=kind, gpus=gpus, gpu_type=kind) for kind, gpus in kinds.items()]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    together = simulate(bundle(jobs), policy, cluster=cluster, bound=False)
    found = dict(
        zip((job.name for job in together.scenario.workload.jobs), together.completion_times, strict=True)
    )
    for kind, gpus in kinds.items():
        own = bundle(job.model_copy(update={"gpu_type": ""}) for job in jobs if job.gpu_type == kind)
        alone = simulate(own, policy, cluster=gpus, bound=False)
        assert [found[job.name] for job in own.jobs] == pytest.approx(alone.completion_times, rel=1e-9)


def test_a_segment_waits_for_the_one_below_it() -> None:
    """The job whose first two GPUs do not fit beside the first job gets no third one."""
    menus = {"a": [(3, 1.0)], "b": [(2, 1.0), (3, 1.4)], "c": [(1, 1.0)]}
    jobs = [
        Job(name=name, release_date=0, duration=2, gpus=menu[0][0], menu=menu) for name, menu in menus.items()
    ]

    def in_order(state: State) -> Decider:
        return SegmentGrants(state, key=lambda job, _: job + 1)

    run = simulate(bundle(jobs), in_order, cluster=4, exact=True, record=True)
    assert run.completion_times == (2, 2 + 2 / Fraction(1.4), 2)


def _menu_job(menu: Sequence[tuple[int, float]], gpus: int, **options: Any) -> Job:
    return Job(name="a", release_date=0, duration=60, gpus=gpus, menu=menu, **options)


@pytest.mark.parametrize(
    ("menu", "gpus", "efficiencies", "area"),
    [
        ([(1, 1.0), (2, 1.5), (4, 2.0)], (1, 1, 2), (1, Fraction(1, 2), Fraction(1, 4)), 1),
        ([(1, 1.0), (2, 2.0), (4, 4.0)], (1, 1, 2), (1, 1, 1), 1),
        ([(1, 1.0), (2, 1.0), (3, 0.5), (4, 1.75)], (1, 3), (1, Fraction(1, 4)), 1),  # as fast, slower
        ([(1, 0.25), (2, 1.0), (4, 2.5)], (1, 1, 2), (1, 1, 1), Fraction(8, 5)),  # on the way
        ([(2, 1.0), (8, 1.5), (16, 9.0)], (2, 6), (1, Fraction(1, 6)), 2),  # the cluster has 8
        ([(2, 1.0), (8, 1.0 + 2**-52)], (2, 6), (1, Fraction(1e-9)), 2),
    ],
)
def test_gain_by_hand(
    menu: list[tuple[int, float]], gpus: tuple[int, ...], efficiencies: tuple[Fraction, ...], area: Fraction
) -> None:
    """Numbers of GPUs that are faster than fewer are steps, as efficient as the hull above them."""
    demand = next(count for count, speed in menu if speed == 1)
    gain = gain_of(_menu_job(menu, demand), Cluster.plain(8), Fraction)
    assert (gain.gpus, gain.efficiencies, gain.area) == (gpus, efficiencies, area)
    assert gain.speeds == tuple(Fraction(dict(menu)[total]) for total in accumulate(gpus))


def test_gain_of_jobs_without_a_choice() -> None:
    """A rigid job has one segment; one that fits in another mode only keeps a segment that it cannot get."""
    machines = [Machine(name="m", gpus=2, memory=16), Machine(name="n", gpus=4, memory=80)]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    assert gain_of(_menu_job([], 3), cluster) == ((3,), (1.0,), (1.0,), 3.0)
    large = _menu_job([(5, 1.0), (6, 1.1)], 5, memory=40)
    assert gain_of(large, cluster) == ((5,), (1.0,), (1.0,), 5.0)


def test_efficiencies_never_rise() -> None:
    """Where rounding makes a further GPU better than the one before, it counts as good."""
    menu = [(count, 0.1 * count) for count in range(1, 200) if count != 10] + [(10, 1.0)]
    efficiencies = gain_of(_menu_job(menu, 10), Cluster.plain(200)).efficiencies
    assert len(efficiencies) == 199
    assert all(early >= late for early, late in pairwise(efficiencies))


@pytest.mark.parametrize(
    ("policies", "option", "values", "rule"),
    [
        ((marginal, marginal_attained), "exponent", [0, 17, nan], "must be a number above 0 and at most 16"),
        ((marginal, marginal_attained), "hysteresis", [0.5, "4"], "must be a number from 1 to 1e9"),
        ((marginal,), "charge", [-1, nan, inf, "1"], "must be a finite number of seconds, at least 0$"),
        (
            [marginal_attained],
            "grace",
            [0, -1, nan, inf, "1", None],
            "must be a positive, finite number",
        ),
        ((rolling_prices,), "evaluations", [0, 1.5], "must be an integer, at least 1"),
        ((rolling_prices,), "cells", [39], "must be an integer, at least 40"),
    ],
)
def test_bad_options(policies: Sequence[Policy], option: str, values: list[Any], rule: str) -> None:
    """An option out of its range is refused in one line."""
    for policy, value in product(policies, values):
        with pytest.raises(InvalidInput, match=f"^{option}: .* {rule}"):
            simulate(bundle([_menu_job([], 1)]), policy, cluster=1, **{option: value})


#: On two GPUs half as fast again.
_HALF = ((1, 1.0), (2, 1.5))


def _job(name: str, release: float, duration: float) -> Job:
    return Job(name=name, release_date=release, duration=duration, gpus=1, menu=_MENU)


@pytest.mark.parametrize(
    ("exponent", "completions"),
    [
        (1, (Fraction(4, 3), Fraction(16, 3))),  # 2 s / (1/2) are less than 6 s: one after the other
        (4, (2, Fraction(14, 3))),  # 2 s / (1/2)^4 are more: side by side
    ],
)
def test_by_hand(exponent: int, completions: tuple[Fraction, ...]) -> None:
    """A short job takes the GPU on which it gains half, or leaves it to the next one that gains all."""
    jobs = bundle([_job("a", 0, 2), _job("b", 0, 6)])
    run = simulate(jobs, marginal, cluster=2, exponent=exponent, exact=True)
    assert run.completion_times == completions


def test_hysteresis_keeps_what_runs() -> None:
    """A job of 3 s stops one that has 4 s to go; not where that counts as 2 s."""
    jobs = _rigid((0, 5), (1, 3))
    runs = [simulate(jobs, marginal, cluster=1, hysteresis=factor) for factor in (1, 2)]
    assert [run.completion_times for run in runs] == [(8, 4), (5, 8)]
    assert [run.metrics.preemptions for run in runs] == [1, 0]


@pytest.mark.parametrize(("charge", "completions"), [(1, (4, 7)), (2.5, (4, 8)), (0.9, (4, 7))])
def test_a_job_grows_only_where_that_saves_time(charge: float, completions: tuple[float, ...]) -> None:
    """At 4 s the other job has 4 s to go: two GPUs save 4/3 s, of which the resize takes 1/3 s."""
    jobs = bundle([_job("a", 0, 4), _job("b", 0, 8)])
    run = simulate(jobs, marginal, cluster=2, overheads=Overhead(resize=1 / 3), charge=charge)
    assert run.completion_times == pytest.approx(completions)


@settings(calm, max_examples=cases(40, least=14))
@given(plain=plain_scenarios(), tree=tree_scenarios())
def test_rigid_jobs(plain: Scenario, tree: Scenario) -> None:
    """Rigid jobs run as under shortest remaining service first, with overheads and changes of capacity."""
    for scenario, exact in ((plain, True), (tree, False)):
        runs = [replay(scenario, policy, record=True, exact=exact) for policy in (marginal, srsf)]
        assert runs[0].schedule == runs[1].schedule


@pytest.mark.parametrize("seed", range(3))
def test_rigid_jobs_in_a_crowd(seed: int) -> None:
    """So they do in a crowd, also in rounds."""
    scenario = large(seed)
    rigid = bundle(job.model_copy(update={"menu": ()}) for job in scenario.workload.jobs)
    crowd = scenario.model_copy(update={"workload": rigid})
    for length in (None, 1.75):
        runs = [replay(crowd, policy, record=True, round_length=length) for policy in (marginal, srsf)]
        assert runs[0].schedule == runs[1].schedule


@pytest.mark.parametrize(
    ("policy", "dear"),
    [
        (marginal, {"exponent": 2.5, "hysteresis": 4, "charge": 0.5}),
        (marginal_attained, {"grace": 1}),
    ],
)
def test_check(policy: Policy, dear: dict[str, Any]) -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    jobs = bundle(_job(str(date), date, 3 + 5 * date % 7) for date in range(8))
    drop = (CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4))
    steady = Scenario(workload=jobs, cluster=Cluster.plain(4), overheads={"": Overhead(stop=0.5, resize=0.25)})
    unsteady = steady.model_copy(update={"capacity_changes": drop})
    assert check_policy(policy, [steady, unsteady]) == 4
    assert check_policy(policy, [steady, unsteady], round_length=2.0, **dear) == 4


@pytest.mark.parametrize(("date", "scale"), [(1.7e9, 1.0), (0.0, 1e9), (0.0, 1e-6)])
def test_magnitudes(date: float, scale: float) -> None:
    """The same jobs at another date or on another scale complete at the same times, shifted and scaled."""
    sizes = [(0.0, 4.0), (0.5, 2.0), (1.0, 1.0), (1.0, 8.0)]

    def run(date: float, scale: float) -> list[float]:
        jobs = bundle(_job(str(i), date + scale * r, scale * d) for i, (r, d) in enumerate(sizes))
        return [(time - date) / scale for time in simulate(jobs, marginal, cluster=2).completion_times]

    assert run(date, scale) == pytest.approx(run(0.0, 1.0), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_look_at_durations(seed: int) -> None:
    """Where durations and remaining work are misjudged, every decision is the same."""
    scenario = large(seed)
    for policy, blind in ((marginal_attained, True), (marginal, False)):
        misled = misjudging(policy, factor=10.0, seed=seed)
        runs = [replay(scenario, each, record=True) for each in (policy, misled)]
        assert (runs[0].schedule == runs[1].schedule) == blind


def _rigid(*sizes: tuple[float, float]) -> Workload:
    return workload(*((*size, 1) for size in sizes))


@pytest.mark.parametrize(
    ("hysteresis", "completions"),
    [
        (1, (10, 6)),  # at 5 s the newcomer has held nothing
        (2, (10, 6)),  # 6 s, halved, are more than the 1 s it has to begin with
        (8, (9, 10)),
    ],
)
def test_attained_by_hand(hysteresis: float, completions: tuple[float, ...]) -> None:
    """A newcomer stops a job that has held more than the hysteresis allows."""
    jobs = _rigid((0, 9), (5, 1))
    run = simulate(jobs, marginal_attained, cluster=1, grace=1, hysteresis=hysteresis)
    assert run.completion_times == completions


def test_equal_service_does_not_make_jobs_take_turns() -> None:
    """In rounds, jobs of equal service would stop each other for ever; with hysteresis they do so seldom."""
    jobs = _rigid(*[(0.0, 4000.0)] * 4)
    lively, calm = (
        simulate(jobs, marginal_attained, cluster=2, round_length=60, hysteresis=factor).metrics
        for factor in (1, 16)
    )
    assert calm.preemptions <= 4
    assert lively.preemptions >= 50


def test_turns_that_take_longer_than_they_last_are_an_error() -> None:
    """Without hysteresis two jobs would take turns for ever where starts take two rounds; with it they end."""
    jobs = _rigid((0, 4), (0, 4))
    slow: dict[str, Any] = {"cluster": 1, "round_length": 1.0, "overheads": Overhead(start=2.0)}

    assert simulate(jobs, marginal_attained, **slow).completion_times == (6, 12)
    with pytest.raises(IllegalDecision, match="longer than their overheads"):
        simulate(jobs, marginal_attained, hysteresis=1, **slow)


_MENU = ((1, 1.0), (2, 1.5), (4, 2.0))


def _jobs(menu: tuple[tuple[int, float], ...] = _MENU, kind: str = "") -> list[Job]:
    return [
        Job(name=f"{kind}{i}", release_date=i, duration=2 + 5 * i % 7, gpus=1, menu=menu, gpu_type=kind)
        for i in range(4)
    ]


def test_one_gpu() -> None:
    """For jobs on one GPU prices say what is optimal: shortest remaining time first."""
    jobs = _rigid(*((i, 30 / 5**i) for i in range(3)))
    run = simulate(jobs, rolling_prices, cluster=1, evaluations=40)
    assert run.completion_times == simulate(jobs, srsf, cluster=1).completion_times
    assert run.metrics.preemptions == 2


def test_a_job_alone_gets_what_it_can_use() -> None:
    """A job alone runs on all GPUs that make it faster."""
    job = Job(name="a", release_date=0, duration=8, gpus=1, menu=_MENU)
    assert simulate(bundle([job]), rolling_prices, cluster=8).completion_times == (4,)


def test_check_prices() -> None:
    """Every replay is legal, repeatable and within the bound: with types, changes of capacity and overheads."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("old", "new")]
    typed = bundle([*_jobs(kind="old"), *_jobs(kind="new")[:2]])
    drop = (CapacityChange(time=1.5, gpus=0), CapacityChange(time=3, gpus=4))
    scenarios = [
        Scenario(workload=typed, cluster=Cluster(racks=[Rack(name="r", machines=machines)])),
        Scenario(
            workload=bundle(_jobs()),
            cluster=Cluster.plain(4),
            capacity_changes=drop,
            overheads={"": Overhead(stop=0.5, resize=0.25)},
        ),
    ]
    assert check_policy(rolling_prices, scenarios, exact=False, evaluations=4, cells=40) == 2
    assert check_policy(rolling_prices, scenarios[1:], evaluations=2, cells=40) == 2


def test_a_cluster_that_shrinks_below_a_demand() -> None:
    """A job that does not fit for a while waits, and the others run."""
    changes = [CapacityChange(time=5, gpus=1), CapacityChange(time=60, gpus=4)]
    run = simulate(workload((0, 10, 4), (0, 10, 1)), rolling_prices, cluster=4, capacity_changes=changes)
    assert run.completion_times == (70.0, 10.0)


def test_jobs_that_tune_their_batch_have_prices_by_their_menus() -> None:
    """Adaptive jobs are no error, and every run of them is legal."""
    jobs = [Job(name=name, release_date=0, duration=12, gpus=1, menu=((1, 1.0), (2, 1.5))) for name in "ab"]
    scenario = learning(*jobs)
    assert check_policy(rolling_prices, scenario, exact=False, evaluations=4, cells=40) == 1
