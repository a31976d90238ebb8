"""``gsopt admit``, ``defragment`` and ``why`` on the command line."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.snapshots.kubernetes.nodes import LEVELS
from tests.commands import gsopt as command
from tests.commands import refused
from tests.gsopt.snapshots.objects import node, pod, write


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return files of four nodes: a gang on two of them, and a pod on each of the others."""
    nodes = [node(f"n{number}", labels={"rack": f"r{number // 2}"}) for number in range(4)]
    pods = [
        pod("a-0", "n0", 4, owner="Job/a"),
        pod("a-1", "n1", 4, owner="Job/a"),
        pod("b", "n2", 1, owner="ReplicaSet/b"),
        pod("c", "n3", 2, priority=100),
    ]
    return [write(tmp_path / "nodes.json", nodes), write(tmp_path / "pods.json", pods)]


def test_admit(files: list[Path]) -> None:
    """The commands are printed, then the jobs, the nodes, and at the end the cost and its proof."""
    run = command("admit", *files, "--gang", "2x8", "--within", "rack", "--level", "rack=rack")
    assert (run.returncode, run.stderr) == (Exit.SOLUTION, "")
    assert run.stdout == (
        "kubectl delete pod --namespace ml -- a-0 a-1\n"
        "\n"
        "evicted: ml/a (Job, 8 GPUs on 2 nodes)\n"
        "nodes: n[0-1]\n"
        "admit 2x8: 1 job evicted (proven: no choice costs less)\n"
    )


def test_admit_by_moves_as_json(files: list[Path]) -> None:
    """With moves a job gets other nodes, and a program gets all of it as JSON."""
    run = command("admit", *files, "--gang", "1x8", "--moves", "0.5", "--priority", "50", "--json")
    found = json.loads(run.stdout)
    assert (found["status"], found["objective"], found["evicted"]) == ("optimal", 0.5, [])
    ((moved,), places) = found["moved"], found["places"]
    assert moved["name"] in ("ml/a", "ml/b")
    (new,) = places
    assert new not in moved["to"]


def test_admit_without_a_change(files: list[Path]) -> None:
    """A gang that fits needs no command."""
    run = command("admit", *files, "--gang", "2x4")
    assert run.stdout.endswith("admit 2x4: possible without a change\n")


def test_no_way_is_an_exit_code_and_a_reason(files: list[Path]) -> None:
    """A gang that cannot be admitted is proven infeasible, with the need that is the obstacle."""
    run = command("admit", *files, "--gang", "3x8", "--within", "rack", "--level", "rack=rack")
    assert run.returncode == Exit.INFEASIBLE
    assert run.stdout == (
        "admit 3x8: no way was found: '3x8' needs 3 workers (8 gpu) within one rack, and at most 2 fit even if "
        "all that may stop does (proven)\n"
    )


def test_why(files: list[Path]) -> None:
    """The obstacle comes first, then a line for each kind of change, and last the mildest that helps."""
    run = command("why", *files, "--gang", "3x8", "--within", "rack", "--level", "rack=rack")
    assert run.returncode == Exit.INFEASIBLE
    assert run.stdout == (
        "3x8: does not fit: '3x8' needs 3 workers (8 gpu) within one rack, and at most 2 fit even if all "
        "that may stop does\n"
        "3x8: moving jobs: does not help\n"
        "3x8: evicting jobs of lower priority: does not help\n"
        "3x8: a wider level: does not help\n"
        "3x8: starting with fewer workers: does not help\n"
        "3x8: none of these changes helps (proven)\n"
    )
    lower = command("why", *files, "--gang", "2x8", "--priority", "50")
    assert lower.stdout == (
        "2x8: moving 1 job helps (proven: no fewer): ml/a\n"
        "2x8: evicting 1 job of lower priority helps (proven: no fewer): ml/a\n"
        "2x8: evicting 1 job of any priority helps (proven: no fewer): ml/a\n"
        "2x8: starting with fewer workers: does not help\n"
        "2x8: does not fit; the mildest change is moving 1 job\n"
    )


def test_why_as_json_and_where_it_fits(files: list[Path]) -> None:
    """A gang that fits ends with 0, and a program gets every change."""
    fits = command("why", *files, "--gang", "1x4")
    assert (fits.returncode, fits.stdout) == (Exit.SOLUTION, "1x4: fits as it is\n")
    found = json.loads(command("why", *files, "--gang", "2x8", "--json").stdout)
    assert [each["kind"] for each in found["changes"]] == ["nothing", "moves", "evictions", "workers"]
    assert not found["fits"]


def test_defragment(files: list[Path]) -> None:
    """Jobs are moved, not evicted, until a node is free."""
    run = command("defragment", *files, "--free", "1")
    assert run.returncode == Exit.SOLUTION
    assert "evicted" not in run.stdout
    assert run.stdout.endswith("free 1 node: 1 job moved (proven: no choice costs less)\n")
    assert command("defragment", *files, "--free", "4").returncode == Exit.INFEASIBLE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["admit", "--gang", "16by8"], "gang: '16by8': must be the name of a waiting gang"),
        (["admit", "--gang", "2x8", "--within", "row"], "within: 'row': must be one of"),
        (["why", "--gang", "2x8", "--slices", "2"], "slices: '2': must be a number of workers and a level"),
        (["admit", "--gang", "2x8", "--protect", "x"], "protect: 'x': must be the name of a running gang"),
    ],
)
def test_wrong_options_are_one_line(files: list[Path], options: list[str], message: str) -> None:
    """Whatever is wrong with an option is said in one line, with exit code 2."""
    assert message in refused(options[0], *files, *options[1:])


def test_the_page_names_the_labels_of_every_level() -> None:
    """The table of levels on the page is the table that the reader uses."""
    text = (Path(__file__).parents[3] / "docs" / "admission.md").read_text("utf-8")
    rows = [
        f"| `{level}` | {', '.join(f'`{label}`' for label in labels)} |" for level, labels in LEVELS.items()
    ]
    assert "\n".join(rows) in text


def test_free_nodes_count_if_all_their_gpus_are_free(files: list[Path]) -> None:
    """A node is free for fewer GPUs than it has, if that is what is asked for, and then nothing moves."""
    run = command("defragment", *files, "--free", "1", "--gpus", "4")
    assert run.stdout.endswith("free 1 node: possible without a change\n")
