"""Arrays, column by column and row by row."""

from fractions import Fraction
from math import inf

from formulations.consolidation.program import NamedProgram


def test_empty_programs_have_a_form() -> None:
    """Without columns and rows there is a form with a constant."""
    form = NamedProgram().form(offset=3)
    assert (form.columns, form.rows, form.objective([])) == ((), (), 3.0)


def test_entries_stand_where_they_were_put() -> None:
    """Costs are kept exactly, limits and entries by name."""
    program = NamedProgram()
    program.column("x", cost=Fraction(1, 3), upper=2)
    program.column("y")
    program.row("less", [("x", 2), ("y", 1)], upper=4)
    program.row("more", [("y", 1)], lower=1)
    form = program.form()
    assert list(program.costs.values()) == [Fraction(1, 3), 0]
    assert form.matrix.toarray().tolist() == [[2, 1], [0, 1]]
    assert (form.row_lower.tolist(), form.row_upper.tolist()) == ([-inf, 1], [4, inf])
    assert form.column_upper.tolist() == [2, inf]
    assert form.integer.all()
