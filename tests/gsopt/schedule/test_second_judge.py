"""The judge and a second one, written from the definitions, agree on schedules with everything in them."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.bounds import lower_bound, moore_hodgson_bound
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from tests.effort import cases
from tests.gsopt.schedule.naive import Illegal, machine_at, machines_of, memory_of, menu_of, verdict
from tests.gsopt.schedule.play import Player
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import rich_scenarios, shifted

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

#: Seconds since 1970.
_TODAY = 1_700_000_000


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
    yield from _crowded(given, schedule)
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


def _crowded(given: Scenario, schedule: Schedule) -> Iterator[Schedule]:
    """Break the limits of memory and capacity where jobs overlap that need more of them together."""
    segments = schedule.segments
    jobs = {job.name: job for job in given.workload.jobs}
    for own, other in permutations(segments, 2):
        if own.job == other.job or other.end <= own.start or own.end <= other.start:
            continue
        rest = tuple(each for each in segments if each is not own)
        gpus = (*other.placement, *(gpu for gpu in own.placement if gpu not in other.placement))[: own.gpus]
        taken = sum(memory_of(jobs[each.job], each.mode) for each in (own, other))
        rooms = [machine_at(given.cluster, gpu).memory for gpu in other.placement if given.cluster.racks]
        if given.share_limit > 1 and any(room is not None and room < taken for room in rooms):
            yield Schedule((*rest, own._replace(placement=gpus)), schedule.preemptive, schedule.vacated)
        widest = max(menu_of(jobs[own.job], own.mode))
        if not own.placement and widest > own.gpus:
            yield Schedule((*rest, own._replace(gpus=widest)), schedule.preemptive, schedule.vacated)


def _second(schedule: Schedule, given: Scenario) -> list[Fraction] | str:
    try:
        return verdict(schedule, given)
    except Illegal as rule:
        return str(rule)


def _lasts(schedule: Schedule) -> bool:
    """Check that rounding leaves every segment some time."""
    return all(segment.start < segment.end for segment in schedule.segments)


def _rules_broken(scenario: Scenario, legal: Schedule, seed: int) -> Counter[str]:
    """Count what both judges say of the mutants of a legal schedule, whose mean JCT is above any bound."""
    verdicts: Counter[str] = Counter()
    ends = verdict(legal, scenario)
    exact = judge(legal, scenario, exact=True)
    assert (exact.violations, list(exact.completion_times)) == ((), ends)
    rounded = judge(legal, scenario)
    assert rounded.violations == ()
    assert rounded.mean_jct == pytest.approx(float(exact.mean_jct), rel=1e-12)
    gpus = scenario.cluster.gpus * scenario.share_limit
    total = float(sum(ends)) * (1 + 1e-9)
    assert max(bound(scenario.workload, gpus) for bound in (lower_bound, moore_hodgson_bound)) <= total
    for place, mutant in enumerate(_mutants(Random(seed), scenario, legal)):
        second = _second(mutant, scenario)
        first = judge(mutant, scenario, exact=True, fairness=False)  # of which the second judge knows nothing
        is_legal = not isinstance(second, str)
        assert (place, not first.violations) == (place, is_legal), (first.violations, second)
        assert not is_legal or list(first.completion_times) == second
        verdicts[str(second) if isinstance(second, str) else ""] += 1
    return verdicts


@settings(calm, max_examples=cases(1000))
@given(scenario=rich_scenarios(), seed=st.integers(0, 10**6))
def test_both_judges_agree_on_what_the_simulator_makes(scenario: Scenario, seed: int) -> None:
    """Both accept what a monkey does in the simulator, and judge its mutants alike."""
    played = replay(scenario, monkey, record=True, exact=True, seed=seed, share_limit=scenario.share_limit)
    assert verdict(schedule_of(played), scenario) == list(played.completion_times)
    assert _rules_broken(scenario, schedule_of(played), seed)[""]


def test_both_judges_agree_on_what_is_made_without_the_simulator() -> None:
    """Both accept what is played by the rules, today as well, and see every rule broken by mutants.

    Today seconds count from 1970, and floats round to a quarter of a microsecond.
    """
    rules: Counter[str] = Counter()
    played = 0

    @hypothesis_seed(2)  # the same cases every time, as some break each of the rules
    @settings(calm, max_examples=cases(400), database=None)
    @given(scenario=rich_scenarios(), seed=st.integers(0, 10**6))
    def compare(scenario: Scenario, seed: int) -> None:
        nonlocal played
        legal = Player(Random(seed), scenario).schedule
        if legal is None:
            return
        played += 1
        rules.update(_rules_broken(scenario, legal, seed))
        today = legal.timed(lambda time: float(time + _TODAY))
        if _lasts(today):
            found = judge(today, shifted(scenario, _TODAY, 1.0))
            assert found.violations == ()
            assert list(found.completion_times) == [float(_TODAY + time) for time in verdict(legal, scenario)]

    compare()
    assert played > cases(400) / 2
    assert rules[""] > cases(400)
    wanted = "capacity, sharing, memory, the type, no preemption, a request is met, the work is done, "
    wanted += "a machine that is asked for, the menu of the mode, a machine that is there"
    assert not [rule for rule in wanted.split(", ") if not rules[rule]]
