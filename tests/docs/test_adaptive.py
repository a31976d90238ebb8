"""The tables of jobs that tune themselves: they follow from the stored rows, and a row holds."""

import json
from typing import Any

import pytest

from gsopt.simulation import simulate
from heuristics.policies import marginal
from instances import scenarios
from tests.docs.scripts import DOCS, script
from tests.heuristics.policies.shared import traces

ROWS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "adaptive.json").read_text("utf-8"))


def test_the_tables_follow_from_the_rows() -> None:
    """The page shows the tables that the program makes of the stored rows."""
    page = (DOCS / "systems.md").read_text("utf-8")
    for table in (script("adaptive").by_workload(ROWS), script("adaptive").by_policy(ROWS)):
        assert f"\n\n{table}\n" in page


@pytest.mark.parametrize("knows", ["course", "epochs"])
def test_a_row_holds(knows: str) -> None:
    """A simulation gives the mean job completion time that is stored for the first workload."""
    scenario = scenarios.pollux(traces(), number=1)
    found = simulate(scenario, marginal, knows=knows, round_length=60, bound=False).metrics.mean_jct
    assert found == pytest.approx(ROWS[0]["policies"][f"marginal, {knows} known"]["mean_jct"], rel=1e-9)
