"""Write the page of preemption rules from the results of two studies, and from the tables of the rules' tests.

``gsopt study run docs/studies/preemption.json --out preemption``, the same for ``priorities``, then
``python docs/_static/preemption.py preemption priorities``. Without folders, what is kept is written anew.
"""

import json
import sys
from pathlib import Path
from statistics import mean, median
from typing import Any

from gsopt import studies
from gsopt.scenario.cluster import Cluster
from instances.workloads import two_classes

DOCS = Path(__file__).parents[1]

#: Where the rows are kept; the page and the tests read them.
ROWS, RUNS = DOCS / "_static" / "preemption.json", DOCS / "_static" / "priorities.json"
PAGE = DOCS / "preemption.md"

#: Cases of the programs' own tests, by rule.
CASES = DOCS.parent / "tests" / "heuristics" / "admission" / "tables"

#: Figures of a simulation that the page shows, in this order.
SHOWN = ("preemptions", "gpu_hours", "mean_jct", "mean_jct_highest", "mean_jct_others", "lower_bound")

#: Larger ratios are written with an exponent.
_LARGE = 1000

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
            [figures["status"], figures["objective"], figures["evicted_gpus"]]
            if solved
            else [figures["status"]]
        )
    return list(found.values())


def runs(folder: str) -> list[dict[str, Any]]:
    """Return a row for each simulation: its workload and policy, and the figures that the page shows."""
    found = []
    for row in studies.results(folder):
        options, figures = row.labels.instance_options, row.figures
        given = {key: options[key] for key in ("jobs", "load", "checkpoints", "seed") if key in options}
        found.append(
            {
                "group": str(row.labels.group),
                "workload": given,
                "policy": str(row.labels.method),
                "needed": two_classes(gpus=Cluster.from_shape(options["cluster"]).gpus, **given).gpu_hours,
                **{key: figures[key] for key in SHOWN},
            }
        )
    return found


def over_time(found: list[dict[str, Any]]) -> str:
    """Return a table for each group of simulations, with the means over its workloads."""
    text = ""
    for group in dict.fromkeys(row["group"] for row in found):
        text += f"\n### {group[0].upper()}{group[1:]}\n\n"
        text += (
            "| policy | evictions | GPU hours lost | mean JCT | urgent | others | bound | gap |\n"
            + "|---" * 8
            + "|\n"
        )
        policies = dict.fromkeys(row["policy"] for row in found if row["group"] == group)
        lines = []
        for policy in policies:
            cells = [row for row in found if (row["group"], row["policy"]) == (group, policy)]
            means = {key: mean(row[key] for row in cells) for key in SHOWN}
            lost = means["gpu_hours"] - mean(row["needed"] for row in cells)
            hours = [f"{means[key] / 3600:.2f}" for key in SHOWN if "jct" in key or key == "lower_bound"]
            gap = f"{100 * (means['mean_jct'] / means['lower_bound'] - 1):.1f} %"
            line = f"| {policy} | {means['preemptions']:.0f} | {lost:.0f} | {' | '.join(hours)} | {gap} |\n"
            lines.append((means["mean_jct"], line))
        text += "".join(line for _, line in sorted(lines))
    return text


def summary(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the figures of each rule over some instances."""
    possible = [row for row in found if row["methods"]["exact"][0] == "optimal"]
    told: dict[str, dict[str, Any]] = {}
    for rule in (name for name in found[0]["methods"] if name != "exact"):
        solved = [row for row in possible if len(row["methods"][rule]) > 1]
        pairs = [(row["methods"][rule], row["methods"]["exact"]) for row in solved]
        ratios = [
            float(value / least) if least else 1.0
            for (_, value, _), (_, least, _) in pairs
            if least or not value
        ]
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
    """Return a table with a line for each rule: those that admit most first, then those nearest the optimum."""
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
    return f"{ratio:.2f}" if ratio < _LARGE else f"{ratio:.1e}"


def _named(rule: str) -> str:
    name, comma, rest = rule.partition(",")
    return f"`{name}`{comma}{rest}"


def widest(found: list[dict[str, Any]]) -> str:
    """Say what KAI-Scheduler and the optimum evict on the case that a user reported."""
    row = next(row for row in found if row["group"] == "376 for 48")
    least, kai = row["methods"]["exact"][2], row["methods"]["kai"][2]
    return (
        "A user of KAI-Scheduler reports that work on 376 GPUs was restarted to make room for requests for 48 "
        "GPUs in total. On a made-up cluster with the same totals (`latest_is_widest`), `kai` evicts jobs on "
        f"{kai} GPUs to admit a request for {row['pending']}; evicting jobs on {least} GPUs is enough.\n"
    )


def programs() -> str:
    """Return what is known of each rule's agreement with the tests of its program."""
    text = ""
    for path in sorted(CASES.glob("*.json")):
        known = json.loads(path.read_text("utf-8"))
        left = "; ".join(known["not_expressible"])
        about = known["about"].replace("The cases", f"The {len(known['cases'])} cases", 1)
        text += f"\n### {path.stem}\n\n{about}\n\nTest cases about the following are left out: {left}.\n"
    return text


def page(found: list[dict[str, Any]], simulated: list[dict[str, Any]]) -> str:
    """Return the page."""
    text = HEAD
    for title, group in TABLES.items():
        text += f"\n## {title}\n\n" + table([row for row in found if row["group"].startswith(group)])
    text += "\n" + widest(found)
    return text + TIME + over_time(simulated) + TAIL + programs()


HEAD = (Path(__file__).parent / "preemption-head.md").read_text("utf-8")
TIME = (Path(__file__).parent / "preemption-time.md").read_text("utf-8")
TAIL = (Path(__file__).parent / "preemption-tail.md").read_text("utf-8")


def _keep(path: Path, found: list[dict[str, Any]]) -> None:
    path.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _keep(ROWS, rows(sys.argv[1]))
        _keep(RUNS, runs(sys.argv[2]))
    PAGE.write_text(page(json.loads(ROWS.read_text("utf-8")), json.loads(RUNS.read_text("utf-8"))))
