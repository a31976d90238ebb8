"""Rows: the columns of a cell, of which no option hides another."""

from tests.gsopt.studies.samples import row


def test_options_hide_no_other_column() -> None:
    """An option with the name of another column is called by its role, and each value is kept."""
    cell = row({}, options={"method": 1, "rate": 2, "seed": 3}, instance_options={"rate": 4, "seed": 5}, seed=3)
    assert cell.columns == {
        "group": "suite",
        "instance": "suite/1",
        "method": str(cell.labels.method),
        "seed": 3,
        "method.method": 1,
        "rate": 2,
        "instance.rate": 4,
        "instance.seed": 5,
    }
