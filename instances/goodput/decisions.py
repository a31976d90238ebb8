"""Decisions: problems made from recorded decisions of Pollux's simulator, if the recording is available."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gsopt.core.problem import About
from gsopt.problems.goodput import Goodput, GoodputJob
from instances.records import compressed_lines, recorded_decisions
from instances.suites import renamed

#: The record: one decision per line, in JSON.
FILE = Path("baseline_oracles") / "pollux-decisions-12jobs-4nodes.jsonl.gz"

#: GPUs of each node in the record.
_GPUS = 4


def from_data(folder: Path) -> Iterator[Goodput]:
    """Yield the 45 decisions that Pollux's simulator made for 12 jobs on four nodes with four GPUs each.

    Without the recording there are no instances.
    """
    for number, problem in enumerate(recorded_decisions(folder / FILE, _problem), start=1):
        yield renamed(problem, f"real/pollux-{number:02}")


def records(folder: Path) -> list[Mapping[str, Any]]:
    """Return the data of each recorded decision, including the solution of the authors' search and its fitness.

    Without the recording, the list is empty.
    """
    return compressed_lines(folder / FILE)


def _problem(record: Mapping[str, Any]) -> Goodput:
    return Goodput(
        about=About(source="a decision of the simulator of Pollux (adaptdl, branch osdi21-artifact)"),
        nodes=[_GPUS] * record["N"],
        jobs=[
            GoodputJob(
                name=f"j{number}",
                speedups=_rows(job["s"]),
                current=current,
                age=job["age"],
                restarts=job["restarts"],
                max_gpus=job["max"],
            )
            for number, (job, current) in enumerate(zip(record["jobs"], record["base"], strict=True))
        ],
    )


def _rows(speedups: Mapping[str, float]) -> list[list[float]]:
    """Convert speed-ups by "nodes,GPUs" into a row for each number of nodes."""
    known = {tuple(int(part) for part in shape.split(",")): value for shape, value in speedups.items()}
    rows: list[list[float]] = []
    for nodes in range(1, max((shape[0] for shape in known), default=0) + 1):
        most = max((shape[1] for shape in known if shape[0] == nodes), default=nodes - 1)
        rows.append([known[nodes, gpus] for gpus in range(nodes, most + 1)])
    return rows
