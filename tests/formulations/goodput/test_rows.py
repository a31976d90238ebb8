"""An integer program as it is written down."""

from formulations.goodput.rows import KeyedRows


def test_rows_keep_what_is_written_down() -> None:
    """Columns and rows have their names and limits, in order, and each entry its place."""
    rows = KeyedRows()
    rows.column(("a", 1), 2)
    rows.column(("b", 1, 2), 1)
    rows.add(("low", 0), ("b", 1, 2), 3.0, 1.0, 5.0)
    rows.add(("low", 0), ("a", 1), -1.0, 1.0, 5.0)
    form = rows.form()
    assert (form.columns, form.rows) == (("a[1]", "b[1,2]"), ("low[0]",))
    assert form.matrix.toarray().tolist() == [[-1.0, 3.0]]
    assert (form.column_upper.tolist(), form.row_lower.tolist(), form.row_upper.tolist()) == ([2, 1], [1], [5])
    assert form.integer.all()
