"""Write the tables of the page of systems that come from studies, from the results of the studies.

``gsopt study run docs/studies/all.json --out all``, the same for ``adaptive`` and ``ares-demands``, then
``python docs/_static/systems.py all adaptive ares-demands``. The rows of a study that is not given stay as they
are; without folders, the tables are written from the stored rows.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from page_tables import replaced

from gsopt import studies

DOCS = Path(__file__).parents[1]

#: Where the rows are kept, keyed by study file and then by workload, and the page that shows them.
ROWS, PAGE = DOCS / "_static" / "systems.json", DOCS / "systems.md"

#: Figures that are kept for each policy, in this order.
KEPT = (
    "mean_jct",
    "p99_jct",
    "makespan",
    "worst_fairness",
    "unfair_fraction",
    "gps_worst_fairness",
    "gps_unfair_fraction",
    "preemptions",
    "resizes",
)

#: Names of the studies' files.
ALL, ADAPTIVE, DEMANDS = "all", "adaptive", "ares-demands"

#: The studies' files, keyed by the names of the studies.
STUDIES = {
    studies.read_study(DOCS / "studies" / f"{file}.json").study: file for file in (ALL, ADAPTIVE, DEMANDS)
}

#: Workloads of the page, in the order of the tables.
TRACES = ("Pollux", "Philly", "Helios", "newTrace")

POLLUX, SIA, EFQ = "Pollux, exact", "Sia", "Ares (EFQ)"
KNOWN, OTHERS = "marginal, course known", ("marginal, epochs known", "marginal attained")

#: Policies of the study of jobs that tune themselves, and their names in the study of all policies.
SHARED = {KNOWN: "marginal", "marginal attained": "marginal attained", POLLUX: POLLUX}

#: Settings of the simulations, and how the page calls them.
SETTINGS = {"published": "published", "Ares": "Ares'"}

#: Policies that Ares is compared with, by the row of the table that sums them up.
BEHIND = {
    "the ports of Gavel (max-min), Themis and AlloX": ("Gavel, max-min, port", "Themis, port", "AlloX, port"),
    "the port of Gavel, sum of throughputs": ("Gavel, sum, port",),
    "Optimus": ("Optimus",),
    "Lucid": ("Lucid",),
    "Tiresias with our defaults": ("Tiresias",),
    "Tiresias with the options of Pollux' authors": ("Tiresias, as in Pollux",),
}

#: The rows of a study, keyed by workload.
Rows = Mapping[str, Mapping[str, Any]]


def rows(folder: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the name of the study's file, and a row for each workload, with the figures of each policy."""
    found: dict[str, dict[str, Any]] = {}
    results = studies.results(folder)
    for row in results:
        figures, labels = row.figures, row.labels
        if figures.get("mean_jct") is not None:
            new = {
                "group": str(labels.group),
                "jobs": figures["jobs"],
                "lower_bound": figures["lower_bound"],
                "policies": {},
            }
            entry = found.setdefault(workload(labels), new)
            entry["policies"][labels.method.base] = [_short(figures[key]) for key in KEPT]
    return STUDIES[results.study], found


def workload(labels: Any) -> str:
    """Return the name of a cell's workload."""
    return f"{labels.group} {labels.instance_options.get('number', 1)}"


def _short(figure: float) -> float:
    """Return a figure with eight digits at most."""
    return figure if isinstance(figure, int) else float(f"{figure:.8g}")


def of(row: Mapping[str, Any], policy: str, figure: str = "mean_jct") -> float:
    """Return a figure of a policy on a workload."""
    found: float = row["policies"][policy][KEPT.index(figure)]
    return found


def groups(found: Rows) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of each group of workloads."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in found.values():
        grouped.setdefault(row["group"], []).append(row)
    return grouped


def completed(kept: Mapping[str, Rows]) -> Rows:
    """Return the rows of all policies, with missing cells from the same cells of jobs that tune themselves."""
    found = {name: {**row, "policies": {**row["policies"]}} for name, row in kept[ALL].items()}
    for name, policy, figures in shared(kept):
        if name in found:
            found[name]["policies"].setdefault(policy, figures)
    return found


def shared(kept: Mapping[str, Rows]) -> Iterator[tuple[str, str, list[float | None]]]:
    """Yield the cells of jobs that tune themselves by their names in the study of all policies."""
    for name, row in kept[ADAPTIVE].items():
        trace, number = name.split()
        for own, policy in SHARED.items():
            if own in row["policies"]:
                yield (
                    f"{trace}{'' if trace == TRACES[0] else ', published'} {number}",
                    policy,
                    row["policies"][own],
                )


def by_workload(found: Rows) -> str:
    """Return the table of jobs that tune themselves, one line per workload."""
    head = ["workload", "proven bound", POLLUX, "course known", "difference", "gap", "epochs known", "attained"]
    lines = []
    for name, row in _sorted(found).items():
        best, bound, theirs = of(row, KNOWN), row["lower_bound"], of(row, POLLUX)
        ratios = [_percent(best / theirs), _percent(best / bound)]
        times = [f"{of(row, policy):,.0f}" for policy in OTHERS]
        lines.append([name, f"{bound:,.0f}", f"{theirs:,.0f}", f"{best:,.0f}", *ratios, *times])
    return _table(head, lines)


def by_policy(found: Rows) -> str:
    """Return the table of means over the workloads of jobs that tune themselves, one line per policy."""
    lines = []
    for name in next(iter(found.values()))["policies"]:
        ratios = [
            geometric_mean(of(row, name, key) / of(row, POLLUX, key) for row in found.values())
            for key in ("mean_jct", "p99_jct")
        ]
        unfair, stops = (
            mean(of(row, name, key) for row in found.values()) for key in ("worst_fairness", "preemptions")
        )
        lines.append([name, *(f"{ratio:.3f}" for ratio in ratios), f"{unfair:.2f}", f"{stops:.0f}"])
    return _table(["policy", "mean JCT", "99th percentile", "worst fairness", "preemptions"], lines)


def by_group(found: Rows) -> str:
    """Return the table of all policies: geometric means, relative to the best policy on each workload."""
    grouped = groups(found)
    head = ["policy", *(f"{_label(group)} ({len(members)})" for group, members in grouped.items())]
    lines = []
    for policy in _ranked(found):
        line = [policy]
        for members in grouped.values():
            complete = all(policy in row["policies"] for row in members)
            line.append(f"{_relative(members, policy):.2f}" if complete else "-")
        lines.append(line)
    return _table(head, lines)


def on_pollux(found: Rows) -> str:
    """Return the table of further figures on the workloads of Pollux, one line per policy."""
    members = groups(found)["Pollux"]
    ranked = _ranked(found)
    lines = []
    for policy in ranked:
        gap = mean(of(row, policy) / row["lower_bound"] for row in members)
        tail = geometric_mean(of(row, policy, "p99_jct") / of(row, ranked[0], "p99_jct") for row in members)
        unfair = mean(of(row, policy, "worst_fairness") for row in members)
        stops = mean(of(row, policy, "preemptions") / row["jobs"] for row in members)
        sizes = [of(row, policy, "resizes") for row in members]
        resized = (
            "-"
            if None in sizes
            else f"{mean(size / row['jobs'] for size, row in zip(sizes, members, strict=True)):.1f}"
        )
        lines.append([policy, _percent(gap), f"{tail:.2f}", f"{unfair:.1f}", f"{stops:.2f}", resized])
    return _table(["policy", "gap", "p99 JCT", "worst fairness", "preemptions", "resizes"], lines)


def best_gaps(found: Rows) -> str:
    """Return the table of the gap of the best policy on each workload, as a range for each group."""
    lines = []
    for group, members in groups(found).items():
        least = [min(row["policies"], key=lambda policy: of(row, policy)) for row in members]
        ratios = [of(row, policy) / row["lower_bound"] for row, policy in zip(members, least, strict=True)]
        lines.append([_label(group), _range(ratios), ", ".join(dict.fromkeys(least))])
    return _table(["workloads", "gap", "best policy"], lines)


def behind_pollux(found: Rows) -> str:
    """Return by how much the mean job completion time is longer under Ares than under Pollux and Sia."""
    lines = []
    for setting, shown in SETTINGS.items():
        for policy in (POLLUX, SIA):
            ratios = [_ratio(found, found, f"{trace}, {setting}", policy) for trace in TRACES[1:]]
            lines.append([f"{policy}, {shown} setting", *(_percent(ratio) for ratio in ratios)])
    return _table(["the mean JCT is longer under EFQ than under", *TRACES[1:]], lines)


def with_demands(found: Rows, smaller: Rows) -> str:
    """Return the mean job completion times under Ares relative to Pollux and Sia, by demands."""
    columns = [f"{trace}, {setting}" for trace in TRACES[1:] for setting in SETTINGS]
    lines = []
    for policy in (POLLUX, SIA):
        for number, demands in enumerate((f"{policy}; demands of the traces", "halved", "halved twice")):
            ours = smaller if number else found
            ends = f"(halvings={number})" if number else ""
            ratios = [_ratio(ours, found, column, policy, column + ends) for column in columns]
            lines.append([demands, *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)])
    return _table(["EFQ's mean JCT relative to", *columns], lines)


def ahead_of_others(found: Rows) -> str:
    """Return by how much the mean job completion time is shorter under Ares than under rigid policies."""
    lines = []
    for label, policies in BEHIND.items():
        line = [label]
        for traces in (TRACES[1:3], TRACES[3:]):
            names = [f"{trace}, {setting}" for trace in traces for setting in SETTINGS]
            ratios = [_ratio(found, found, name, policy) for name in names for policy in policies]
            line.append(_range(ratios, -1))
        lines.append(line)
    return _table(["the mean JCT is shorter under EFQ than under", "Philly and Helios", "newTrace"], lines)


def tables(kept: Mapping[str, Rows]) -> list[str]:
    """Return all tables."""
    found = completed(kept)
    return [
        by_group(found),
        on_pollux(found),
        best_gaps(found),
        by_workload(kept[ADAPTIVE]),
        by_policy(kept[ADAPTIVE]),
        behind_pollux(found),
        with_demands(found, kept[DEMANDS]),
        ahead_of_others(found),
    ]


def _label(group: str) -> str:
    """Return the label of a group without its options."""
    return group.partition("(")[0]


def _sorted(found: Rows) -> Rows:
    return dict(sorted(found.items(), key=lambda item: (TRACES.index(item[0].split()[0]), item[0])))


def _ranked(found: Rows) -> list[str]:
    """Return the policies, by their mean job completion times on the workloads of Pollux."""
    members = groups(found)["Pollux"]
    policies = [
        policy for policy in members[0]["policies"] if all(policy in row["policies"] for row in members)
    ]
    return sorted(policies, key=lambda policy: _relative(members, policy))


def _relative(members: Iterable[Mapping[str, Any]], policy: str) -> float:
    """Return the geometric mean of a policy's mean job completion times relative to the best policy's."""
    return geometric_mean(of(row, policy) / min(of(row, each) for each in row["policies"]) for row in members)


def _ratio(ours: Rows, theirs: Rows, group: str, policy: str, own: str | None = None) -> float | None:
    """Return the geometric mean of the times under Ares over those under a policy, if all are known."""
    pairs = list(zip(groups(ours).get(own or group, ()), groups(theirs).get(group, ()), strict=False))
    if not pairs or any(EFQ not in one["policies"] or policy not in other["policies"] for one, other in pairs):
        return None
    return geometric_mean(of(one, EFQ) / of(other, policy) for one, other in pairs)


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * (ratio - 1):.0f} %"


def _range(ratios: Iterable[float | None], sign: int = 1) -> str:
    """Return the range of the distances from 1, above it or, with `sign` -1, below it."""
    distances: set[int] = set()
    for ratio in ratios:
        if ratio is None:
            return "-"
        distances.add(round(100 * sign * (ratio - 1)))
    percents = sorted(distances)
    return " to ".join(map(str, percents[:: max(1, len(percents) - 1)])) + " %"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    text = f"| {' | '.join(head)} |\n|:--{'|--:' * (len(head) - 1)}|\n"
    return text + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def written(kept: Mapping[str, Rows]) -> str:
    """Return the stored form of the rows, with a line for each workload."""
    parts = []
    for name, found in kept.items():
        lines = ",\n".join(f"{json.dumps(workload)}: {json.dumps(row)}" for workload, row in found.items())
        parts.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    kept = json.loads(ROWS.read_text("utf-8")) | dict(map(rows, sys.argv[1:]))
    ROWS.write_text(written(kept))
    text = PAGE.read_text("utf-8")
    for table in tables(kept):
        text = replaced(text, table)
    PAGE.write_text(text)
