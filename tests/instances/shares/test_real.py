"""Instances of measured throughputs."""

from pathlib import Path

from formulations.shares import exact
from gsopt.core.result import Status
from instances.interference.gavel import FILE
from instances.shares.real import from_data, measured

ROWS = '{"(\'LM (batch size 5)\', 1)": {"null": 9.5, "x": [1, 2]}, "(\'LM (batch size 5)\', 4)": {"null": 20}}'
TABLE = (
    f'{{"v100": {ROWS}, "k80": {{"(\'LM (batch size 5)\', 1)": {{"null": 0}}}}, "v100_unconsolidated": {ROWS}}}'
)


def test_nothing_without_the_data(tmp_path: Path) -> None:
    """A folder without Gavel's table gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_jobs_have_the_gpus_of_their_configurations(tmp_path: Path) -> None:
    """Each criterion is an instance of 160 jobs, of one or four GPUs."""
    path = tmp_path / FILE
    path.parent.mkdir()
    path.write_text(TABLE)
    problems = list(from_data(tmp_path))
    assert len(problems) == len({problem.criterion for problem in problems}) == 4
    assert {job.gpus for job in problems[0].jobs} == {1, 4}


def test_measured_instances_are_proven(traces: Path) -> None:
    """With the data at hand, 160 jobs on 64 GPUs are proven, whatever counts."""
    for problem in from_data(traces):
        assert sum(problem.gpus.values()) == 64
        assert exact(problem).status is Status.OPTIMAL, problem.name


def test_a_seed_is_an_instance() -> None:
    """The same seed gives the same jobs, another one others."""
    rates = {"('LM (batch size 5)', 2)": {"v100": 7.5, "k80": 1.0}}
    assert measured(rates, criterion="fifo", seed=1) == measured(rates, criterion="fifo", seed=1)
    assert measured(rates, criterion="fifo", seed=1).jobs != measured(rates, criterion="fifo", seed=2).jobs
