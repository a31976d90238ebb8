"""Instances of studies, from entries to data, and the settings under which they are simulated."""

from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt.core.files import write
from gsopt.problems.reader import read_problem
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.studies.grid import points
from gsopt.studies.instance import StudyInstance, instances_of
from gsopt.studies.settings import KEYS, setting_of
from instances.reclaiming import churn
from instances.scenarios import aryl
from instances.workloads import poisson
from tests.gsopt.problems.test_reclaiming import figure_5
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.studies.samples import FIGURE_5
from tests.instances.traces.samples import PHILLY, sia_folder
from tests.refusals import assert_refused, refusal


def _instances(entry: str | dict[str, Any]) -> list[StudyInstance]:
    return [found for point in points(entry, "instance") for found in instances_of(point)]


def test_a_suite_is_one_group() -> None:
    """The instances of a suite are those that start with its name, and share a group."""
    found = _instances("reclaiming/small")
    assert [str(instance.name) for instance in found] == gsopt.names("reclaiming/small/")
    assert {str(instance.group) for instance in found} == {"reclaiming/small"}
    assert {instance.word for instance in found} == {"reclaiming"}


def test_named_and_generated_instances_are_loaded_again() -> None:
    """What is loaded is the instance itself."""
    (named,) = _instances(FIGURE_5)
    (made,) = _instances({"generator": "reclaiming/churn", "servers": 20, "demand": 4, "seed": 7})
    assert named.load() == gsopt.load(FIGURE_5)
    assert made.load() == churn(servers=20, demand=4, seed=7)


def test_groups_hold_the_seeds_but_not_the_parameters() -> None:
    """A list of seeds makes one group, a list of anything else makes several."""
    entry = {"workload": "poisson", "label": "P", "jobs": 5, "gpus": 8, "load": [0.5, 1.0], "seed": [1, 2]}
    found = _instances(entry)
    assert [str(instance.group) for instance in found] == ["P(load=0.5)"] * 2 + ["P(load=1.0)"] * 2
    assert len({str(instance.name) for instance in found}) == 4


def test_a_workload_keeps_its_cluster() -> None:
    """The number of GPUs is that of the cluster, and of the generator too."""
    (found,) = _instances({"workload": "poisson", "jobs": 50, "gpus": 8, "seed": 3, "round_length": 60})
    scenario, round_length = found.load()
    assert scenario.workload == poisson(jobs=50, gpus=8, seed=3)
    assert (scenario.cluster.gpus, round_length, found.word) == (8, 60.0, "")


def test_workload_files_and_instance_files(tmp_path: Path) -> None:
    """A definition changes with the content of the file that it names, and loads that content only."""
    workload, problem = tmp_path / "workload.json", tmp_path / "problem.json"
    write(poisson(jobs=4, gpus=8), workload)
    write(figure_5(2), problem)
    (before,) = _instances({"workload": str(workload), "gpus": 8})
    (first,) = _instances(str(problem))
    assert len(before.load()[0].workload.jobs) == 4
    assert first.load() == read_problem(problem)
    write(poisson(jobs=5, gpus=8), workload)
    write(figure_5(3), problem)
    assert _instances({"workload": str(workload), "gpus": 8})[0].definition != before.definition
    assert _instances(str(problem))[0].definition != first.definition
    assert_refused("was changed while the study ran", first.load)


def test_a_trace_is_read_from_a_path(tmp_path: Path) -> None:
    """A reader's path, window and options select the jobs; larger jobs than the cluster are left out."""
    path = tmp_path / "philly.csv"
    path.write_text(PHILLY)
    entry = {"reader": "philly", "path": str(path), "gpus": [8, 16], "window": "0d:2d"}
    counts = [len(found.load()[0].workload.jobs) for found in _instances(entry)]
    assert counts == [2, 3]


def test_a_scenario_is_made_whole() -> None:
    """The maker's options are the entry's, lists span groups, and decisions are taken at every event."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4, "support": ["basic", "ideal"]}
    found = _instances(entry)
    loaded = [each.load() for each in found]
    made = [aryl(days=1, servers=4, inference_servers=4, support=each) for each in ("basic", "ideal")]
    assert loaded == [(scenario, None) for scenario in made]
    assert len({str(each.group) for each in found}) == 2
    assert {each.word for each in found} == {""}


def test_a_scenario_takes_a_round_length() -> None:
    """Seconds between decisions are no option of the maker, and are checked as those of a setting."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4}
    (plain,), (rounds,) = _instances(entry), _instances({**entry, "round_length": 60})
    assert rounds.load() == (plain.load()[0], 60.0)
    assert "round_length" not in plain.definition
    assert_refused("round_length", _instances, {**entry, "round_length": 0})


def test_a_scenario_takes_real_data_when_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the path, or else of the environment; and it counts in the definition."""
    monkeypatch.setenv("GSOPT_DATA", str(tmp_path))
    for entry in ({"scenario": "aryl", "real": True}, {"scenario": "aryl", "path": str(tmp_path)}):
        (found,) = _instances(entry)
        assert found.definition != _instances({"scenario": "aryl"})[0].definition
        assert_refused("must be a file, or a folder with data", found.load)


def test_an_option_of_a_generator_may_have_the_name_of_another_key() -> None:
    """The workload of a filled cluster is an option of its generator, and is shown as such."""
    entry = {"generator": "admission/filled", "machines": 16, "workload": ["philly", "openb"]}
    found = _instances(entry)
    assert [each.options["workload"] for each in found] == ["philly", "openb"]
    assert ["filled, workload openb" in each.load().about.source for each in found] == [False, True]


def test_a_reader_learns_the_size_of_the_cluster(tmp_path: Path) -> None:
    """A reader whose menus depend on the number of GPUs gets that of the study's cluster, and no other."""
    entry = {"reader": "ares", "path": str(sia_folder(tmp_path)), "gpus": [2, 4]}
    small, large = (found.load()[0].workload.jobs for found in _instances(entry))
    assert [job.name for job in small] == [job.name for job in large][: len(small)]
    assert [max(max(job.counts) for job in jobs) for jobs in (small, large)] == [2, 4]


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({}, "must have one of the keys instance, generator, reader, workload, scenario"),
        ({"reader": "sia", "workload": "poisson"}, "must have one of the keys"),
        ({"instance": 3}, "instance: 3: must be a name"),
        ("reclaiming/no-such", "instance: 'reclaiming/no-such': is no file"),
        ("no-such-file.json", "no-such-file.json: cannot be read"),
        ({"instance": FIGURE_5, "seed": 1}, "seed: 1: is not an option of a file"),
        ({"generator": "reclaiming/magic"}, "generator: 'reclaiming/magic': must be one of reclaiming/churn"),
        ({"generator": "poisson"}, "generator: 'poisson': must be DECISION/NAME"),
        ({"generator": "scheming/magic"}, "decision: 'scheming': must be one of"),
        ({"generator": "reclaiming/churn", "workload": "red"}, "workload: 'red': is not an option of churn"),
        ({"generator": "reclaiming/churn", "colour": "red"}, "colour: 'red': is not an option of churn"),
        ({"generator": "reclaiming/churn", "servers": "many"}, "servers: 'many': input should be"),
        ({"reader": "magic", "gpus": 8}, "reader: 'magic': must be one of"),
        ({"reader": "sia", "gpus": 8}, "reader: 'sia': needs real data"),
        ({"reader": "sia", "path": "no/such/folder", "gpus": 8}, "path: 'no/such/folder': must be"),
        ({"reader": "sia", "path": ".", "gpus": 8, "window": "1w:2w"}, "window: '1w:2w': must be a begin"),
        ({"reader": "sia", "path": ".", "gpus": 8, "colour": 1}, "colour: 1: is not an option of sia"),
        ({"reader": "sia", "path": "."}, "gpus: None: give either"),
        ({"workload": "magic", "gpus": 8}, "workload: 'magic': must be a workload file, or one of"),
        ({"workload": "poisson", "gpus": 8, "jobs": 2.5}, "jobs: 2.5"),
        ({"workload": "no-such-file.json", "gpus": 8}, "no-such-file.json: cannot be read"),
        ({"scenario": "magic"}, "scenario: 'magic': must be one of aryl"),
        ({"scenario": "aryl", "days": "many"}, "days: 'many': input should be"),
        ({"scenario": "aryl", "gpus": 8}, "gpus: 8: is not an option of aryl"),
        ({"scenario": "aryl", "real": 1}, "real: 1: must be true or false"),
        ({"scenario": "aryl", "real": True}, "real: True: needs real data"),
        ({"scenario": "aryl", "path": "no/such/folder"}, "path: 'no/such/folder': must be"),
    ],
)
def test_bad_entries_are_one_line(
    entry: str | dict[str, Any], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever does not exist or is no option is named before anything is computed."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    assert refusal(_instances, entry).startswith(line)


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


def test_a_cluster_is_written_out_a_file_or_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks, machines and GPUs with an x between them are a cluster, unless a file has that name."""
    assert setting_of({"cluster": "3x2x4"}).cluster == Cluster.uniform(racks=3, machines=2, gpus=4)
    monkeypatch.chdir(tmp_path)
    write(Cluster.plain(12), "3x2x4")
    inline = setting_of({"cluster": Cluster.plain(12).model_dump(mode="json")})
    assert setting_of({"cluster": "3x2x4"}) == inline
    assert inline.machines.gpus == 12


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
    assert refusal(setting_of, values).startswith(line)
