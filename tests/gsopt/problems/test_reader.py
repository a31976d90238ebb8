"""Problems and results in files, and solutions that no decision allows."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import gsopt
from gsopt.core.errors import GsoptError, InvalidInput, InvalidSolution
from gsopt.problems.reader import problem_types, read_problem
from tests.commands import gsopt as command
from tests.effort import cases
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.mark.parametrize("word", problem_types())
def test_every_decision_comes_back(tmp_path: Path, word: str) -> None:
    """A result of any decision, written and read, is equal to what it was."""
    problem = gsopt.load(gsopt.names(f"{word}/small/")[0])
    result = gsopt.solve(problem)
    gsopt.write(result, tmp_path / "result.json")
    assert gsopt.read_result(tmp_path / "result.json", problem) == result


_JOB = figure_5(2).jobs[0].model_copy(update={"training_servers": 3})

#: Fields that no instance sets, by decision.
_UNSET: dict[str, dict[str, Any]] = {
    "colocation": {"default_interference": 1.5},
    "goodput": {"floor": 0.5},
    "reclaiming": {"servers": figure_5(2).servers, "jobs": (_JOB,), "demand": 1},
}


def _fields(item: Any, package: str) -> Iterator[tuple[type, str, bool]]:
    """Yield the fields of the models of a package in a problem, and whether they are set."""
    if isinstance(item, BaseModel):
        known = type(item).model_fields if type(item).__module__.startswith(package) else {}
        for name, field in known.items():
            unset = not field.is_required() and getattr(item, name) == field.get_default(
                call_default_factory=True
            )
            yield type(item), name, not unset
    parts = item.__dict__ if isinstance(item, BaseModel) else item if isinstance(item, Mapping) else {}
    for part in item if isinstance(item, tuple) else parts.values():
        yield from _fields(part, package)


@pytest.mark.parametrize("word", problem_types())
def test_every_problem_comes_back(tmp_path: Path, word: str) -> None:
    """Every problem, written and read, is equal to what it was, and every field is set in some."""
    seen: dict[tuple[type, str], bool] = {}
    problems = [gsopt.load(name) for name in gsopt.names(f"{word}/")]
    for problem in [*problems, problems[0].model_copy(update=_UNSET.get(word, {}))]:
        gsopt.write(problem, tmp_path / "problem.json")
        again = read_problem(tmp_path / "problem.json")
        assert again == problem
        for kind, name, is_set in _fields(again, "gsopt.problems"):
            seen[kind, name] = seen.get((kind, name), name == "problem") or is_set
    assert all(seen.values()), [field for field, is_set in seen.items() if not is_set]


def _mutants(item: Any) -> Iterator[Any]:
    """Change one part of a solution to what is wrong in any: a name, a number, an item more or less."""
    if isinstance(item, dict):
        for key, part in item.items():
            yield {name: value for name, value in item.items() if name != key} | {"ghost": part}
            yield from ({**item, key: each} for each in _mutants(part) if key != "start" or each < 0)
    elif isinstance(item, list):
        for place, part in enumerate(item):
            yield [*item[:place], *item[place + 1 :]]
            yield [*item, part]
            yield from ([*item[:place], each, *item[place + 1 :]] for each in _mutants(part))
    else:
        yield from ["ghost"] if isinstance(item, str) else [item + 10**6, -1 - item]


@pytest.mark.parametrize("word", problem_types())
def test_mutations_of_every_decision_are_caught(word: str) -> None:
    """Whatever is wrong in a mutated optimum of any decision, its type or the judge refuses it.

    Where workers may stay unplaced, a mutant without some of them is right, but no better.
    """
    caught = 0
    for problem in map(gsopt.load, gsopt.names(f"{word}/small/")[:20]):
        if (solution := gsopt.solve(problem).solution) is None:
            continue
        assert problem.violations(solution) == []
        for mutant in _mutants(solution.model_dump(mode="json")):
            try:
                wrong = problem.solution_type.model_validate_json(json.dumps(mutant))
            except ValidationError:
                continue
            if getattr(problem, "minimize", "") == "unallocated" and not problem.violations(wrong):
                assert problem.objective(wrong) >= problem.objective(solution)
                continue
            assert problem.violations(wrong) != [], (problem.name, mutant)
            caught += 1
    assert caught > 50


def test_what_the_command_prints_is_read(tmp_path: Path) -> None:
    """The output of ``gsopt solve --json`` is a result's file."""
    path = tmp_path / "result.json"
    path.write_text(command("solve", "reclaiming/aryl-figure-5", "--json").stdout)
    assert gsopt.read_result(path, gsopt.load("reclaiming/aryl-figure-5")).objective == 1


def test_errors_name_the_file(tmp_path: Path) -> None:
    """Whatever is wrong in a result's file is one line that begins with its name."""
    path = tmp_path / "result.json"
    good = gsopt.solve(figure_5(2)).as_dict()
    for change, error in (
        ({"bound": "1"}, InvalidInput),
        ({"level": "sure"}, InvalidInput),
        ({"solution": {"servers": ["s1", "s1"]}}, InvalidSolution),
        ({"solution": {"servers": [["s1"]]}}, InvalidInput),
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(error, match=f"^{path}"):
            gsopt.read_result(path, figure_5(2))
    for text in ("[" * 100_000, '{"a": ' * 100_000, '{"bound": NaN}', "", "[]", '{"status": "optimal"}'):
        path.write_text(text)
        with pytest.raises(InvalidInput, match=f"^{path}"):
            gsopt.read_result(path, figure_5(2))


def test_damaged_files_are_one_line_each(tmp_path: Path) -> None:
    """A file with bytes lost, doubled or changed reads as the same result, or is refused in one line."""
    refused: list[str]
    path, random, refused = tmp_path / "result.json", Random(16), []
    gsopt.write(gsopt.solve(figure_5(2)), path)
    good = path.read_bytes()
    for _ in range(cases(1000)):
        at, much = random.randrange(len(good)), random.randrange(1, 12)
        junk = random.choice(
            (b"", good[at : at + 2 * much], random.randbytes(much), b"9" * much, b"null", b"-")
        )
        path.write_bytes(good[:at] + junk + good[at + much :])
        try:
            assert gsopt.read_result(path, figure_5(2)).objective in (1, 2)
        except GsoptError as error:
            refused.append(str(error))
    assert refused
    assert not [line for line in refused if "\n" in line]
