"""Pollux: workloads of its authors, beside what their own simulator gave, and how long decisions take.

Source: Pollux (OSDI 2021), section 5.3, and the results that its authors publish with their simulator.
"""

import json
from functools import partial
from pathlib import Path
from statistics import mean, median

import pytest

from gsopt.simulation import replay
from heuristics.policies.pollux.policy import pollux
from instances.scenarios import pollux as scenario
from tests.benchmarks.measures import data, report

pytestmark = pytest.mark.slow

#: By how much mean job completion times may differ from the authors', which are those of one draw.
NEAR = 0.05

RESULTS = Path("pollux_osdi21", "results-load-1.0.json")


@pytest.mark.parametrize("exact", [False, True], ids=["search", "exact"])
@pytest.mark.parametrize("workload", [1, 2, 3, 4, 6])
def test_workloads_of_the_authors(workload: int, exact: bool) -> None:
    """The mean job completion time of the published search is within 5 % of the authors'; all is printed."""
    folder = data(str(RESULTS))
    theirs = json.loads((folder / RESULTS).read_text())["pollux-1.0"]["jcts"][f"workload-{workload}"]
    given = scenario(folder, number=workload)
    run = replay(given, partial(pollux, exact=exact), round_length=60, bound=False)
    seconds = run.decision_seconds
    ours = dict(zip((job.name for job in given.workload.jobs), run.jct, strict=True))
    off = mean(ours.values()) / mean(theirs.values()) - 1
    lines = [
        f"workload {workload}, {'exact' if exact else 'search'}",
        f"  {mean(ours.values()):,.1f} s, authors {mean(theirs.values()):,.1f} s ({off:+.1%})",
        f"  job by job {median(_ratios(ours, theirs)):.3f} of theirs at the median",
        f"  {len(seconds)} decisions: {median(seconds):.3f} s at the median, up to {max(seconds):.3f} s",
    ]
    report(*lines)

    assert exact or abs(off) <= NEAR


def _ratios(ours: dict[str, float], theirs: dict[str, float]) -> list[float]:
    return [float(ours[name]) / theirs[name] for name in theirs]
