"""``gsopt cluster``: files of clusters from the command line."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats import read_cluster, write_cluster
from gsopt.scenario.job import Job, Workload
from tests.commands import gsopt, refused

_CONF = "SwitchName=core Switches=r[1-2] LinkSpeed=1\nSwitchName=r1 Nodes=n[1-2]\nSwitchName=r2 Nodes=n[3-4]\n"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """Return a file of Slurm."""
    path = tmp_path / "topology.conf"
    path.write_text(_CONF)
    return path


def test_show_convert_and_draw(conf: Path, tmp_path: Path) -> None:
    """The tree is printed, notes go to standard error, and the file and the picture are there."""
    out, picture = tmp_path / "a.graphml", tmp_path / "a.png"
    runs = tmp_path / "runs.csv"
    runs.write_text("job,start,end,gpus,placement\na,0,10,2,0 8\nb,10,20,1,3\n")
    shown = ["--draw", str(picture), "--schedule", str(runs), "--at", "5"]
    run = gsopt("cluster", conf, "--gpus", "8", "--out", out, *shown)
    assert run.returncode == Exit.SOLUTION
    assert "32 GPUs on 4 machines" in run.stdout
    assert "  rack r1: 16 GPUs\n    machine n[1-2]: 2 machines of 8 GPUs\n" in run.stdout
    assert run.stderr == f"{conf}: LinkSpeed: has no unit and is not read\n"
    assert read_cluster(out).gpus == 32
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_levels_and_formats(conf: Path, tmp_path: Path) -> None:
    """The cluster is printed as our JSON; levels are renamed, and what is lost in a format is noted."""
    out = tmp_path / "block.conf"
    given = ["--gpus", "8", "--levels", "leaf", "--format", "slurm-block", "--json"]
    run = gsopt("cluster", conf, "-o", out, *given)
    assert json.loads(run.stdout)["network"]["switches"][0]["level"] == "leaf"
    assert out.read_text().startswith("BlockName=r1 Nodes=n[1-2]")
    write_cluster(Cluster.uniform(racks=2, machines=1, gpus=8), tmp_path / "a.json")
    lossy = gsopt("cluster", tmp_path / "a.json", "--out", tmp_path / "a.conf")
    assert "a.conf: names with spaces or signs are written without: 'rack-0' and 3 more" in lossy.stderr


def test_simulations_take_any_format(conf: Path, tmp_path: Path) -> None:
    """A cluster file of a setting has any format; what it does not say is told beside it, and nothing else."""
    graph, trace = tmp_path / "a.graphml", tmp_path / "jobs.json"
    gsopt("cluster", conf, "--gpus", "8", "--out", graph)
    write(Workload(jobs=[Job(name="a", release_date=0, duration=10, gpus=32)]), trace)
    policy = ["--policy", "fifo", "--json"]
    for given, note in [
        (["--cluster", str(graph)], ""),
        (["--cluster", str(conf), "--gpus", "8"], f"{conf}: LinkSpeed: has no unit and is not read\n"),
    ]:
        run = gsopt("simulate", trace, *given, *policy)
        assert run.returncode == Exit.SOLUTION
        assert note in run.stderr
    missing = "topology.conf: gpus: 'n1': has no number of GPUs in the file: give gpus"
    for given, message in [
        (["--cluster", str(conf)], missing),
        (
            ["--cluster", str(graph), "--gpus", "8"],
            "a.graphml: gpus: 8: must not be given, as the file states it",
        ),
        (["--cluster", "2x2x2", "--gpus", "8"], "--gpus: 8: give either the number of GPUs or a cluster"),
    ]:
        assert message in refused("simulate", trace, *given, *policy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{conf}"], "topology.conf: gpus: 'n1': has no number of GPUs in the file"),
        (["no.conf"], "no.conf: cannot be read"),
        (["{conf}", "--gpus", "8", "--out", "no/such/a.json"], "cannot be written"),
        (["{conf}", "--gpus", "8", "--out", "{conf}.dot"], ".dot: must end in .json"),
        (["{conf}", "--gpus", "8", "--format", "graphml"], "--format: 'graphml': needs --output"),
        (["{conf}", "--gpus", "8", "--draw", "a.doc"], "a.doc: must end in .png, .svg, .pdf"),
        (["{conf}", "--gpus", "8", "--at", "3"], "--at: '3.0': needs --schedule"),
        (["{conf}", "--gpus", "8", "--schedule", "a.csv"], "--schedule: 'a.csv': needs --draw"),
        (["{conf}", "--gpus", "8", "--draw", "a.png", "--schedule", "{conf}"], "columns: job: must be one of"),
    ],
)
def test_bad_arguments_are_one_line(
    conf: Path, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong gives one line and exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert message in refused("cluster", *(each.format(conf=conf) for each in arguments))
