"""The decisions of the authors' simulator."""

import gzip
from math import isclose
from pathlib import Path

import pytest

from formulations.goodput import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.problems.goodput import GoodputSolution
from instances.goodput.decisions import FILE, from_data, records

JOB = '{"max": 2, "restarts": 1, "age": 67.0, "s": {"1,1": 0.5, "2,2": 0.75}}'
LINE = f'{{"N": 2, "base": [[0, 1]], "jobs": [{JOB}]}}'


def recorded(folder: Path, text: str) -> Path:
    """Write a record into a folder."""
    (folder / FILE).parent.mkdir()
    (folder / FILE).write_bytes(gzip.compress(text.encode()))
    return folder


def test_nothing_without_the_record(tmp_path: Path) -> None:
    """A folder without the record gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_a_line_is_a_decision(tmp_path: Path) -> None:
    """Nodes have four GPUs, and jobs what they have, their age, restarts, limit and speed-ups."""
    (problem,) = from_data(recorded(tmp_path, LINE + "\n"))
    assert (problem.name, problem.nodes) == ("goodput/real/pollux-01", (4, 4))
    (job,) = problem.jobs
    assert (job.current, job.age, job.restarts, job.max_gpus) == ((0, 1), 67.0, 1, 2)
    assert [job.speedup(*shape) for shape in ((1, 1), (2, 2), (1, 2))] == [0.5, 0.75, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be lines of JSON"),
        ("{}", "line 1.*must be a decision of the simulator"),
        (LINE + "\n" + LINE.replace("67.0", "-1"), r"line 2.*jobs\[0\].age|line 2.*age"),
        (LINE.replace("1,1", "1;1"), "line 1.*must be a decision of the simulator"),
        (LINE.replace('"1,1": 0.5', '"1,2": 0.5'), "line 1.*must be a decision of the simulator"),
        ("7", "line 1.*must be a decision of the simulator"),
    ],
)
def test_a_bad_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """What is no decision is named by its file and line."""
    with pytest.raises(InvalidInput, match=message):
        list(from_data(recorded(tmp_path, text)))


def test_a_file_that_is_not_compressed_is_refused(tmp_path: Path) -> None:
    """A file of another format is named."""
    path = recorded(tmp_path, "")
    (path / FILE).write_text(LINE)
    with pytest.raises(InvalidInput, match="compressed by gzip"):
        list(from_data(path))


def test_the_authors_decisions_are_decided_no_worse(traces: Path) -> None:
    """On 45 decisions the fitness of the search is the recorded one, and the proven one is never below it."""
    known, better = records(traces), 0
    for problem, record in zip(from_data(traces), known, strict=True):
        searched = GoodputSolution(gpus={f"j{k}": gpus for k, gpus in enumerate(record["state"])})
        assert problem.violations(searched) == []
        assert isclose(problem.measures(searched)["fitness"], record["ga"], rel_tol=1e-12)
        result = exact(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert result.objective <= problem.objective(searched) + problem.resolution(result.objective)
        better += isclose(problem.objective(searched), result.objective, rel_tol=1e-6)
    assert (len(known), better) == (45, 45)
