"""What an inference cluster lends and asks back."""

from itertools import pairwise

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Machine
from gsopt.scenario.events import Leave, Loan, Reclaim
from instances.scenarios.demand import Demand, made_up_demand
from instances.scenarios.lending import lending


def machines(number: int) -> list[Machine]:
    """Return inference servers of 8 GPUs."""
    return [Machine(name=f"s{each}", gpus=8, gpu_type="T4") for each in range(number)]


def test_what_is_needed_is_there_in_time() -> None:
    """At every step, with all requests met at their deadlines, as many machines are kept as demand fills."""
    demand = made_up_demand(days=2, gpus=320, seed=5)
    events = lending(demand, machines(40), interval=600, headroom=1)
    changes = [
        (event.time, len(event.servers))
        if isinstance(event, Leave)
        else (event.deadline, event.servers or 0)
        if isinstance(event, Reclaim)
        else (event.time, -(event.servers if isinstance(event, Loan) else 0))
        for event in events
    ]
    times = [place * demand.step for place in range(len(demand.busy))]
    kept = [sum(change for when, change in changes if when <= time) for time in times]
    needed = [-(-busy // 8) + 1 for busy in demand.busy]

    assert all(40 >= away >= least for away, least in zip(kept, needed, strict=True))
    assert max(away - least for away, least in zip(kept, needed, strict=True)) < 5


def test_an_interval_has_one_event() -> None:
    """Machines are lent or asked back at an interval's beginning, and requests end with the interval."""
    events = lending(made_up_demand(days=1, gpus=320), machines(40))

    assert all(early.time < late.time for early, late in pairwise(events))
    assert all(event.deadline == event.time + 300 for event in events if isinstance(event, Reclaim))
    assert {event.event for event in events} == {"leave", "loan", "reclaim"}


def test_all_machines_can_be_lent() -> None:
    """Without demand nothing is away, and nothing happens."""
    assert lending(Demand(300, (0, 0), 16), machines(2)) == ()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"interval": 0}, "interval: 0: must be at least 1 second"),
        ({"headroom": 3}, "headroom: 3: must be between 0 and 2"),
    ],
)
def test_an_option_out_of_its_range_is_one_line(options: dict[str, int], line: str) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        lending(Demand(300, (0, 0), 16), machines(2), **options)
    assert line in str(refused.value)
