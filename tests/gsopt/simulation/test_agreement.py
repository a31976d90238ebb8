"""The simulator and the judge agree, on scenarios with everything in them and under every policy."""

from collections.abc import Iterable
from functools import partial
from inspect import signature
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import Unsupported
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, Decider, Policy, Start, State, replay
from gsopt.testing import check_policy
from heuristics import policies
from heuristics.policies import fifo, las, srtf
from tests.effort import cases
from tests.gsopt.simulation.adaptive import adaptive_scenarios
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import (
    bundle,
    later,
    plain_scenarios,
    rich_scenarios,
    shifted,
    tree_scenarios,
    workloads,
)
from tests.strategies.topology import trees

POLICIES = [getattr(policies, name) for name in policies.__all__]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("length", [pytest.param(None, id=part) for part in ("1", "2", "3")] + [1.75])
@settings(calm, max_examples=cases(250))
@given(scenario=rich_scenarios(), seed=st.integers(0, 10**6))
def test_any_decisions_with_everything_that_there_is(
    length: float | None, scenario: Scenario, seed: int
) -> None:
    """In fractions they agree without any tolerance whatever is given and whatever a policy decides.

    Types, memory, sharing, tiers, modes, phases, overheads, rounds, machines that fail, leave, return and are
    reclaimed; swaps, stops and starts in one instant, whole assignments in any order.
    """
    options: dict[str, Any] = {"seed": seed, "share_limit": scenario.share_limit}
    assert check_policy(monkey, [scenario], round_length=length, **options) == 2


@pytest.mark.parametrize(
    "scenarios", [plain_scenarios(elastic=True), tree_scenarios(), tree_scenarios(share_limit=2)]
)
@settings(calm, max_examples=cases(150))
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_any_decisions(scenarios: st.SearchStrategy[Scenario], data: st.DataObject, seed: int) -> None:
    """In fractions they agree on plain clusters, on racks and where jobs share GPUs, with more jobs."""
    scenario = data.draw(scenarios)
    assert check_policy(monkey, [scenario], seed=seed, share_limit=scenario.share_limit) == 2


@settings(calm, max_examples=cases(120))
@given(scenario=plain_scenarios(elastic=True))
def test_on_plain_clusters(scenario: Scenario) -> None:
    """They agree to 1e-9 with menus, overheads and capacity changes."""
    assert all(check_policy(policy, [scenario], exact=False) for policy in POLICIES)


@settings(calm, max_examples=cases(120))
@given(scenario=tree_scenarios())
def test_on_racks(scenario: Scenario) -> None:
    """They agree to 1e-9 where GPUs have numbers and network tiers slow jobs down."""
    assert all(check_policy(policy, [scenario], exact=False) for policy in POLICIES)


@settings(calm, max_examples=cases(120))
@given(scenario=plain_scenarios(), length=st.sampled_from([3.0, 4.5, 7.3]))
def test_in_rounds(scenario: Scenario, length: float) -> None:
    """They agree to 1e-9 where decisions are taken at multiples of a round length only.

    Rounds are longer than any overhead; a policy that preempts every round would never get on otherwise.
    """
    assert all(check_policy(policy, [scenario], exact=False, round_length=length) for policy in POLICIES)


@settings(calm, max_examples=cases(120))
@given(
    scenario=plain_scenarios(elastic=True) | tree_scenarios(),
    date=st.sampled_from([1.7e9, 1.7e9 + 0.1, 1.6e9 + 1 / 3]),
    scale=st.sampled_from([1e-3, 0.1, 1.0, 1e3, 1e5]),
    length=st.sampled_from([None, None, 2.9]),
)
def test_at_dates_of_today(scenario: Scenario, date: float, scale: float, length: float | None) -> None:
    """Where seconds count from 1970 the judge accepts what the simulator makes, and finds what it booked."""
    today = shifted(scenario, date, scale)
    for policy in POLICIES:
        rounds = None if length is None or today.overheads else length * scale
        run = replay(today, policy, record=True, round_length=rounds, **_spans(policy, scale))
        verdict = judge(schedule_of(run), today)
        assert verdict.violations == ()
        assert verdict.completion_times == run.completion_times
        for figure in ("preemptions", "resizes", "unfair_fraction"):
            assert getattr(verdict, figure) == getattr(run.metrics, figure)


@settings(calm, max_examples=cases(120))
@given(
    scenario=rich_scenarios(),
    seed=st.integers(0, 10**6),
    date=st.sampled_from([1.7e9, 1.7e9 + 0.1]),
    scale=st.sampled_from([1.0, 0.1]),
)
def test_any_decisions_at_dates_of_today(scenario: Scenario, seed: int, date: float, scale: float) -> None:
    """With everything that there is the judge accepts what the simulator makes since 1970."""
    today = shifted(scenario, date, scale)
    run = replay(today, monkey, record=True, seed=seed, share_limit=today.share_limit)
    verdict = judge(schedule_of(run), today)
    assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)


_DATES = (1_700_000_000, 1_600_000_000.1, 86_400.5)


@settings(calm, max_examples=cases(300))
@given(
    scenario=plain_scenarios(elastic=True) | tree_scenarios() | rich_scenarios() | adaptive_scenarios(),
    place=st.integers(0, len(POLICIES)),
    seed=st.integers(0, 10**6),
    date=st.sampled_from(_DATES),
    length=st.sampled_from([None, 2.9]),
)
def test_dates_change_nothing(
    scenario: Scenario, place: int, seed: int, date: float, length: float | None
) -> None:
    """A run of a workload whose times all come later is the same one to the last digit, and judged alike."""
    policy = (
        POLICIES[place]
        if place < len(POLICIES)
        else partial(monkey, share_limit=scenario.share_limit, seed=seed)
    )
    told: list[Any] = []
    for each in (scenario, later(scenario, date)):
        rounds = None if scenario.overheads else length
        try:
            run = replay(each, policy, record=True, round_length=rounds, bound=None)
        except Unsupported:  # by the policy, whatever the date
            told.append(())
            continue
        verdict = judge(schedule_of(run), each, complete=False)
        assert (verdict.violations, verdict.ends) == ((), run.metrics.ends)
        assert verdict.completion_times == run.completion_times
        own = schedule_of(run).timed(each.clock.since).timed(float)
        told.append((run.metrics.as_dict(), run.jct, own, verdict.as_dict()))
    assert told[0] == told[1]


def _spans(policy: Policy, scale: float) -> dict[str, Any]:
    """Return leases, turns and intervals times the scale, so that they stay longer than overheads."""
    known = {"lease": 28_800.0, "span": 60.0, "interval": 60.0}
    return {name: span * scale for name, span in known.items() if name in signature(policy).parameters}


@each_policy
@settings(calm, max_examples=cases(40))
@given(scenario=plain_scenarios(elastic=True) | tree_scenarios())
def test_exactly_in_fractions(policy: Policy, scenario: Scenario) -> None:
    """In fractions they agree without any tolerance."""
    assert check_policy(policy, [scenario]) == 2


_PENALTY = {"machine": 0.25, "rack": 0.5, "network": 4.0, "pod": 1.0, "island": 0.125}


@st.composite
def _scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a network and jobs on it, of which some are slowed down by some of its levels."""
    cluster: Cluster = draw(trees(linked=False))
    known = {
        level: _PENALTY[level] for level in ("machine", "rack", "network", *cluster.levels) if level in _PENALTY
    }
    return Scenario(
        workload=draw(workloads(cluster.gpus, most=5)),
        cluster=cluster,
        speed=Speed(tiers={"cnn": TierPenalty(**known)}),
    )


@settings(max_examples=cases(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenario=_scenarios(), seed=st.integers(0, 10**6))
def test_the_judge_agrees(scenario: Scenario, seed: int) -> None:
    """In fractions they agree without any tolerance under policies, and whatever else is decided."""
    for policy in (fifo, las):
        assert check_policy(policy, [scenario]) == 2
    assert check_policy(monkey, [scenario], seed=seed, share_limit=1) == 2


_SCENARIO = Scenario(
    workload=bundle([Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]),
    cluster=Cluster.plain(1),
)


class _Lazy:
    preemptive = False

    def decide(self, state: State) -> Iterable[Action]:
        return [Start(job) for job in state.arrived[:1]]


def test_a_starving_policy_fails() -> None:
    """Every job has to complete."""

    def lazy(state: State) -> Decider:
        del state
        return _Lazy()

    with pytest.raises(AssertionError, match="1 jobs never complete"):
        check_policy(lazy, [_SCENARIO])


def test_a_policy_with_hidden_state_fails() -> None:
    """Two runs have to be equal."""
    seeds = iter(range(100))

    def moody(state: State) -> Decider:
        return (fifo, srtf)[next(seeds) % 2](state)

    uneven = _SCENARIO.model_copy(
        update={
            "workload": bundle(
                [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3), ("b", 1)]]
            )
        }
    )
    with pytest.raises(AssertionError, match="differ"):
        check_policy(moody, [uneven])


def test_nothing_to_check_fails() -> None:
    """A check of no scenario is no check."""
    with pytest.raises(AssertionError, match="no scenario"):
        check_policy(fifo, [])
