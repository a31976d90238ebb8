"""The cluster and the physics of a study's simulations."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.files import write
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.studies.settings import KEYS, setting_of
from tests.gsopt.simulation.scenarios import bundle


def test_everything_reaches_the_scenario() -> None:
    """Overheads, capacity changes and the number of GPUs are those of the scenario."""
    values = {
        "reader": "sia",
        "gpus": 8,
        "overheads": {"": {"start": 4, "resize": 2}},
        "capacity_changes": [{"time": 60, "gpus": 4}],
        "round_length": 30,
    }
    job = Job(name="a", release_date=0, duration=2, gpus=2)
    scenario = setting_of(values).scenario(bundle([job]))
    assert (scenario.cluster.gpus, scenario.overhead(job).start) == (8, 4.0)
    assert scenario.capacity_changes == (CapacityChange(time=60, gpus=4),)


def test_machines_come_and_go_as_a_study_says() -> None:
    """Events are those of the scenario; with nothing in a setting that a scenario has, nothing is left out."""
    values = {
        "cluster": Cluster.uniform(machines=2, gpus=4).model_dump(mode="json"),
        "events": [{"event": "leave", "time": 5, "servers": ["machine 0.1"]}],
    }
    scenario = setting_of(values).scenario(bundle([Job(name="a", release_date=0, duration=2, gpus=2)]))
    assert scenario.events == (Leave(time=5, servers=["machine 0.1"]),)
    assert set(Scenario.model_fields) - {"workload"} <= set(KEYS)


def test_a_cluster_file_is_read(tmp_path: Path) -> None:
    """A cluster given by file and the same cluster in the study are the same."""
    path = tmp_path / "cluster.json"
    write(Cluster.plain(12), path)
    inline = setting_of({"cluster": Cluster.plain(12).model_dump(mode="json")})
    assert setting_of({"cluster": str(path)}) == inline
    assert inline.machines.gpus == 12


def test_equal_racks_are_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks, machines and GPUs with an x between them are a cluster, unless a file has that name."""
    assert setting_of({"cluster": "3x2x4"}).cluster == Cluster.uniform(racks=3, machines=2, gpus=4)
    monkeypatch.chdir(tmp_path)
    write(Cluster.plain(12), "3x2x4")
    assert setting_of({"cluster": "3x2x4"}).machines.gpus == 12


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({}, "gpus: None: give either"),
        ({"cluster": {"racks": []}}, "cluster.plain_gpus: 0: must be a positive number"),
        ({"gpus": 0}, "gpus: 0"),
        ({"cluster": "4x8"}, "cluster: '4x8': must be racks, machines of each and GPUs of each"),
        ({"cluster": "0x8x8"}, "cluster: '0x8x8': must be racks, machines of each"),
        ({"cluster": "999999x999999x8"}, "cluster: 999999x999999x8: must have at most 1,000,000 GPUs in all"),
        ({"gpus": "8"}, "gpus: '8'"),
        ({"gpus": 8, "round_length": 0}, "round_length: 0"),
        ({"gpus": 8, "overheads": {"": {"begin": 1}}}, "overheads..begin: 1: is not a known key"),
        ({"gpus": 8, "round_length": 1e13}, "round_length: 10000000000000.0: input should be less"),
        ({"cluster": "no-such-file.json"}, "no-such-file.json: cannot be read"),
    ],
)
def test_bad_settings_are_one_line(values: dict[str, Any], line: str) -> None:
    """What breaks a rule is named."""
    with pytest.raises(InvalidInput) as refused:
        setting_of(values)
    assert str(refused.value).startswith(line)
