"""Write the page of preemption rules from the results of a study, and from the tables of the rules' tests.

``gsopt study run docs/studies/preemption.json --out FOLDER``, then ``python docs/_static/preemption.py FOLDER``.
"""

import json
import sys
from pathlib import Path
from statistics import mean, median
from typing import Any

from gsopt import studies

DOCS = Path(__file__).parents[1]

#: Where the rows are kept; the page and the tests read them.
ROWS, PAGE = DOCS / "_static" / "preemption.json", DOCS / "preemption.md"

#: Cases of the programs' own tests, by rule.
CASES = DOCS.parent / "tests" / "heuristics" / "admission" / "tables"

#: Title of each table, and the beginning of the groups of the study that it sums up.
TABLES = {
    "Small instances by hand": "admission/small",
    "Clusters of 128 and 160 machines, cost in GPU-hours or evictions": "admission/production",
    "Thirty clusters, cost in GPUs": "GPUs, ",
}


def rows(folder: str) -> list[dict[str, Any]]:
    """Return a row for each instance: the GPUs that are pending, and each method's cost and evicted GPUs."""
    found: dict[str, dict[str, Any]] = {}
    for row in studies.results(folder):
        labels, figures = row.labels, row.figures
        instance = {"group": str(labels.group), "instance": str(labels.instance)}
        if labels.instance_options:
            instance["options"] = dict(labels.instance_options)
        entry = found.setdefault(str(labels.instance), {**instance, "methods": {}})
        entry["pending"] = figures["pending GPUs"]
        solved = figures.get("objective") is not None
        entry["methods"][str(labels.method)] = (
            [figures["status"], figures["objective"], figures["evicted_gpus"]] if solved else [figures["status"]]
        )
    return list(found.values())


def summary(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the figures of each rule over some instances."""
    possible = [row for row in found if row["methods"]["exact"][0] == "optimal"]
    told: dict[str, dict[str, Any]] = {}
    for rule in (name for name in found[0]["methods"] if name != "exact"):
        solved = [row for row in possible if len(row["methods"][rule]) > 1]
        pairs = [(row["methods"][rule], row["methods"]["exact"]) for row in solved]
        ratios = [float(value / least) if least else 1.0 for (_, value, _), (_, least, _) in pairs if least or not value]
        more = sum(gpus - fewest for (_, _, gpus), (_, _, fewest) in pairs)
        told[rule] = {
            "admitted": len(solved),
            "possible": len(possible),
            "ratios": ratios,
            "missed": len(solved) - len(ratios),
            "gpus": more / max(sum(row["pending"] for row in solved), 1),
        }
    return told


def table(found: list[dict[str, Any]]) -> str:
    """Return a table with a line for each rule, the one that admits most first, then the one nearest the optimum."""
    told = summary(found)
    missed = any(row["missed"] for row in told.values())
    order = sorted(told, key=lambda rule: (-told[rule]["admitted"], median(told[rule]["ratios"] or [0]), rule))
    head = "| rule | admitted | cost over optimum: median | mean | worst | GPUs beyond the optimum |"
    text = head + (" free optimum missed |\n" if missed else "\n") + "|---|" + "---|" * (5 + missed) + "\n"
    for rule in order:
        row = told[rule]
        ratios = row["ratios"]
        three = [_decimal(each(ratios)) if ratios else "-" for each in (median, mean, max)]
        gpus = f"{row['gpus']:.2f}" if row["admitted"] else "-"
        text += f"| {_named(rule)} | {row['admitted']} of {row['possible']} | {' | '.join(three)} | {gpus} |"
        text += f" {row['missed']} |\n" if missed else "\n"
    return text


def _decimal(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 1000 else f"{ratio:.1e}"


def _named(rule: str) -> str:
    name, comma, rest = rule.partition(",")
    return f"`{name}`{comma}{rest}"


def widest(found: list[dict[str, Any]]) -> str:
    """Say what KAI-Scheduler and the optimum evict on the case that a user reported."""
    row = next(row for row in found if row["group"] == "376 for 48")
    least, kai = row["methods"]["exact"][2], row["methods"]["kai"][2]
    return (
        f"A user of KAI-Scheduler reports 376 evicted GPUs for requests of 48. On a cluster built from the report "
        f"(`latest_is_widest`), `kai` evicts {kai} GPUs for {row['pending']}, and the optimum {least}.\n"
    )


def programs() -> str:
    """Return what is known of each rule's agreement with the tests of its program."""
    text = ""
    for path in sorted(CASES.glob("*.json")):
        known = json.loads(path.read_text("utf-8"))
        left = "; ".join(known["not_expressible"])
        text += f"\n### {path.stem}\n\n{len(known['cases'])} cases. {known['about']}\n\nLeft out: {left}.\n"
    return text


def page(found: list[dict[str, Any]]) -> str:
    """Return the page."""
    text = HEAD
    for title, group in TABLES.items():
        text += f"\n## {title}\n\n" + table([row for row in found if row["group"].startswith(group)])
    text += "\n" + widest(found)
    return text + TAIL + programs()


HEAD = (Path(__file__).parent / "preemption-head.md").read_text("utf-8")
TAIL = (Path(__file__).parent / "preemption-tail.md").read_text("utf-8")

if __name__ == "__main__":
    if len(sys.argv) > 1:
        lines = (json.dumps(row) for row in rows(sys.argv[1]))
        ROWS.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    PAGE.write_text(page(json.loads(ROWS.read_text("utf-8"))))
