"""The judge and a second one, written from the definitions, agree on schedules with everything in them."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.scenario.events import Reclaim
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.bounds import lower_bound, moore_hodgson_bound
from gsopt.schedule.judge import judge
from tests.effort import cases
from tests.gsopt.schedule.naive import Illegal, machines_of, verdict
from tests.gsopt.schedule.play import Player, scenario

#: Scenarios in one block of legal schedules, and those of which mutants are made.
_LEGAL, _BROKEN = cases(150), cases(400)

#: Seconds since 1970.
_TODAY = 1_700_000_000


def _played(seed: int) -> tuple[Random, Scenario, Schedule] | None:
    random = Random(seed)
    given = scenario(random)
    schedule = Player(random, given).schedule
    return None if schedule is None else (random, given, schedule)


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
    if len(others) >= segment.gpus:
        yield having(segment._replace(placement=tuple(random.sample(others, segment.gpus))))
    yield Schedule(segments, not schedule.preemptive, vacated)
    for other in segments[:3]:
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


@pytest.mark.parametrize("block", range(2))
def test_legal_schedules_are_legal(block: int) -> None:
    """What is played by the rules is accepted, in fractions and in floats, with the completion times played.

    No bound is above it.
    """
    played = 0
    for seed in range(block * _LEGAL, (block + 1) * _LEGAL):
        if (each := _played(seed)) is None:
            continue
        _, given, schedule = each
        exact = judge(schedule, given, exact=True)
        assert (seed, exact.violations) == (seed, ())
        assert list(exact.completion_times) == verdict(schedule, given)
        rounded = judge(schedule, given)
        assert (seed, rounded.violations) == (seed, ())
        assert rounded.mean_jct == pytest.approx(float(exact.mean_jct), rel=1e-12)
        gpus = given.cluster.gpus * given.share_limit
        total = float(sum(exact.completion_times)) * (1 + 1e-9)
        assert max(bound(given.workload, gpus) for bound in (lower_bound, moore_hodgson_bound)) <= total
        played += 1
    assert played > _LEGAL / 2


def _today(given: Scenario, schedule: Schedule) -> tuple[Scenario, Schedule]:
    """Let all begin at a date of today, as seconds since 1970 in floats."""

    def dated(item: Any, *fields: str) -> Any:
        return item.model_copy(update={name: getattr(item, name) + _TODAY for name in fields})

    jobs = [dated(job, "release_date") for job in given.workload.jobs]
    events = [
        dated(event, "time", *(["deadline"] if isinstance(event, Reclaim) else [])) for event in given.events
    ]
    update = {
        "workload": Workload(jobs=jobs),
        "capacity_changes": tuple(dated(change, "time") for change in given.capacity_changes),
        "events": tuple(events),
    }
    segments = tuple(
        segment._replace(start=float(segment.start + _TODAY), end=float(segment.end + _TODAY))
        for segment in schedule.segments
    )
    vacated = tuple(Vacated(float(time + _TODAY), server) for time, server in schedule.vacated)
    return given.model_copy(update=update), Schedule(segments, schedule.preemptive, vacated)


def test_legal_schedules_are_legal_today() -> None:
    """Where seconds count from 1970 and floats round to a quarter of a microsecond, it is the same."""
    for seed in range(_LEGAL):
        if (each := _played(seed)) is not None:
            given, schedule = _today(*each[1:])
            found = judge(schedule, given)
            assert (seed, found.violations) == (seed, ())
            assert list(found.completion_times) == [float(_TODAY + t) for t in verdict(each[2], each[1])]


def test_both_judges_agree() -> None:
    """Of every mutant both say the same, and each of the rules is broken by some."""
    rules: Counter[str] = Counter()
    for seed in range(_BROKEN):
        if (each := _played(seed)) is None:
            continue
        for place, mutant in enumerate(_mutants(*each)):
            second = _second(mutant, each[1])
            first = judge(mutant, each[1], exact=True)
            legal = not isinstance(second, str)
            assert (seed, place, not first.violations) == (seed, place, legal), (first.violations, second)
            assert not legal or list(first.completion_times) == second
            rules[str(second) if isinstance(second, str) else ""] += 1
    assert rules[""] > _BROKEN
    wanted = [
        "capacity",
        "sharing",
        "memory",
        "the type",
        "no preemption",
        "a request is met",
        "the work is done",
    ]
    wanted += ["a machine that is asked for", "the menu of the mode", "a machine that is there"]
    assert all(rules[rule] for rule in wanted), rules
