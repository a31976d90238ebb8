"""Tiny problems of consolidation, and forms of models to be compared."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from formulations.consolidation.model import GroupModel
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.consolidation import Consolidation
from gsopt.solvers.standard_form import StandardForm
from tests.exactness import consolidation


def tiny(seed: int) -> Consolidation:
    """Draw a few machines, on racks or in a deeper tree, up to five jobs and any of the objectives."""
    return consolidation.draw(Random(f"tiny {seed}"))


def committed(name: str = "small") -> list[Consolidation]:
    """Load the committed instances below a place."""
    found = [load(each) for each in names(f"consolidation/{name}")]
    return [problem for problem in found if isinstance(problem, Consolidation)]


def check_builders(model: GroupModel, problem: Consolidation) -> None:
    """Check that the arrays filled directly are those of the Pyomo model."""
    own, compiled = model.standard_form(problem), StandardForm.from_pyomo(model.build(problem))
    assert sorted(own.columns) == sorted(compiled.columns)
    assert own.sense is compiled.sense
    assert own.offset == compiled.offset
    assert own.integer.all()
    assert compiled.integer.all()
    assert _rows(own) == _rows(compiled)
    for part in (_costs, _upper):
        assert part(own) == pytest.approx(part(compiled), rel=1e-14)


def _costs(form: StandardForm) -> dict[str, float]:
    return dict(zip(form.columns, form.cost.tolist(), strict=True))


def _upper(form: StandardForm) -> dict[str, float]:
    return dict(zip(form.columns, form.column_upper.tolist(), strict=True))


def _rows(form: StandardForm) -> dict[str, tuple[float, float, dict[str, float]]]:
    """Return the limits and entries of every row; rows without entries say nothing."""
    matrix = form.matrix.tocsr()
    found = {}
    for row, name in enumerate(form.rows):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        entries = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
        found[name] = (
            float(form.row_lower[row]),
            float(form.row_upper[row]),
            {form.columns[column]: entry for column, entry in entries if entry},
        )
    return {name: row for name, row in found.items() if row[2]}


def seeds(
    count: int, kept: Callable[[Consolidation], bool] = lambda problem: bool(problem.jobs)
) -> Sequence[Consolidation]:
    """Draw so many tiny problems that are kept."""
    found: list[Consolidation] = []
    seed = 0
    while len(found) < count:
        problem = tiny(seed)
        seed += 1
        if kept(problem):
            found.append(problem)
    return found
