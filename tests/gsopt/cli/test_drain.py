"""``gsopt drain`` and ``gsopt import``: clusters that run, on the command line."""

import json
from pathlib import Path

import pytest

import gsopt
from gsopt.cli.exits import Exit
from tests.commands import gsopt as command
from tests.commands import refused
from tests.gsopt.snapshots.objects import budget, node, pod, write


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return files of four nodes: a gang on two, a pod on each of the others, and one that waits."""
    nodes = [node(f"n{number}", labels={"pool": "loan" if number < 3 else "own"}) for number in range(4)]
    pods = [
        pod("a-0", "n0", 4, owner="Job/a"),
        pod("a-1", "n1", 4, owner="Job/a"),
        pod("b", "n2", 1, owner="ReplicaSet/b", labels={"app": "b"}),
        pod("c", "n3", 2, priority=100, labels={"app": "c"}),
        pod("d", "", 8),
        budget("b", 1, app="b"),
    ]
    return [write(tmp_path / "nodes.json", nodes), write(tmp_path / "pods.json", pods)]


def test_drain(files: list[Path]) -> None:
    """The commands are printed, then the nodes, what rules would have cost, and at the end cost and proof."""
    run = command("drain", "--servers", "2", *files)
    assert (run.returncode, run.stderr) == (Exit.SOLUTION, "")
    assert run.stdout == (
        "kubectl cordon -- n0\n"
        "kubectl cordon -- n1\n"
        "kubectl drain --ignore-daemonsets -- n0\n"
        "kubectl drain --ignore-daemonsets -- n1\n"
        "\n"
        "nodes: n[0-1]\n"
        "preempted: ml/a (Job, 8 GPUs on 2 nodes)\n"
        "least utilized first, one by one: 2 jobs lost\n"
        "fewest jobs first, one by one: 1 job lost\n"
        "return 2 of 4 nodes: 1 job lost (proven: no choice costs less)\n"
    )


def test_drain_as_json(files: list[Path]) -> None:
    """A control loop gets all of it as JSON, with an exit code."""
    options = ["--cost", "gpu-hours", "--now", "2026-01-01T03:00:00Z", "--among", "pool=loan", "--json"]
    run = command("drain", "--servers", "1", *files, *options)
    found = json.loads(run.stdout)
    assert run.returncode == Exit.SOLUTION
    assert (found["status"], found["servers"], found["objective"], found["gap"]) == ("optimal", ["n2"], 2, 0)
    assert found["rules"] == {"least utilized first": 2, "fewest jobs first": 16}
    assert (found["kept"], found["returnable"]) == ({}, 3)
    assert found["preempted"] == [{"name": "ml/b", "kind": "ReplicaSet", "gpus": 1.0, "nodes": ["n2"]}]


def test_more_nodes_than_there_are_and_none(files: list[Path], tmp_path: Path) -> None:
    """More nodes than may be returned are too many, which is said; to return none of none succeeds."""
    run = command("drain", "--servers", "4", *files, "--among", "pool=loan")
    assert run.returncode == Exit.INFEASIBLE
    assert run.stdout == "4 nodes cannot be returned: only 3 may be\n"
    run = command("drain", "--servers", "0", write(tmp_path / "a.json", [node("n1", 0)]))
    assert (run.returncode, run.stdout) == (Exit.SOLUTION, "return 0 of 0 nodes: nothing is lost\n")


def test_import_writes_what_other_commands_take(files: list[Path], tmp_path: Path) -> None:
    """The snapshot is shown and written, and its cluster and decisions are files that are solved."""
    out = {name: tmp_path / f"{name}.json" for name in ("output", "cluster", "reclaiming", "placement")}
    options = [text for name, path in out.items() for text in (f"--{name}", str(path))]
    run = command("import", "kubernetes", *files, *options, "--servers", "2")
    assert (run.returncode, run.stderr) == (Exit.SOLUTION, "")
    assert run.stdout == (
        "kubernetes at 2026-01-01T01:00:00Z\n"
        "nodes    4, 4 of them with GPUs\n"
        "GPUs     32: 32 of a type nobody tells\n"
        "network  machine, network\n"
        "running  3 jobs on 11 GPUs, 4 parts\n"
        "pending  1 job, 1 part\n"
        "kept     0 nodes that must not be returned\n"
    )
    assert gsopt.read_cluster(out["cluster"]).gpus == 32
    assert json.loads(command("solve", out["reclaiming"], "--json").stdout)["objective"] == 1
    assert command("solve", out["placement"], "--json").returncode == Exit.INFEASIBLE
    again = command("drain", "--servers", "2", out["output"])
    assert again == command("drain", "--servers", "2", *files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["drain", "--servers", "-1", "FILES"], "--servers"),
        (["drain", "--servers", "1", "FILES", "--cost", "money"], "cost: 'money': must be one of jobs,"),
        (["drain", "--servers", "1", "FILES", "--among", "x=y"], "among: 'x=y': must be a label"),
        (["drain", "--servers", "1", "FILES", "--now", "noon"], "--now: 'noon': must be a time such as"),
        (["drain", "--servers", "1", "FILES", "--level", "rack"], "--level: 'rack': must be a level and a"),
        (["drain", "--servers", "1", "FILES", "--source", "mesos"], "source: 'mesos': must be one of"),
        (["drain", "--servers", "1", "FILES", "FILES"], "must not be named twice"),
        (["drain", "--servers", "1", "FILES", "--time-limit", "-1"], "--time-limit': '-1': must be"),
        (["import", "nomad", "FILES"], "source: 'nomad': must be one of kubernetes, slurm"),
        (["import", "kubernetes", "FILES", "--servers", "1"], "--reclaiming: needs --servers"),
        (["import", "kubernetes", "PODS"], "pods.json: must have nodes beside pods"),
        (["import", "kubernetes", "absent.json"], "absent.json: cannot be read"),
    ],
)
def test_refused(arguments: list[str], message: str, files: list[Path]) -> None:
    """Whatever is wrong is one line and the exit code of bad input."""
    words = {"FILES": list(map(str, files)), "PODS": [str(files[1])]}
    assert message in refused(*(word for each in arguments for word in words.get(each, [each])))


def test_pack(files: list[Path], tmp_path: Path) -> None:
    """What waits is placed, or it is said what is missing, with an exit code that says which."""
    run = command("pack", *files)
    assert run.returncode == Exit.INFEASIBLE
    assert run.stdout == (
        "missing: ml/d needs 8 GPUs on a node, and none has more than 7 GPUs free\n"
        "1 node more, like n0 and empty, would hold all of these\n"
        "0 of 1 job can be placed (proven: not all)\n"
    )
    more = write(tmp_path / "more.json", [node("n4")])
    run = command("pack", *files, more)
    assert (run.returncode, run.stdout) == (
        Exit.SOLUTION,
        "  ml/d: n4\nnodes in use: 5\n1 of 1 job can be placed\n",
    )
    found = json.loads(command("pack", *files, more, "--json").stdout)
    assert (found["fits"], found["spots"]) == (True, [{"gang": "ml/d", "part": "d", "node": "n4", "number": 1}])
