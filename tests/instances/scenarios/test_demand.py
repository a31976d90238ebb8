"""The demand of an inference cluster, made up and from the public traces."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.scenarios.demand import Demand, made_up_demand, public_demand


def test_a_curve_has_the_facts_of_the_paper() -> None:
    """Mean, peak and the ratio of peak to trough of a day are those of Aryl, but for rounding to GPUs."""
    demand = made_up_demand()

    assert len(demand.busy) == 15 * 288
    assert demand.mean == pytest.approx(0.65, abs=1e-3)
    assert demand.peak == pytest.approx(0.95, abs=2e-3)
    assert demand.peak_to_trough == pytest.approx(2.2, abs=0.02)


def test_the_public_curve_has_the_facts_of_the_paper(traces: Path) -> None:
    """The curve of the public traces has them too, and never falls below the day's trough."""
    demand = public_demand(traces)

    assert demand.mean == pytest.approx(0.65, abs=1e-3)
    assert demand.peak_to_trough == pytest.approx(2.2, abs=0.02)
    assert 0.94 < demand.peak <= 0.95
    assert min(demand.busy) >= 0.9 * demand.peak / 2.2 * demand.gpus


def test_other_facts_are_met() -> None:
    """Any mean between trough and peak can be asked for."""
    demand = made_up_demand(days=3, gpus=100_000, mean=0.35, peak=0.8, peak_to_trough=4)

    assert demand.mean == pytest.approx(0.35, abs=1e-4)
    assert demand.peak == pytest.approx(0.8, abs=2e-3)  # between two steps of the level


def test_a_later_beginning_cuts_the_curve() -> None:
    """A curve that begins hours later is the rest of the same days."""
    whole = made_up_demand(days=1, seed=3)

    assert made_up_demand(days=0.5, begin=12, seed=3).busy == whole.busy[144:]


def test_the_most_of_a_time() -> None:
    """The largest value of the steps that a time touches counts, and the last one holds on."""
    demand = Demand(step=300, busy=(3, 9, 4), gpus=10)
    times = [(0, 300), (0, 301), (299, 600), (600, 900), (5000, 6000)]

    assert [demand.most(begin, end) for begin, end in times] == [3, 9, 9, 4, 4]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"days": 0}, "days: 0: must be more than 0 and at most 31, as many as the traces have"),
        ({"gpus": 0}, "gpus: 0: must be at least 1"),
        ({"begin": 25}, "begin: 25: must be an hour between 0 and 24"),
        ({"peak": 1.5}, "peak: 1.5: must be more than 0 and at most 1"),
        ({"peak_to_trough": 0.5}, "peak_to_trough: 0.5: must be at least 1"),
        ({"mean": 0.3}, "mean: 0.3: must be between 0.4"),  # below the trough
    ],
)
def test_an_option_out_of_its_range_is_one_line(options: dict[str, Any], line: str) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        made_up_demand(**options)
    assert line in str(refused.value)
