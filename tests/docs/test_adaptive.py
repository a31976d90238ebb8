"""The tables of jobs that tune themselves: they follow from the stored rows, and a row holds."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from gsopt.simulation import simulate
from heuristics.policies import marginal
from instances import scenarios
from tests.heuristics.policies.shared import traces
from tests.unwrap import unwrap

DOCS = Path(__file__).parents[2] / "docs"
ROWS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "adaptive.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def script() -> Any:
    """Return the program that writes the tables."""
    spec = unwrap(spec_from_file_location("adaptive", DOCS / "_static" / "adaptive.py"))
    module = module_from_spec(spec)
    unwrap(spec.loader).exec_module(module)
    return module


def test_the_tables_follow_from_the_rows(script: Any) -> None:
    """The page shows the tables that the program makes of the stored rows."""
    page = (DOCS / "systems.md").read_text("utf-8")
    for table in (script.by_workload(ROWS), script.by_policy(ROWS)):
        assert f"\n\n{table}\n" in page


def test_a_row_holds() -> None:
    """A simulation gives the mean job completion time that is stored for the first workload."""
    scenario = scenarios.pollux(traces(), number=1)
    found = simulate(scenario, marginal, round_length=60, bound=False).metrics.mean_jct
    assert found == pytest.approx(ROWS[0]["policies"]["marginal, course known"]["mean_jct"], rel=1e-9)
