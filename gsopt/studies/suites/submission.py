"""Submission: a solution or certificate that someone found, checked and compared with what is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from importlib.metadata import version
from math import ulp
from pathlib import Path
from typing import Any

from gsopt.core.errors import Contradiction, InvalidInput, InvalidSolution, brief, require
from gsopt.core.files import parse_json, read_bytes, read_text
from gsopt.core.numbers.tolerances import ULPS
from gsopt.core.problem import Problem
from gsopt.core.result import Result, plain
from gsopt.evaluation import catalogue
from gsopt.problems.reader import read_solution
from gsopt.problems.scheduling import Scheduling
from gsopt.schedule.foreign import read_schedule
from gsopt.schedule.verify import verify
from gsopt.studies.suites.record import improved
from gsopt.studies.suites.verdict import VerificationOutcome, held_against_file


@dataclass(frozen=True)
class Submission:
    """The result of checking a submitted solution or certificate.

    Attributes
    ----------
    name
        Name of the instance, workload or trace.
    note
        One line that says what is improved, or that nothing is.
    entry
        The improved entry of the table of best known values, or None if nothing is improved.

    Examples
    --------
    >>> from instances import SOLUTIONS
    >>> name = "reclaiming/aryl-figure-5"
    >>> submit(name, SOLUTIONS / f"{name}.json", by="A. Person").entry is None
    True
    """

    name: str
    note: str
    entry: Mapping[str, Any] | None


def submit(
    name: str, file: str | Path, *, by: str, path: str | Path | None = None, today: date | None = None
) -> Submission:
    """Check a solution or certificate, and compare it with the best known value or bound.

    Solutions are checked by the judge, and certificates by `gsopt.verify`.

    Parameters
    ----------
    name
        A committed instance such as ``scheduling/challenge/j30-g32``, a workload such as
        ``scenarios/philly-1``, or a whole trace such as ``traces/crux``.
    file
        A solution of the instance, a schedule of the workload or trace, or a certificate for an instance of
        scheduling, a workload or a trace.
    by
        Who found it, and how.
    path
        For workloads and traces: the folder of all public traces, or the file of the trace needed. By default,
        the folder that ``GSOPT_DATA`` names.
    today
        The date of the entry; the current date if None.

    Raises
    ------
    InvalidInput
        There is no such instance, workload or trace, a file cannot be read or breaks a rule, or `by` is not one
        line of text.
    InvalidSolution
        The solution or schedule breaks a rule of its instance.
    Contradiction
        The value is better than the best known bound, or the bound forbids the best known value.

    Examples
    --------
    >>> from instances import SOLUTIONS
    >>> name = "reclaiming/aryl-figure-5"
    >>> submit(name, SOLUTIONS / f"{name}.json", by="A. Person").note
    'value 1 is not better than the best known value 1'
    """
    require(bool(by.strip()) and by.isprintable(), "by", by, "must say on one line who found it")
    text = read_bytes(file)
    facts = {"digest": sha256(text).hexdigest(), "version": version("gsopt")}
    day = today or datetime.now(UTC).date()
    group, _, own = name.partition("/")
    tables = catalogue.bracket_tables()
    try:
        if group in tables:
            return _of_scenario(name, tables[group], own, file, path, by=by, day=day, **facts)
        return _of_instance(catalogue.load(name), file, by, day, facts)
    except InvalidSolution as error:
        raise InvalidSolution(f"{brief(str(file))}: {error}") from None


def _of_instance(
    problem: Problem[Any], file: str | Path, by: str, day: date, facts: Mapping[str, str]
) -> Submission:
    if _is_certificate(file):
        if not isinstance(problem, Scheduling):
            rule = f"must be a solution of {problem.word}; certificates are for scheduling"
            raise InvalidInput("", "", rule, source=str(file))
        bound = verify(file, problem.scenario).mean_jct
        result: Result[Any] = Result.judged(problem, method=by, bound=bound, runtime=0.0)
    else:
        solution = read_solution(file, problem)
        result = Result.judged(problem, method=by, solution=solution, runtime=0.0)
    verdict = held_against_file(problem, result, has_solution=catalogue.best_solution(problem.name) is not None)
    if verdict.outcome is VerificationOutcome.CONTRADICTED:
        raise Contradiction(f"{problem.name}: {verdict.note}")
    if verdict.outcome is not VerificationOutcome.IMPROVED:
        known, found = verdict.known, result
        kind, value, best = (
            ("bound", found.bound, known.bound)
            if found.solution is None
            else ("value", found.objective, known.objective)
        )
        return Submission(problem.name, _no_better(kind, plain(value), plain(best)), None)
    about = improved(problem, verdict.known, result, day).about
    stored = {} if about is None else about.model_dump(mode="json", exclude_defaults=True)
    return Submission(problem.name, verdict.note, {"instance": problem.name, "about": stored, **facts})


def _of_scenario(
    name: str, table: Any, own: str, file: str | Path, path: str | Path | None, by: str, **facts: Any
) -> Submission:
    """Hold a schedule or certificate against the entry of a workload or trace in its table."""
    value, bound = table.bracket(own)
    scenario = table.scenario(own, path or catalogue.data_folder())
    if _is_certificate(file):
        proof = verify(file, scenario)
        rule = f"must be {'' if table.ROUND is None else f'{table.ROUND} or '}None"
        require(proof.round_length in {None, table.ROUND}, "round_length", proof.round_length, rule)
        found = proof.mean_jct
        _refuse_crossing(name, value, found)
        if not found > bound:
            return Submission(name, _no_better("bound", found, bound), None)
        return Submission(name, f"bound {bound} -> {found}", table.entry(own, by=by, bound=found, **facts))
    found = table.value_of(read_schedule(file), scenario)
    _refuse_crossing(name, found, bound)
    if not found < value - ULPS * ulp(value):
        return Submission(name, _no_better("value", found, value), None)
    return Submission(name, f"value {value} -> {found}", table.entry(own, by=by, value=found, **facts))


def _is_certificate(file: str | Path) -> bool:
    return Path(file).suffix.lower() == ".json" and "prices" in parse_json(str(file), read_text(file))


def _refuse_crossing(name: str, value: float, bound: float) -> None:
    if bound > value + ULPS * ulp(value):
        raise Contradiction(f"{name}: the value {value} is better than the bound {bound}")


def _no_better(kind: str, found: float | None, known: float | None) -> str:
    return f"{kind} {found} is not better than the best known {kind} {known}"
