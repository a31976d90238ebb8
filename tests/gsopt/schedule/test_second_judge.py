"""The judge and a second one, written from the definitions, agree on schedules with everything in them."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.bounds import lower_bound, moore_hodgson_bound
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from tests.effort import cases
from tests.gsopt.schedule.naive import Illegal, machines_of, verdict
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import rich_scenarios

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _mutants(random: Random, given: Scenario, schedule: Schedule) -> Iterator[Schedule]:
    """Change one thing in each of many ways; some of them stay legal."""
    segments, vacated = schedule.segments, schedule.vacated
    index = random.randrange(len(segments))
    segment = segments[index]

    def having(*new: Segment) -> Schedule:
        return Schedule((*segments[:index], *new, *segments[index + 1 :]), schedule.preemptive, vacated)

    shift = random.choice([Fraction(-1, 2), Fraction(1, 4), Fraction(1, 2), Fraction(3)])
    middle = (segment.start + segment.end) / 2
    modes = [mode.name for job in given.workload.jobs for mode in job.modes]
    yield having()
    yield having(segment._replace(end=segment.end + shift))
    yield having(segment._replace(start=segment.start + shift))
    yield having(segment._replace(start=segment.start + shift, end=segment.end + shift))
    yield having(segment._replace(gpus=segment.gpus + 1))
    yield having(segment._replace(mode=random.choice(["", *modes])))
    yield having(segment._replace(job=random.choice(given.workload.jobs).name))
    yield having(segment._replace(end=middle), segment._replace(start=middle))
    yield having(segment._replace(end=middle), segment._replace(start=middle + 9, end=segment.end + 9))
    yield having(segment._replace(placement=segment.placement[::-1]))
    others = [*range(given.cluster.gpus)]
    for _ in range(4):
        if len(others) >= segment.gpus:
            yield having(segment._replace(placement=tuple(random.sample(others, segment.gpus))))
    yield Schedule(segments, not schedule.preemptive, vacated)
    for other in random.sample(segments, min(len(segments), 6)):
        yield having(segment._replace(placement=other.placement, gpus=other.gpus, mode=other.mode))
    servers = machines_of(given.cluster)
    if servers:
        yield Schedule(segments, schedule.preemptive, (*vacated, Vacated(segment.end, random.choice(servers))))
    if vacated:
        first = vacated[0]
        yield Schedule(segments, schedule.preemptive, vacated[1:])
        yield Schedule(segments, schedule.preemptive, (first, *vacated))
        yield Schedule(segments, schedule.preemptive, (first._replace(time=first.time + shift), *vacated[1:]))
        yield Schedule(
            segments, schedule.preemptive, (first._replace(server=random.choice(servers)), *vacated[1:])
        )


def _second(schedule: Schedule, given: Scenario) -> list[Fraction] | str:
    try:
        return verdict(schedule, given)
    except Illegal as rule:
        return str(rule)


def test_both_judges_agree() -> None:
    """Both accept what a monkey does in the simulator, judge its mutants alike, and see the rules broken.

    Legal schedules have the same completion times, in floats too, and no bound is above them.
    """
    rules: Counter[str] = Counter()

    @settings(calm, max_examples=cases(1000))
    @given(scenario=rich_scenarios(), seed=st.integers(0, 10**6))
    def compare(scenario: Scenario, seed: int) -> None:
        played = replay(scenario, monkey, record=True, exact=True, seed=seed, share_limit=scenario.share_limit)
        legal = schedule_of(played)
        assert verdict(legal, scenario) == list(played.completion_times)
        rounded = judge(legal, scenario)
        assert rounded.violations == ()
        assert rounded.mean_jct == pytest.approx(float(played.metrics.mean_jct or 0), rel=1e-12)
        gpus = scenario.cluster.gpus * scenario.share_limit
        total = float(sum(played.completion_times)) * (1 + 1e-9)
        assert max(bound(scenario.workload, gpus) for bound in (lower_bound, moore_hodgson_bound)) <= total
        for place, mutant in enumerate(_mutants(Random(seed), scenario, legal)):
            second = _second(mutant, scenario)
            first = judge(mutant, scenario, exact=True)
            is_legal = not isinstance(second, str)
            assert (place, not first.violations) == (place, is_legal), (first.violations, second)
            assert not is_legal or list(first.completion_times) == second
            rules[str(second) if isinstance(second, str) else ""] += 1

    compare()
    assert rules[""] > cases(1000)
    wanted = "capacity, sharing, memory, the type, no preemption, a request is met, the work is done, "
    wanted += "a machine that is asked for, the menu of the mode, a machine that is there"
    missing = [rule for rule in wanted.split(", ") if not rules[rule]]
    assert len(missing) <= 3, missing  # few cases may spare a rule, never several
