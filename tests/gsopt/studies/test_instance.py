"""Instances of studies, from entries to data."""

from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.core.files import write
from gsopt.problems.reader import read_problem
from gsopt.studies.grid import points
from gsopt.studies.instance import StudyInstance, instances_of, load_problem, load_scenario
from instances.reclaiming import churn
from instances.scenarios import aryl
from instances.workloads import poisson
from tests.gsopt.problems.test_reclaiming import figure_5
from tests.gsopt.studies.samples import FIGURE_5
from tests.instances.traces.samples import PHILLY, sia_folder


def _instances(entry: str | dict[str, Any]) -> list[StudyInstance]:
    return [found for point in points(entry, "instance") for found in instances_of(point)]


def test_a_suite_is_one_group() -> None:
    """The instances of a suite are those that start with its name, and share a group."""
    found = _instances("reclaiming/small")
    assert [str(instance.name) for instance in found] == gsopt.names("reclaiming/small/")
    assert {str(instance.group) for instance in found} == {"reclaiming/small"}
    assert {instance.word for instance in found} == {"reclaiming"}


def test_named_and_generated_instances_are_loaded_again() -> None:
    """What a definition loads is the instance itself."""
    (named,) = _instances(FIGURE_5)
    (made,) = _instances({"generator": "reclaiming/churn", "servers": 20, "demand": 4, "seed": 7})
    assert load_problem(named.definition) == gsopt.load(FIGURE_5)
    assert load_problem(made.definition) == churn(servers=20, demand=4, seed=7)


def test_groups_hold_the_seeds_but_not_the_parameters() -> None:
    """A list of seeds makes one group, a list of anything else makes several."""
    entry = {"workload": "poisson", "label": "P", "jobs": 5, "gpus": 8, "load": [0.5, 1.0], "seed": [1, 2]}
    found = _instances(entry)
    assert [str(instance.group) for instance in found] == ["P(load=0.5)"] * 2 + ["P(load=1.0)"] * 2
    assert len({str(instance.name) for instance in found}) == 4


def test_a_workload_keeps_its_cluster() -> None:
    """The number of GPUs is that of the cluster, and of the generator too."""
    (found,) = _instances({"workload": "poisson", "jobs": 50, "gpus": 8, "seed": 3, "round_length": 60})
    scenario, round_length = load_scenario(found.definition)
    assert scenario.workload == poisson(jobs=50, gpus=8, seed=3)
    assert (scenario.cluster.gpus, round_length, found.word) == (8, 60.0, "")


def test_workload_files_and_instance_files(tmp_path: Path) -> None:
    """A definition changes with the content of the file that it names, and loads that content only."""
    workload, problem = tmp_path / "workload.json", tmp_path / "problem.json"
    write(poisson(jobs=4, gpus=8), workload)
    write(figure_5(2), problem)
    (before,) = _instances({"workload": str(workload), "gpus": 8})
    (first,) = _instances(str(problem))
    assert len(load_scenario(before.definition)[0].workload.jobs) == 4
    assert load_problem(first.definition) == read_problem(problem)
    write(poisson(jobs=5, gpus=8), workload)
    write(figure_5(3), problem)
    assert _instances({"workload": str(workload), "gpus": 8})[0].definition != before.definition
    assert _instances(str(problem))[0].definition != first.definition
    with pytest.raises(InvalidInput, match="was changed while the study ran"):
        load_problem(first.definition)


def test_a_trace_is_read_from_a_path(tmp_path: Path) -> None:
    """A reader's path, window and options select the jobs; larger jobs than the cluster are left out."""
    path = tmp_path / "philly.csv"
    path.write_text(PHILLY)
    entry = {"reader": "philly", "path": str(path), "gpus": [8, 16], "window": "0d:2d"}
    counts = [len(load_scenario(found.definition)[0].workload.jobs) for found in _instances(entry)]
    assert counts == [2, 3]


def test_a_scenario_is_made_whole() -> None:
    """The maker's options are the entry's, lists span groups, and decisions are taken at every event."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4, "support": ["basic", "ideal"]}
    found = _instances(entry)
    loaded = [load_scenario(each.definition) for each in found]
    made = [aryl(days=1, servers=4, inference_servers=4, support=each) for each in ("basic", "ideal")]
    assert loaded == [(scenario, None) for scenario in made]
    assert len({str(each.group) for each in found}) == 2
    assert {each.word for each in found} == {""}


def test_a_scenario_takes_a_round_length() -> None:
    """Seconds between decisions are no option of the maker, and are checked as those of a setting."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4}
    (plain,), (rounds,) = _instances(entry), _instances({**entry, "round_length": 60})
    assert load_scenario(rounds.definition) == (load_scenario(plain.definition)[0], 60.0)
    assert "round_length" not in plain.definition
    with pytest.raises(InvalidInput, match="round_length"):
        _instances({**entry, "round_length": 0})


def test_a_scenario_takes_real_data_when_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the path, or else of the environment; and it counts in the definition."""
    monkeypatch.setenv("GSOPT_DATA", str(tmp_path))
    for entry in ({"scenario": "aryl", "real": True}, {"scenario": "aryl", "path": str(tmp_path)}):
        (found,) = _instances(entry)
        assert found.definition != _instances({"scenario": "aryl"})[0].definition
        with pytest.raises(InvalidInput, match="must be a file, or a folder with data"):
            load_scenario(found.definition)


def test_a_reader_learns_the_size_of_the_cluster(tmp_path: Path) -> None:
    """A reader whose menus depend on the number of GPUs gets that of the study's cluster, and no other."""
    entry = {"reader": "ares", "path": str(sia_folder(tmp_path)), "gpus": [2, 4]}
    small, large = (load_scenario(found.definition)[0].workload.jobs for found in _instances(entry))
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
        ({"instance": FIGURE_5, "seed": 1}, "seed: 1: is no option of a file"),
        ({"generator": "reclaiming/magic"}, "generator: 'reclaiming/magic': must be one of reclaiming/churn"),
        ({"generator": "scheming/magic"}, "decision: 'scheming': must be one of"),
        ({"generator": "reclaiming/churn", "colour": "red"}, "colour: 'red': is no option of churn"),
        ({"generator": "reclaiming/churn", "servers": "many"}, "servers: 'many': input should be"),
        ({"reader": "magic", "gpus": 8}, "reader: 'magic': must be one of"),
        ({"reader": "sia", "gpus": 8}, "reader: 'sia': needs real data"),
        ({"reader": "sia", "path": "no/such/folder", "gpus": 8}, "path: 'no/such/folder': must be"),
        ({"reader": "sia", "path": ".", "gpus": 8, "window": "1w:2w"}, "window: '1w:2w': must be a begin"),
        ({"reader": "sia", "path": ".", "gpus": 8, "colour": 1}, "colour: 1: is no option of sia"),
        ({"reader": "sia", "path": "."}, "gpus: None: give either"),
        ({"workload": "magic", "gpus": 8}, "workload: 'magic': must be a workload file, or one of"),
        ({"workload": "poisson", "gpus": 8, "jobs": 2.5}, "jobs: 2.5"),
        ({"workload": "no-such-file.json", "gpus": 8}, "no-such-file.json: cannot be read"),
        ({"scenario": "magic"}, "scenario: 'magic': must be one of aryl"),
        ({"scenario": "aryl", "days": "many"}, "days: 'many': input should be"),
        ({"scenario": "aryl", "gpus": 8}, "gpus: 8: is no option of aryl"),
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
    with pytest.raises(InvalidInput) as refused:
        _instances(entry)
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)
