"""The decisions of the authors' simulator."""

import gzip
from math import isclose
from pathlib import Path

import pytest

from formulations.configuration import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from instances.configuration.decisions import FILE, from_data
from instances.records import compressed_lines

LINE = (
    '{"jobs": ["a"], "configs": [["aws", 1, 1], ["aws", 1, 2]], "gpus": [4], '
    '"goodput": [[1.0, 0.0001]], "factor": [0.5], "prev": [0], "pinned": ["a"]}'
)


def recorded(folder: Path, text: str) -> Path:
    """Write a record into a folder."""
    (folder / FILE).parent.mkdir()
    (folder / FILE).write_bytes(gzip.compress(text.encode()))
    return folder


def test_nothing_without_the_record(tmp_path: Path) -> None:
    """A folder without the record gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_a_line_is_a_decision(tmp_path: Path) -> None:
    """Jobs have their goodputs where they may run, factor and configuration, and some are pinned."""
    (problem,) = from_data(recorded(tmp_path, LINE))
    assert (problem.name, problem.gpus) == ("configuration/real/sia-001", {"aws": 4})
    (job,) = problem.jobs
    assert (job.goodputs, job.restart_factor, job.current, job.pinned) == ((1.0, None), 0.5, 0, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "line 1.*must be a decision of the simulator"),
        (LINE + "\n" + LINE.replace("0.5", "1.5"), r"line 2.*restart_factor"),
        (LINE.replace('"gpus": [4]', '"gpus": [4, 4]'), "line 1.*must be a decision of the simulator"),
        ("7", "line 1.*must be a decision of the simulator"),
    ],
)
def test_a_bad_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """What is no decision is named by its file and line."""
    with pytest.raises(InvalidInput, match=message):
        list(from_data(recorded(tmp_path, text)))


#: To how many units the authors' numbers of 24 bits are right.
NEAR = 1e-6


def test_the_authors_costs_and_optima_come_out(traces: Path) -> None:
    """Of 147 decisions all costs in allowed configurations are the recorded ones, and so are all optima.

    Those in configurations that are not allowed are far above the penalty.
    """
    known = compressed_lines(traces / FILE)
    for problem, record in zip(from_data(traces), known, strict=True):
        for job, costs, cells in zip(problem.jobs, problem.costs, record["cost"], strict=True):
            assert all(isclose(costs[place], cells[place], abs_tol=NEAR) for place in costs)
            refused = [cell for cell, goodput in zip(cells, job.goodputs, strict=True) if goodput is None]
            assert min(refused, default=100.0) >= 100.0
        result = exact(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert isclose(result.objective, record["objective"], abs_tol=NEAR)
    assert len(known) == 147
