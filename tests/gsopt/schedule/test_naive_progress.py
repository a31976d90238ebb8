"""Simulator, judge and an account from the definitions say the same of adaptive jobs, whatever happens."""

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from tests.effort import cases
from tests.gsopt.schedule.naive_progress import progress_in
from tests.gsopt.simulation.adaptive import adaptive_scenarios
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import later

#: Seconds since 1970, and by how much times there are rounded.
_TODAY, _TICKS = 1.7e9, 2e-6


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=cases(1000))
@given(
    scenario=adaptive_scenarios(), seed=st.integers(0, 10**6), is_today=st.sampled_from([False] * 3 + [True])
)
def test_all_three_agree_on_what_a_monkey_does(scenario: Scenario, seed: int, is_today: bool) -> None:
    """Adaptive jobs complete when their segments say, by the measurements and the rules; today as well."""
    policy = partial(monkey, seed=seed, share_limit=scenario.share_limit)
    run = replay(scenario, policy, record=True)
    own = progress_in(schedule_of(run), scenario)
    ends = [own[job.name].completed_at for job in scenario.workload.jobs if job.name in own]
    indices = [index for index, job in enumerate(scenario.workload.jobs) if job.name in own]
    assert ends == pytest.approx([run.completion_times[index] for index in indices], rel=SUM)
    verdict = judge(schedule_of(run), scenario, fairness=False)
    assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)
    if is_today:
        today = later(scenario, _TODAY)
        again = replay(today, policy, record=True)
        assert [again.completion_times[index] - _TODAY for index in indices] == pytest.approx(ends, abs=_TICKS)
        assert judge(schedule_of(again), today, fairness=False).violations == ()
