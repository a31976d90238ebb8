"""Outages of machines, drawn and measured, and the events that they cause."""

from itertools import combinations, pairwise
from random import Random
from typing import Any

import pytest

from gsopt.evaluation.spares import availability
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Leave, Return, refuse_impossible
from gsopt.scenario.job import Job, Workload
from gsopt.simulation import simulate
from heuristics.policies import fifo
from instances.outages import Outage, drawn_availability, merged, outage_events, random_outages
from tests.refusals import refused

_MACHINES = [f"machine 0.{number}" for number in range(6)]
_CLUSTER = Cluster.uniform(machines=6, gpus=2)


def _some(random: Random) -> list[Outage]:
    """Draw outages on a coarse grid, so that many overlap or touch."""
    begins = [random.randrange(30) for _ in range(random.randrange(6))]
    return [Outage(begin, begin + random.randint(1, 4)) for begin in begins]


def test_merged_outages_are_the_times_in_any() -> None:
    """A machine is out at the times of any of its outages, and merged ones are apart, whatever their order."""
    for seed in range(300):
        given = _some(Random(seed))
        found = merged(given)
        for second in range(40):
            is_out = any(begin <= second < end for begin, end in given)
            assert is_out == any(begin <= second < end for begin, end in found)
        assert all(early.end < late.begin for early, late in pairwise(found))
        assert merged(Random(seed).sample(given, len(given))) == merged(found) == found


def test_events_are_legal_and_say_who_is_there() -> None:
    """Events of drawn outages are possible, one for each time and direction, and bring everyone back."""
    for seed in range(200):
        random = Random(seed)
        outages = {machine: merged(_some(random)) for machine in _MACHINES}
        events = outage_events(outages, seconds=20)
        refuse_impossible(events, _CLUSTER)
        assert len({(event.time, event.event) for event in events}) == len(events)
        for second in range(40):
            away: set[str] = set()
            for event in events:
                if event.time <= second:
                    assert isinstance(event, Leave | Return)
                    away = away | set(event.servers) if isinstance(event, Leave) else away - set(event.servers)
            expected = {m for m, own in outages.items() for b, e in own if b < 20 and b <= second < e}
            assert away == expected
    assert outage_events({"a": ()}) == ()


def test_drawn_outages_follow_their_seed_and_means() -> None:
    """A seed gives the same outages, another one others; their number and length are as the means say."""
    names = [f"m{number}" for number in range(400)]
    one, again, other = (
        random_outages(names, seconds=1e6, uptime=9e4, downtime=1e4, seed=seed) for seed in (1, 1, 2)
    )
    assert one == again != other
    found = [each for own in one.values() for each in own]
    assert len(found) == pytest.approx(400 * 10, rel=0.05)
    assert sum(end - begin for begin, end in found) / len(found) == pytest.approx(1e4, rel=0.05)
    assert sum(own[:1] != () and own[0].begin == 0 for own in one.values()) == pytest.approx(40, abs=15)


def test_availability_of_a_draw_is_the_mean_over_all_draws() -> None:
    """It is the share of time in which enough of the drawn machines are up, over all choices of machines."""
    for seed in range(60):
        random = Random(seed)
        histories = [merged(_some(random)) for _ in range(5)]
        needed = random.randint(1, 4)
        spares = random.randint(0, 5 - needed)
        shares = []
        for chosen in combinations(histories, needed + spares):
            up = [sum(not any(b <= t < e for b, e in own) for own in chosen) for t in range(25)]
            shares.append(sum(number >= needed for number in up) / 25)
        assert drawn_availability(histories, needed, spares, seconds=25) == pytest.approx(
            sum(shares) / len(shares), abs=1e-12
        )


def test_independent_outages_approach_the_closed_form() -> None:
    """Over a long time, 400 machines that fail independently are up together as the binomial tail says."""
    names = [f"m{number}" for number in range(400)]
    drawn = random_outages(names, seconds=3e7, uptime=9.5e4, downtime=5e3, seed=3)
    for spares in (0, 2, 4):
        found = drawn_availability(list(drawn.values()), 16, spares, seconds=3e7)
        assert found == pytest.approx(float(availability(16, spares, 0.95)), abs=0.004)


def test_a_job_runs_while_enough_machines_are_up() -> None:
    """A job alone, which loses nothing, runs in exactly the share of time in which enough machines are up."""
    for seed in range(20):
        outages = random_outages(_MACHINES, seconds=4e4, uptime=500, downtime=200, seed=seed)
        job = Job(name="a", release_date=0, duration=9e3, gpus=8)
        run = simulate(Workload(jobs=[job]), fifo, cluster=_CLUSTER, events=outage_events(outages), bound=False)
        end = run.completion_times[0]
        until = [tuple(each for each in own if each.begin < end) for own in outages.values()]
        share = drawn_availability(until, 4, 2, seconds=end)
        assert share * end == pytest.approx(9e3, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"seconds": 0}, "seconds: 0: must be more than 0"),
        ({"uptime": -1}, "uptime: -1: must be more than 0"),
        ({"downtime": float("nan")}, "downtime: nan: must be more than 0"),
    ],
)
def test_bad_arguments(change: dict[str, Any], line: str) -> None:
    """Numbers out of range are refused in one line."""
    with refused(line, start=line):
        random_outages(["a"], **{"seconds": 1, "uptime": 1, "downtime": 1, **change})
    with refused("spares", start="spares: 1: must be at least 0 and at most 0"):
        drawn_availability([()], 1, 1, seconds=1)
    with refused("needed", start="needed: 0: must be at least 1"):
        drawn_availability([()], 0, 1, seconds=1)
