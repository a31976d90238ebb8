"""Committed instances by name, instance files by path, and the folder of traces."""

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import instances
from gsopt.core.errors import InvalidInput
from gsopt.core.files import write
from gsopt.evaluation.catalogue import generators
from gsopt.problems.reader import problem_types
from instances import best_solution, data_folder, load, names
from instances.reclaiming import figure_5
from instances.suites import FOLDER
from tests.unwrap import unwrap

#: Every generator of every decision, by name.
GENERATORS = {
    f"{word}/{name}": made for word in sorted(problem_types()) for name, made in generators(word).items()
}

#: Decisions of which instances come from public data.
REAL = [word for word in sorted(problem_types()) if hasattr(import_module(f"instances.{word}"), "from_data")]


#: Every generator of workloads.
WORKLOADS = {f"workloads/{name}": made for name, made in generators("workloads").items()}


@pytest.mark.parametrize("name", names())
def test_every_committed_instance_loads(name: str) -> None:
    """Every committed file is a valid instance that carries its own name and its source."""
    problem = load(name)

    assert problem.name == name
    assert name.split("/", maxsplit=1)[0] == problem.word
    assert unwrap(problem.about).source


def test_names_are_sorted_and_start_with_the_prefix() -> None:
    """Names come in alphabetical order, and a prefix selects among them."""
    tiny = names("reclaiming/small/")

    assert names() == sorted(names())
    assert tiny == [name for name in names() if name.startswith("reclaiming/small/")]
    assert names("no such prefix") == []


def test_names_are_listed_without_reading_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken file is listed all the same, and loading it tells what is wrong."""
    (tmp_path / "reclaiming").mkdir()
    (tmp_path / "reclaiming" / "broken.json").write_text("{")
    monkeypatch.setattr(instances, "_HERE", tmp_path)

    assert names() == ["reclaiming/broken"]
    with pytest.raises(InvalidInput, match=r"broken\.json: line 1 column 2: must be JSON"):
        load("reclaiming/broken")


def test_solutions_are_no_instances() -> None:
    """The best known solutions stand among the instances, under the names of these, and are none."""
    assert [name for name in names() if name.startswith("solutions")] == []
    solution = unwrap(best_solution("reclaiming/aryl-figure-5"))
    assert load("reclaiming/aryl-figure-5").violations(solution) == []
    assert best_solution("allocation/small/cannot-start") is None


@pytest.mark.parametrize("name", ["a.json", "no-suffix"])
def test_a_file_loads_by_path(tmp_path: Path, name: str) -> None:
    """A file outside the suite loads by its path, given as text or as a path, whatever its suffix."""
    write(figure_5(), tmp_path / name)

    assert load(tmp_path / name) == figure_5()
    assert load(str(tmp_path / name)) == figure_5()


UNKNOWN = {
    "misspelt": ("reclaiming/aryl-figure-6", "; close: reclaiming/aryl-figure-5"),
    "without its decision": ("aryl-figure-5", "; close: reclaiming/aryl-figure-5"),
    "nothing like it": ("quux", "is no file and no committed instance"),
    "empty": ("", "is no file and no committed instance"),
    "out of the folder": ("../instances/reclaiming/aryl-figure-5", "is no file"),
    "by a path": ("./reclaiming/aryl-figure-5", "is no file and no committed instance"),
    "with two slashes": ("reclaiming//aryl-figure-5", "is no file and no committed instance"),
    "by way of another folder": (
        "scenarios/../reclaiming/aryl-figure-5",
        "is no file and no committed instance",
    ),
    "a solution": ("solutions/reclaiming/aryl-figure-5", "is no file and no committed instance"),
    "without its suffix": (str(FOLDER / "reclaiming/aryl-figure-5"), "is no file and no committed instance"),
    "with a null byte": ("reclaiming/aryl-figure-5\0", "is no file and no committed instance"),
    "longer than any file name": ("z" * 5000, "is no file and no committed instance"),
    "a folder": ("/", "is no file and no committed instance"),
    "a missing file": ("no/such.json", "cannot be read: No such file or directory"),
}


@pytest.mark.parametrize(("name", "words"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_an_unknown_name_is_one_line(name: str, words: str) -> None:
    """An instance has one name; any other text that is no file gives one line, with close names if any."""
    with pytest.raises(InvalidInput) as caught:
        load(name)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of traces is the one that GSOPT_DATA names, and None when there is none."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    assert data_folder() is None
    for value, expected in [("", None), (str(tmp_path / "missing"), None), (str(tmp_path), tmp_path)]:
        monkeypatch.setenv("GSOPT_DATA", value)
        assert data_folder() == expected


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_parameters_can_be_given_as_text(name: str) -> None:
    """Every parameter of a generator has a default, and an annotation by which its text can be read."""
    for parameter in signature(GENERATORS[name]).parameters.values():
        if parameter.default is not None:
            read = TypeAdapter(parameter.annotation).validate_python(str(parameter.default))
            assert read == parameter.default


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_instances_carry_a_name_and_a_source(name: str) -> None:
    """An instance made with defaults is of its decision and has name, source, and the seed if there is one."""
    seeded = "seed" in signature(GENERATORS[name]).parameters
    problem = GENERATORS[name](**({"seed": 7} if seeded else {}))

    assert problem.word == name.partition("/")[0]
    assert problem.name
    assert unwrap(problem.about).source
    assert unwrap(problem.about).seed == (7 if seeded else None)


@pytest.mark.parametrize("name", sorted(GENERATORS | WORKLOADS))
def test_the_seed_decides(name: str) -> None:
    """The same seed gives the same instance, and another seed another one."""
    generator = (GENERATORS | WORKLOADS)[name]
    seeded = "seed" in signature(generator).parameters
    options: list[dict[str, Any]] = [{"seed": 1}, {"seed": 2}] if seeded else [{}]
    made = [generator(**option) for option in options]

    assert made == [generator(**option) for option in options]
    data = [problem.model_dump_json(exclude={"name", "about", "source"}) for problem in made]
    assert len(set(data)) == len(options)


@pytest.mark.parametrize("word", REAL)
def test_without_data_there_are_no_real_instances(word: str, tmp_path: Path) -> None:
    """A folder without the traces or records gives no instances."""
    assert list(import_module(f"instances.{word}").from_data(tmp_path)) == []
