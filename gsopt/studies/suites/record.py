"""Record: the function that writes improved values, bounds and solutions to the files of instances."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from gsopt.core.files import require_folder, require_writable, write
from gsopt.core.problem import About, Number, Problem, Sense
from gsopt.core.result import Result, Status
from gsopt.evaluation import catalogue
from gsopt.problems.reader import read_problem
from gsopt.studies.suites.known import Known, Standing
from gsopt.studies.suites.verdict import Verdict, VerificationOutcome, is_better


def record(verdict: Verdict, folder: Path | None = None, *, today: date | None = None) -> list[Path]:
    """Write the improvement in a verdict to the instance's files, and return the paths of the files written.

    If the verdict is not an improvement, nothing is written. Otherwise, the solution that was found, if any, is
    stored unless it is worse than the stated value. Unless optimality or infeasibility was proven before, the
    value, bound, method and date are written to the instance file.

    Parameters
    ----------
    verdict
        Verdict on the instance.
    folder
        The folder of all instances; None for the folder of the committed instances.
    today
        The date to record; None for the current date.

    Raises
    ------
    InvalidInput
        A file cannot be written.

    Examples
    --------
    >>> from gsopt.studies.suites.verdict import examine
    >>> record(examine("reclaiming/aryl-figure-5", time_limit=10))
    []
    """
    if verdict.outcome is not VerificationOutcome.IMPROVED or verdict.result is None:
        return []
    within = folder or catalogue.instances_folder()
    file, kept = within / f"{verdict.instance}.json", within / "solutions" / f"{verdict.instance}.json"
    require_writable(file)
    problem = read_problem(file)
    written = []
    worse = is_better(problem, verdict.known.objective, verdict.result.objective)
    if verdict.result.solution is not None and not worse:
        require_folder(kept.parent)
        write(verdict.result.solution, kept)
        written.append(kept)
    if verdict.known.standing in (Standing.PROVEN, Standing.INFEASIBLE):
        return written
    write(improved(problem, verdict.known, verdict.result, today or datetime.now(UTC).date()), file)
    return [*written, file]


def improved(problem: Problem[Any], known: Known, result: Result[Any], day: date) -> Problem[Any]:
    """Return the instance with the improved value and bound, the method and the date in its `about`."""
    bounds = [bound for bound in (known.bound, result.bound) if bound is not None]
    values = [value for value in (known.objective, result.objective) if value is not None]
    proven = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    best, tightest = (min, max) if problem.sense is Sense.MINIMIZE else (max, min)
    about = (problem.about or About()).model_copy(
        update={
            "objective": _float(result.objective if proven else best(values, default=None)),
            "bound": _float(result.bound if proven else tightest(bounds, default=None)),
            "proved_by": _who(result) if proven else "",
            "found_by": "" if proven else _who(result),
            "since": day,
        }
    )
    return problem.model_copy(update={"about": about})


def _who(result: Result[Any]) -> str:
    return f"{result.method}, {result.solver}" if result.solver else result.method


def _float(value: Number | None) -> float | None:
    return None if value is None else float(value)
