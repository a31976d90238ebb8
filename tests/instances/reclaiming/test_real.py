"""Instances from the public traces."""

from pathlib import Path

from gsopt.core.files import write
from gsopt.problems.reader import read_problem
from instances.reclaiming import from_data


def test_a_folder_without_traces_gives_nothing(tmp_path: Path) -> None:
    """A trace that is not in the folder is passed over."""
    assert list(from_data(tmp_path)) == []


def test_instances_from_the_real_traces(traces: Path, tmp_path: Path) -> None:
    """There are twelve valid instances of busy clusters, under names of their own."""
    problems = list(from_data(traces))

    assert len({problem.name for problem in problems}) == 12
    for problem in problems:
        used, held = problem.used_gpus.total(), 8 * len(problem.servers)
        assert 0.5 <= used / held <= 1, problem.name
        assert problem.demand > 0
        write(problem, tmp_path / "a.json")
        assert read_problem(tmp_path / "a.json") == problem
