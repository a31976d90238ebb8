"""Decisions: problems made from recorded decisions of Sia's simulator, if the recording is available."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gsopt.core.numbers.tolerances import DISALLOWED
from gsopt.core.problem import About
from gsopt.problems.configuration import AdaptiveJob, Configuration, Shape
from instances.records import recorded_decisions
from instances.suites import renamed

#: The record: one decision per line, in JSON.
FILE = Path("baseline_oracles") / "sia-decisions-12jobs.jsonl.gz"


def from_data(folder: Path) -> Iterator[Configuration]:
    """Yield the 147 decisions that Sia's simulator made for 12 jobs on four nodes with four GPUs each.

    Without the recording there are no instances. Sia's program gives a forbidden configuration a goodput of
    1e-4; here, it has no goodput and cannot be chosen. Sia's program never chooses it either, because it would
    cost 100 or more, while the penalty for waiting is only 1.1.
    """
    for number, problem in enumerate(recorded_decisions(folder / FILE, _problem), start=1):
        yield renamed(problem, f"real/sia-{number:03}")


def _problem(record: Mapping[str, Any]) -> Configuration:
    listed = [Shape(type=kind, nodes=nodes, gpus=gpus) for kind, nodes, gpus in record["configs"]]
    kinds = dict.fromkeys(shape.type for shape in listed)
    rows = zip(record["jobs"], record["goodput"], record["factor"], record["prev"], strict=True)
    return Configuration(
        about=About(source="a decision of the simulator of Sia (siasosp23/artifacts)"),
        gpus=dict(zip(kinds, record["gpus"], strict=True)),
        configurations=listed,
        jobs=[
            AdaptiveJob(
                name=name,
                goodputs=[goodput if goodput > DISALLOWED else None for goodput in goodputs],
                current=current,
                restart_factor=factor,
                pinned=name in record["pinned"],
            )
            for name, goodputs, factor, current in rows
        ],
    )
