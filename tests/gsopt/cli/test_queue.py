"""``gsopt queue``: the brackets of waiting jobs on the command line."""

import json
from pathlib import Path

import pytest

from tests.commands import gsopt

#: Release, running time, GPUs and estimate: two jobs run 3 s after the first release, and two wait.
_ROWS = [(100, 8, 3, 10), (100, 9, 1, 20), (101, 1, 4, 2), (102, 3, 2, 3), (200, 5, 4, 5)]


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Return a log of five jobs in Standard Workload Format."""
    lines = [
        f"{number} {release} -1 {run} {gpus} -1 -1 -1 {estimate} -1 1 1 1 1 1 1 -1 -1"
        for number, (release, run, gpus, estimate) in enumerate(_ROWS, start=1)
    ]
    file = tmp_path / "log.swf"
    file.write_text("\n".join(lines))
    return str(file)


def test_times_are_printed(log: str) -> None:
    """The table has each waiting job with its times, and the JSON has the same ones."""
    given = ("queue", log, "--reader", "swf", "--gpus", "4", "--at", "3")
    table = gsopt(*given).stdout.splitlines()
    assert [line.split() for line in table if line[:1].isdigit()] == [["3", "3", "20"], ["4", "3", "10"]]

    found = json.loads(gsopt(*given, "--json").stdout)
    assert found == {"3": {"earliest": 3, "latest": 20}, "4": {"earliest": 3, "latest": 10}}
    found = json.loads(gsopt(*given, "--factor", "2", "--policy", "easy_backfilling", "--json").stdout)
    assert found == {"3": {"earliest": 10, "latest": 20}, "4": {"earliest": 5, "latest": None}}


def test_an_empty_queue_is_said(log: str) -> None:
    """Nothing waits before the first job, or after all."""
    for time in ("0", "1h"):
        assert gsopt("queue", log, "--reader", "swf", "--gpus", "4", "--at", time).stdout == "no job waits\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [  # no time; a policy without reservations; an impossible factor
        (("--at", "noon"), "--at: 'noon': must be a time such as 18000 or 5h"),
        (("--at", "5", "--policy", "fifo"), "policy: fifo: must bracket waiting times"),
        (("--at", "5", "--factor", "0.5"), "factor: 0.5: must be a number of at least 1"),
    ],
)
def test_bad_input_ends_in_one_line(log: str, options: tuple[str, ...], message: str) -> None:
    """Bad input is named in one line."""
    result = gsopt("queue", log, "--reader", "swf", "--gpus", "4", *options)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_limit_ends_the_simulation(log: str) -> None:
    """Without time there is one line, and no bracket that is not certain."""
    found = gsopt("queue", log, "--reader", "swf", "--gpus", "4", "--at", "3", "--time-limit", "0")
    assert (found.returncode > 0, found.stdout, found.stderr.count("\n")) == (True, "", 1)
