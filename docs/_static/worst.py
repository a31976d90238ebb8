"""Write the table of worst cases from the results of a study.

``gsopt study run docs/studies/worst.json --out FOLDER``, then ``python docs/_static/worst.py FOLDER``.
"""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from gsopt import studies
from gsopt.evaluation import catalogue
from gsopt.evaluation.ratio import Worst
from gsopt.studies.rows import CellState

DOCS = Path(__file__).parents[1]

#: Where the rows are kept; the page and the tests read them.
ROWS, PAGE = DOCS / "_static" / "worst.json", DOCS / "worst.md"


def rows(folder: str) -> list[dict[str, Any]]:
    """Return the findings of each method on each space."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in studies.results(folder):
        found.setdefault((str(row.labels.group), str(row.labels.method)), []).append(row)
    told = []
    for (space, method), cells in found.items():
        done = [cell for cell in cells if cell.outcome.state is CellState.DONE]
        total = sum((Worst.from_dict(cell.figures) for cell in done), Worst())
        if total.ratio is None:  # the method solves none of these instances
            continue
        name = space.partition("(")[0]
        told.append(
            {
                "space": name,
                "arguments": dict(done[0].labels.instance_options),
                "method": method,
                **({"options": dict(options)} if (options := done[0].labels.method.shown) else {}),
                "instances": total.instances,
                "ratio": str(total.ratio),
                "pick": None if total.pick is None else str(total.pick),
                "unbounded": None if total.unbounded is None else str(total.unbounded),
                "unsolved": total.unsolved,
                "complete": len(done) == len(cells) and not total.unproven,
            }
        )
    return told


def page(found: list[dict[str, Any]]) -> str:
    """Return the page, with a line for each method and space."""
    tables: dict[str, list[str]] = {}
    for row in sorted(found, key=lambda row: (row["space"], -Fraction(row["ratio"]), row["method"])):
        line = f"| `{row['method']}` | {ratio(row)} | {row['instances']:,} | {told(row)} |"
        tables.setdefault(row["space"], []).append(line)
    text = HEAD
    for space, rows_of_space in tables.items():
        arguments = next(row["arguments"] for row in found if row["space"] == space)
        about = catalogue.spaces()[space](**arguments).about
        text += f"\n## {space}\n\nInstances with {about}.\n\n"
        text += "| method | worst ratio | instances | |\n|---|---|---|---|\n" + "\n".join(rows_of_space) + "\n"
    return text


def ratio(row: dict[str, Any]) -> str:
    """Return the ratio as a decimal."""
    return f"{float(Fraction(row['ratio'])):.4g}"


def told(row: dict[str, Any]) -> str:
    """Say what else is known of a row."""
    found = [] if row["complete"] else ["not all instances were tried"]
    if row["unbounded"]:
        found.append("unbounded elsewhere: value or optimum is 0")
    if row["unsolved"]:
        found.append(f"no solution on {row['unsolved']:,} instances")
    return "; ".join(found)


HEAD = (Path(__file__).parent / "worst-head.md").read_text("utf-8")

if __name__ == "__main__":
    table = rows(sys.argv[1])
    ROWS.write_text("[\n" + ",\n".join(json.dumps(row) for row in table) + "\n]\n")
    PAGE.write_text(page(table))
