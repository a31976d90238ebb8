"""What users write goes on working: names, methods, policies, commands, and the cells of old studies."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import gsopt
from gsopt import studies
from gsopt.cli.app import app
from gsopt.evaluation import catalogue
from gsopt.studies.spec import Study

#: What release 0.1.0 offered.
KEPT: dict[str, Any] = json.loads(Path(__file__).with_name("public.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", KEPT["names"])
def test_public_names_are_there(name: str) -> None:
    """Every public name of the package is found where it was."""
    assert name in gsopt.__all__
    assert getattr(gsopt, name) is not None


@pytest.mark.parametrize("name", [*KEPT["policies"], *KEPT["other policies"]])
def test_policies_are_found_by_their_paths(name: str) -> None:
    """Every policy is found as `heuristics.policies.<name>:<name>`, the usual ones by their names alone too."""
    policy = catalogue.find_policy(f"heuristics.policies.{name}:{name}")

    assert policy.__name__ == name
    assert (catalogue.policies().get(name) is policy) == (name in KEPT["policies"])
    assert (name in catalogue.policy_paths()) == (name in KEPT["other policies"])


@pytest.mark.parametrize("word", KEPT["methods"])
def test_methods_and_generators_are_found(word: str) -> None:
    """Every method and generator of a decision has its name, and is imported from the decision's package."""
    assert catalogue.methods(word).keys() >= set(KEPT["methods"][word])
    assert catalogue.generators(word).keys() >= set(KEPT["generators"][word])
    for name in KEPT["methods"][word]:
        assert any(
            hasattr(import_module(f"{package}.{word}"), name) for package in ("formulations", "heuristics")
        )


def test_readers_are_found() -> None:
    """Every reader and maker of scenarios and workloads has its name."""
    assert catalogue.trace_readers().keys() >= set(KEPT["readers"])
    assert catalogue.scenario_makers().keys() >= set(KEPT["scenarios"])
    assert catalogue.interference_readers().keys() >= set(KEPT["interference"])
    assert catalogue.generators("workloads").keys() >= set(KEPT["generators"]["workloads"])


def test_commands_are_there() -> None:
    """Every command has its name."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group
    assert commands.keys() >= set(KEPT["commands"])


def test_cells_of_studies_are_known_again() -> None:
    """A study that has begun finds its results: its cells have the keys by which they were stored."""
    assert [cell.key for cell in studies.cells_of(Study(**KEPT["study"]))] == KEPT["cells"]
