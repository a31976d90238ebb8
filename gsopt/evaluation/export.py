"""Export: model files for instances, in formats that any solver can read."""

from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, Unsupported, escape, require_one_of
from gsopt.core.files import replacing
from gsopt.core.problem import Problem
from gsopt.evaluation import catalogue
from gsopt.solvers.backends import Highs
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Prefix of a comment line, by file extension.
_COMMENT = {".mps": "* ", ".lp": "\\ "}


def export_model(problem: Problem[Any], path: str | Path, method: str | None = None) -> StandardForm:
    r"""Write the integer program of a problem as an MPS or LP file, and return its arrays.

    The file extension determines the format. The program comes from the named formulation, or from the first
    one that can express the problem. It has the same objective as the problem, including the constant, unless
    the first line of the file states another objective. Columns and rows keep their names in the model if the
    format allows these names (see `gsopt.solvers.backends.Highs.write`). Indices in the names refer to
    positions in the instance. Comments in the first lines describe the file.
    """
    target = Path(path)
    if target.suffix not in _COMMENT:
        raise InvalidInput("", target.suffix or "no ending", "must end in .mps or .lp", source=str(path))
    chosen, form = _modelled(problem, method)
    head = _head(problem, chosen, form)
    with replacing(path) as beside:
        Highs().write(form, beside)
        comments = "".join(f"{_COMMENT[target.suffix]}{line}\n" for line in head)
        beside.write_text(comments + beside.read_text(encoding="utf-8"), encoding="utf-8")
    return form


def _modelled(problem: Problem[Any], method: str | None) -> tuple[Formulation[Problem[Any], Any], StandardForm]:
    """Return the named formulation, or the first one that can express the problem, and its model."""
    exact = catalogue.exact_methods(problem.word)
    known = {name: each for name, each in exact.items() if isinstance(each, Formulation)}
    if not known:
        raise Unsupported(f"{problem.word} has no integer program that could be written")
    if method is not None:
        require_one_of("method", method, known)
    reasons = []
    for name in [method] if method is not None else known:
        try:
            return known[name], known[name].standard_form(problem)
        except Unsupported as reason:
            reasons.append(f"{name}: {reason}")
    raise Unsupported("; ".join(reasons))


def _head(problem: Problem[Any], method: Formulation[Problem[Any], Any], form: StandardForm) -> tuple[str, ...]:
    """Return the comment lines that describe the file."""
    rows, columns = form.matrix.shape
    integers = int(form.integer.sum())
    return (
        f"{escape(problem.name or problem.word)}: {problem.sense.value} {method.own_unit or problem.unit}",
        f"{method.name} of {problem.word}: {rows} rows, {columns} columns, {integers} of them integer",
        f"numbers have 15 digits; the constant of the objective is {form.offset!r}",
    )
