"""Reader: functions that read problems, solutions and results from files."""

import json
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import parse_json, read_text, validated
from gsopt.core.problem import Frozen, Problem, S
from gsopt.core.result import Result


def read_problem(path: str | Path) -> Problem[Any]:
    """Read a problem from an instance file, whose field ``problem`` names the decision.

    A problem without a name is named after the file.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not JSON, or breaks a rule. The message fits on one line.

    Examples
    --------
    >>> read_problem("no/such/file.json")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/file.json: cannot be read: No such file or directory
    """
    text = read_text(path)
    data = parse_json(str(path), text)
    decisions = problem_types()
    word = data.get("problem")
    if not isinstance(word, str) or word not in decisions:
        rule = f"must be one of {', '.join(sorted(decisions))}"
        raise InvalidInput("problem", shorten(word), rule, source=str(path))
    problem = validated(decisions[word], str(path), text)
    return problem if problem.name else problem.model_copy(update={"name": Path(path).stem})


def read_solution(path: str | Path, problem: Problem[Any]) -> Frozen:
    """Read a solution to the given problem from a file.

    The file contains either just the solution or a result written by `gsopt.write` or ``gsopt solve --json``.

    Raises
    ------
    InvalidInput
        The file is invalid, as in `read_problem`, or it contains a result that has no solution.

    Examples
    --------
    >>> import gsopt
    >>> from tempfile import NamedTemporaryFile
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> with NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"servers": ["s1", "s2"]}')
    ...     file.flush()
    ...     read_solution(file.name, problem)
    ReclaimingSolution(servers=('s1', 's2'))
    """
    data = parse_json(str(path), read_text(path))
    if "solution" in data and "status" in data:
        data = data["solution"]
        if data is None:
            raise InvalidInput("solution", "null", "must be a solution; this result has none", source=str(path))
    return validated(problem.solution_type, str(path), json.dumps(data))


def read_result(path: str | Path, problem: Problem[S]) -> Result[S]:
    """Read a result written by `gsopt.write` or ``gsopt solve --json``, and verify it again.

    Raises
    ------
    InvalidInput
        The file is invalid, as in `read_problem`, or a field is missing, malformed, or inconsistent with the
        solution or with another field.
    InvalidSolution, Contradiction
        The solution breaks a rule of the problem, or its value is better than the bound.

    Examples
    --------
    >>> import gsopt
    >>> from tempfile import TemporaryDirectory
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> result = gsopt.solve(problem)
    >>> with TemporaryDirectory() as folder:
    ...     gsopt.write(result, f"{folder}/result.json")
    ...     gsopt.read_result(f"{folder}/result.json", problem) == result
    True
    """
    return Result.from_dict(problem, parse_json(str(path), read_text(path)), source=str(path))


def problem_types() -> dict[str, type[Problem[Any]]]:
    """Return the problem class of each decision, keyed by the decision's name."""
    from gsopt import problems

    types = (getattr(problems, name) for name in problems.__all__)
    return {kind.word: kind for kind in types}
