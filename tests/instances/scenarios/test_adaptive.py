"""Jobs of the workloads of Pollux and Sia."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.course import Course
from instances.scenarios.adaptive import ADAPTIVE, Menus, Order, orders
from instances.traces.applications import FOLDER, read_application
from tests.instances.traces.samples import adaptive_folder


def _menus(folder: Path, agents: Agents, model: str = "bert") -> Menus:
    application = read_application(adaptive_folder(folder) / FOLDER / "bert")
    return Menus({model: application}, agents, most_gpus=8)


def test_rows_are_orders(tmp_path: Path) -> None:
    """The rows of a workload are read in order, or the first of them."""
    folder = adaptive_folder(tmp_path)
    first, second = orders(folder, "pollux", 1, None)
    assert first == Order(name="bert-0", time=30.0, model="bert", gpus=2, batch_size=24)
    assert orders(folder, "philly", 1, 1) == [first]
    assert second.name == "bert-1"


@pytest.mark.parametrize("row", ["bert-2,x,bert,1,12", "bert-2,1,bert,one,12", "bert-2,1,bert,1"])
def test_bad_rows_are_refused(tmp_path: Path, row: str) -> None:
    """A row that cannot be used is one line: no job is passed over."""
    folder = adaptive_folder(tmp_path)
    path = folder / "pollux_osdi21" / "workloads" / "workload-1.csv"
    path.write_text(path.read_text() + row + "\n")
    with pytest.raises(InvalidInput, match=r"^workload-1.csv: row 4: "):
        orders(folder, "pollux", 1, None)


@pytest.mark.parametrize("agents", [Agents(), Agents(progress="samples")], ids=["statistical", "samples"])
def test_menus_are_what_can_be(tmp_path: Path, agents: Agents) -> None:
    """Duration and menus follow from the course of the training; its own batch is best where it is free."""
    job = _menus(tmp_path, agents).job(Order("a", 0.0, "bert", 2, 24), tunes=True)
    course = Course(read_application(tmp_path / FOLDER / "bert"), agents, 24)

    assert job.duration == course.seconds(2, 24)
    assert job.speed(2) == 1.0
    assert job.counts == (1, 2, 3, 4, 5, 6, 7)
    for gpus in job.counts:
        expected = course.highest_rate(gpus, 24) / course.highest_rate(2, 24)
        assert job.speed(gpus) == pytest.approx(expected, rel=SUM)
        assert job.speed(gpus, ADAPTIVE) >= job.speed(gpus) * (1 - SUM)
    assert job.modes[0].tunes


def test_a_demand_beyond_the_cluster_stays(tmp_path: Path) -> None:
    """A job that demands more GPUs than any job may have keeps its demand, which its other speeds refer to."""
    job = _menus(tmp_path, Agents()).job(Order("a", 0.0, "bert", 16, 96), tunes=False)
    assert job.counts[-2:] == (8, 16)
    assert job.modes == ()


def test_ncf_has_one_gpu(tmp_path: Path) -> None:
    """A job of NCF has one GPU and its batch in either mode."""
    job = _menus(tmp_path, Agents(), "ncf").job(Order("a", 0.0, "ncf", 1, 12), tunes=True)
    assert job.menu == ((1, 1.0),)
    assert (job.modes[0].menu, job.modes[0].tunes) == (((1, 1.0),), False)


def test_what_was_not_measured_is_refused(tmp_path: Path) -> None:
    """A demand on which the model was not measured is one line."""
    with pytest.raises(InvalidInput, match=r"^num_replicas of a: 40: must be a number on"):
        _menus(tmp_path, Agents()).job(Order("a", 0.0, "bert", 40, 96), tunes=True)
