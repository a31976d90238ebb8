"""``gsopt interference``: predictions of measured pairs from the command line."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from gsopt.performance.interference import PairTable, Profile, trees
from gsopt.studies.settings import setting_of
from tests.commands import gsopt, refused
from tests.gsopt.performance.interference.tables import EIGHT
from tests.instances.interference.samples import LIGHT, ODD, gavel_file


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Return a file of pairs."""
    write(EIGHT, tmp_path / "pairs.json")
    return tmp_path / "pairs.json"


def test_one_command_prints_errors_and_decisions(pairs: Path) -> None:
    """All predictors have a line, the trees say what matters, and no line is longer than a page."""
    run = gsopt("interference", pairs)
    assert (run.returncode, run.stderr) == (Exit.SOLUTION, "")
    lines = run.stdout.splitlines()
    assert lines[0] == "ruled: 36 pairs of 8 configurations; 5 splits by pair, seed 0"
    starts = [line.split()[0] for line in lines]
    for name in ("regression_tree", "boosted_trees", "nearest", "row_means", "overall_mean"):
        assert starts.count(name) == 1
    told = [line.split()[-1] for line in lines if line.startswith("what matters to")]
    assert told == ["boosted_trees", "regression_tree"]
    assert max(map(len, lines)) <= 80


def test_json_has_every_figure(pairs: Path) -> None:
    """Predictors come in the order in which they were named, with their options."""
    chosen = ["--predictor", "nearest:neighbours=2", "--predictor", "regression_tree:leaf=3"]
    run = gsopt("interference", pairs, *chosen, "--folds", "3", "--split", "configuration", "--json")
    first, second = json.loads(run.stdout)
    assert (first["predictor"], second["predictor"]) == ("nearest:neighbours=2", "regression_tree:leaf=3")
    assert first["importance"] == {}
    assert {*second["importance"]} == {"load", "partner's load"}
    assert first["decisions"]["cases"] == second["decisions"]["cases"] > 0


def test_a_table_is_filled_for_a_speed(tmp_path: Path) -> None:
    """What was not measured is predicted, and the file is the speed of a setting."""
    out = tmp_path / "speed.json"
    run = gsopt(
        "interference", gavel_file(tmp_path), "--reader", "gavel", "--predictor", "overall_mean", "-o", out
    )
    assert run.returncode == Exit.SOLUTION
    assert "5 pairs; 1 without speeds left out; 0 faster than alone read as 1" in run.stderr
    speed = setting_of({"gpus": 4, "speed": json.loads(out.read_text())}).speed
    assert speed.interference[LIGHT][ODD] == 1.0
    assert {len(row) for row in speed.interference.values()} == {3}


def test_what_has_no_features_is_predicted_without_them(tmp_path: Path) -> None:
    """Predictors that need features are left out, saying so; where none can predict it is one line."""
    profiles = [Profile(name=name, features={}) for name in "ab"]
    write(PairTable(profiles=profiles, slowdowns={"a": {"a": 1.0}, "b": {"b": 2.0}}), tmp_path / "a.json")
    run = gsopt("interference", tmp_path / "a.json")
    assert (run.returncode, run.stderr.count("\n"), "what matters" in run.stdout) == (Exit.SOLUTION, 3, False)
    assert "gsopt: nearest is left out: features: must have at least one to learn from\n" in run.stderr
    write(PairTable(profiles=profiles, slowdowns={}), tmp_path / "b.json")
    run = gsopt("interference", tmp_path / "b.json")
    assert (run.returncode, run.stdout) == (Exit.BAD_INPUT, "")
    assert run.stderr.endswith("must hold enough pairs to learn from some and hold out others\n")


def test_without_scikit_learn_the_others_go_on(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trees are left out, saying so; alone they are an error."""
    monkeypatch.setattr(trees, "find_spec", lambda _: None)
    run = gsopt("interference", pairs, "--json")
    assert [row["predictor"] for row in json.loads(run.stdout)] == ["nearest", "overall_mean", "row_means"]
    assert run.stderr.count("is left out") == run.stderr.count("needs scikit-learn") == 2
    refused("interference", pairs, "--predictor", "regression_tree")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.json"], "no.json: cannot be read"),
        (["{pairs}", "--reader", "philly"], "--reader: 'philly': must be one of gavel, lucid"),
        (["{pairs}", "--reader", "gavel:gpus=1"], "--reader gavel: gpus: 1: is not an option of gavel; there"),
        (["{pairs}", "--reader", "gavel"], "must be an object of throughputs"),
        (["{pairs}", "--predictor", "tree"], "--predictor: 'tree': must be one of boosted_trees"),
        (["{pairs}", "--predictor", "nearest:neighbours=0"], "neighbours: 0: must be at least 1"),
        (
            ["{pairs}", "--predictor", "nearest:far=1"],
            "--predictor nearest: far: 1: is not an option of nearest",
        ),
        (["{pairs}", "--folds", "1"], "--folds"),
        (["{pairs}", "--split", "job"], "--split"),
        (["{pairs}", "-o", "a.json"], "--output: 'a.json': needs one --predictor"),
        (["{pairs}", "-o", "no/such/a.json", "--predictor", "nearest"], "no/such/a.json: cannot be written"),
    ],
)
def test_bad_arguments_are_one_line(
    pairs: Path, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong gives one line and exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert message in refused("interference", *(each.format(pairs=pairs) for each in arguments))
