"""Write the tables of jobs that tune themselves into the page of systems, from the results of a study.

``gsopt study run docs/studies/adaptive.json --out adaptive``, then
``python docs/_static/adaptive.py adaptive``. Without a folder, the tables are written from the stored rows.
"""

import json
import sys
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from gsopt import studies

DOCS = Path(__file__).parents[1]

#: Where the rows are kept, and the page that shows them.
ROWS, PAGE = DOCS / "_static" / "adaptive.json", DOCS / "systems.md"

#: Figures that are kept.
KEPT = ("mean_jct", "p99_jct", "worst_fairness", "preemptions", "lower_bound")

POLLUX, KNOWN = "Pollux, exact", "marginal, course known"
OTHERS = ("marginal, epochs known", "marginal attained")

#: Workloads whose rows stand first, in this order.
_TRACES = ("Pollux", "Philly", "Helios", "newTrace")


def rows(folder: str) -> list[dict[str, Any]]:
    """Return a row for each workload, with the figures of each policy."""
    found: dict[str, dict[str, Any]] = {}
    for row in studies.results(folder):
        if row.figures.get("mean_jct") is not None:
            number = row.labels.instance_options.get("number", 1)
            entry = found.setdefault(f"{row.labels.group} {number}", {})
            entry[str(row.labels.method)] = {key: row.figures[key] for key in KEPT}
    order = sorted(found, key=lambda name: (_TRACES.index(name.split()[0]), name))
    return [{"workload": name, "policies": found[name]} for name in order]


def by_workload(found: list[dict[str, Any]]) -> str:
    """Return the table of mean job completion times, one line per workload."""
    text = "| workload | proven bound | Pollux, exact | course known | difference | gap "
    text += "| epochs known | attained |\n|:--" + "|--:" * 7 + "|\n"
    for row in found:
        policies = row["policies"]
        best = policies[KNOWN]
        times = [f"{policies[name]['mean_jct']:,.0f}" for name in OTHERS]
        line = [row["workload"], f"{best['lower_bound']:,.0f}"]
        if POLLUX in policies:
            theirs = policies[POLLUX]["mean_jct"]
            line += [f"{theirs:,.0f}", f"{best['mean_jct']:,.0f}", _percent(best["mean_jct"] / theirs - 1)]
        else:
            line += ["-", f"{best['mean_jct']:,.0f}", "-"]
        line += [_percent(best["mean_jct"] / best["lower_bound"] - 1), *times]
        text += f"| {' | '.join(line)} |\n"
    return text


def by_policy(found: list[dict[str, Any]]) -> str:
    """Return the table of means over the workloads that Pollux has completed, one line per policy."""
    text = "| policy | mean JCT | 99th percentile | worst fairness | preemptions |\n|:--" + "|--:" * 4 + "|\n"
    complete = [row["policies"] for row in found if POLLUX in row["policies"]]
    for name in complete[0]:
        times, tails = (
            geometric_mean(row[name][key] / row[POLLUX][key] for row in complete)
            for key in ("mean_jct", "p99_jct")
        )
        unfair = mean(row[name]["worst_fairness"] for row in complete)
        stops = mean(row[name]["preemptions"] for row in complete)
        text += f"| {name} | {times:.3f} | {tails:.3f} | {unfair:.2f} | {stops:.0f} |\n"
    return text


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"


def replaced(page: str, table: str) -> str:
    """Return the page with the table that has the same head."""
    head = table[: table.index("\n") + 1]
    before, _, rest = page.partition(head)
    lines = rest.splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return before + table + "".join(lines[end:])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ROWS.write_text("[\n" + ",\n".join(map(json.dumps, rows(sys.argv[1]))) + "\n]\n")
    kept = json.loads(ROWS.read_text("utf-8"))
    PAGE.write_text(replaced(replaced(PAGE.read_text("utf-8"), by_workload(kept)), by_policy(kept)))
