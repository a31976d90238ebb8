"""Results in files."""

import json
from pathlib import Path
from random import Random

import pytest

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


@pytest.mark.parametrize("word", problem_types())
def test_every_problem_comes_back(tmp_path: Path, word: str) -> None:
    """A problem of any decision, written and read, is equal to what it was."""
    for name in gsopt.names(f"{word}/")[:12]:
        problem = gsopt.load(name)
        gsopt.write(problem, tmp_path / "problem.json")
        assert read_problem(tmp_path / "problem.json") == problem


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
