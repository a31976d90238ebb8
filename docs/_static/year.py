"""Write the table of the synthetic year into the page of suites, from stored rows.

``python docs/_static/year.py DATA JOBS ...`` first measures these numbers of jobs, on the traces in a folder.
Every figure is stored at once. Without arguments, the table is written from the stored rows.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

from page_tables import replaced

from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.figures import Record
from gsopt.simulation import replay
from heuristics.policies import marginal, srsf
from instances.scenarios import year

DOCS = Path(__file__).parents[1]

#: Where rows are kept, and the page that shows them.
ROWS, PAGE = DOCS / "_static" / "year.json", DOCS / "suites.md"


#: The steps: what is measured on a scenario, by name.
STEPS: dict[str, Callable[[Scenario], PriceBound | Record]] = {
    "bound": lambda scenario: price_bound(scenario, evaluations=300, cells=400),
    "srsf": lambda scenario: replay(scenario, srsf).metrics,
    "marginal": lambda scenario: replay(scenario, marginal).metrics,
}


def measure(data: Path, jobs: int) -> None:
    """Store the row of a number of jobs after each step; steps that are stored are not repeated."""
    row = next((row for row in stored() if row["jobs"] == jobs), {"jobs": jobs, "values": {}, "gigabytes": 0})
    begin = process_time()
    scenario = year(data, jobs=jobs)
    seconds = row.setdefault("seconds", {}) | {"making": process_time() - begin}
    for name, step in STEPS.items():
        if name in row["values"]:
            continue
        begin = process_time()
        found = step(scenario)
        seconds[name] = process_time() - begin
        row["values"][name] = found.mean_jct
        if isinstance(found, Record):
            row["preemptions"] = found.preemptions
        row |= {
            "gpus": scenario.cluster.gpus,
            "load": scenario.offered_load,
            "seconds": seconds,
            "gigabytes": max(row["gigabytes"], getrusage(RUSAGE_SELF).ru_maxrss / 1e6),
            "version": version("gsopt"),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        }
        rows = [row, *(each for each in stored() if each["jobs"] != jobs)]
        ROWS.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table, one line per number of jobs of which all steps are measured."""
    text = "| jobs | GPUs | load | proven bound, s | `srsf`, s | `marginal`, s | gap | preemptions "
    text += "| making, processor s | bound | `srsf` | `marginal` | peak memory, GB |\n|" + 13 * "--:|" + "\n"
    for row in rows:
        values, seconds = row["values"], row["seconds"]
        if len(values) < len(STEPS):
            continue
        cells = [
            f"{row['jobs']:,}",
            f"{row['gpus']:,}",
            f"{row['load']:.2f}",
            *(f"{values[name]:,.1f}" for name in STEPS),
            f"{100 * (min(values['srsf'], values['marginal']) / values['bound'] - 1):.2f} %",
            f"{row['preemptions']:,}",
            *(f"{seconds[name]:,.1f}" for name in ("making", *STEPS)),
            f"{row['gigabytes']:.1f}",
        ]
        text += f"| {' | '.join(cells)} |\n"
    return text


def stored() -> list[dict[str, Any]]:
    """Return the stored rows, in ascending order of jobs."""
    rows = json.loads(ROWS.read_text("utf-8")) if ROWS.exists() else []
    return sorted(rows, key=lambda row: int(row["jobs"]))


if __name__ == "__main__":
    for number in sorted(map(int, sys.argv[2:])):
        measure(Path(sys.argv[1]), number)
    page = PAGE.read_text("utf-8")
    if table([]) in page:
        PAGE.write_text(replaced(page, table(stored())))
