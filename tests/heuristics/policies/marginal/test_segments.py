"""Segments: the incremental decisions are those of a scan of all segments in the order of their keys."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Action, Decider, Policy, Resize, Start, State, Stop, replay, simulate
from heuristics.policies import marginal, marginal_attained
from heuristics.policies.marginal.segments import Segments, gain_of
from tests.effort import cases
from tests.gsopt.simulation.parts.test_greedy import calm, large
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios


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
        pieces = [set(run.schedule.segments) if run.schedule else None for run in runs]
        assert pieces[0] == pieces[1]


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
        return Segments(state, key=lambda job, _: job + 1)

    run = simulate(bundle(jobs), in_order, cluster=4, exact=True, record=True)
    assert run.completion_times == (2, 2 + 2 / Fraction(1.4), 2)


def _job(menu: Sequence[tuple[int, float]], gpus: int, **options: Any) -> Job:
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
    gain = gain_of(_job(menu, demand), Cluster.plain(8), Fraction)
    assert (gain.gpus, gain.efficiencies, gain.area) == (gpus, efficiencies, area)
    assert gain.speeds == tuple(Fraction(dict(menu)[total]) for total in accumulate(gpus))


def test_gain_of_jobs_without_a_choice() -> None:
    """A rigid job has one segment; one that fits in another mode only keeps a segment that it cannot get."""
    machines = [Machine(name="m", gpus=2, memory=16), Machine(name="n", gpus=4, memory=80)]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    assert gain_of(_job([], 3), cluster) == ((3,), (1.0,), (1.0,), 3.0)
    large = _job([(5, 1.0), (6, 1.1)], 5, memory=40)
    assert gain_of(large, cluster) == ((5,), (1.0,), (1.0,), 5.0)


def test_efficiencies_never_rise() -> None:
    """Where rounding makes a further GPU better than the one before, it counts as good."""
    menu = [(count, 0.1 * count) for count in range(1, 200) if count != 10] + [(10, 1.0)]
    efficiencies = gain_of(_job(menu, 10), Cluster.plain(200)).efficiencies
    assert len(efficiencies) == 199
    assert all(early >= late for early, late in pairwise(efficiencies))


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"exponent": 0}, "exponent: .* must be a number above 0 and at most 16"),
        ({"exponent": 17}, "exponent"),
        ({"exponent": nan}, "exponent"),
        ({"hysteresis": 0.5}, "hysteresis: .* must be a number from 1 to 1e9"),
        ({"hysteresis": "4"}, "hysteresis"),
    ],
)
@pytest.mark.parametrize("policy", [marginal, marginal_attained], ids=lambda policy: policy.__name__)
def test_bad_options(policy: Policy, options: dict[str, Any], rule: str) -> None:
    """A power or hysteresis out of its range is refused in one line."""
    with pytest.raises(InvalidInput, match=rule):
        simulate(bundle([_job([], 1)]), policy, cluster=1, **options)
