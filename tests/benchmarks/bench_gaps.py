"""The certified gaps of the policies that docs/gaps.md prints."""

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import simulate
from heuristics import policies
from instances.scheduling import elastic_jobs
from tests.benchmarks.measures import ares_scenario, philly_scenario

pytestmark = pytest.mark.slow

GAPS = Path(__file__).parents[2] / "docs" / "gaps.md"

#: By how much a gap may differ from what is printed: percentage points, or a part of it where that is more.
POINTS, PART = 0.6, 0.01


#: The workloads of the table, column by column.
COLUMNS: tuple[Callable[[], Scenario], ...] = (
    partial(philly_scenario, 128, 50),
    partial(philly_scenario, 512),
    partial(ares_scenario, "philly"),
    partial(ares_scenario, "saturn"),
    partial(ares_scenario, "newtrace"),
    lambda: elastic_jobs(jobs=100, gpus=64, load=1.2, seed=1).scenario,
)


@cache
def _printed() -> dict[str, list[float]]:
    """Return the percentages of the table of policies, by policy."""
    rows = re.findall(r"^\| `(\w+)`[^|]*\| (?:known|unknown) \|(.*)\|$", GAPS.read_text(), flags=re.MULTILINE)
    return {name: [float(cell.strip(" %").replace(",", "")) for cell in row.split("|")] for name, row in rows}


@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_the_gaps_that_are_printed(column: int) -> None:
    """Every policy's gap on the workload is the one in the table."""
    scenario = COLUMNS[column]()
    bound = price_bound(scenario)
    assert len(_printed()) >= 10
    for name, row in _printed().items():
        gap = simulate(scenario, getattr(policies, name), bound=bound).metrics.gap
        assert gap is not None
        assert 100 * gap == pytest.approx(row[column], rel=PART, abs=POINTS), name
