"""A matrix under construction."""

from math import inf

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formulations.scheduling.rows import Entry, SparseRows

#: Rows as lists of columns below 4 with whole coefficients.
ROWS = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3).map(float)), max_size=6), max_size=6)


@given(ROWS)
def test_a_row_is_what_its_entries_add_up_to(entries: list[list[Entry]]) -> None:
    """Each row has the sum of the coefficients given for each column, and 0 elsewhere."""
    rows = SparseRows()
    expected = np.zeros((len(entries), 4))
    for number, own in enumerate(entries):
        rows.add(str(number), iter(own))
        for column, value in own:
            expected[number, column] += value

    assert rows.matrix(4).shape == expected.shape
    assert (rows.matrix(4).toarray() == expected).all()


def test_a_row_has_its_name_and_its_limits() -> None:
    """Rows stand in the order in which they come, each free on the side for which no limit is given."""
    rows = SparseRows()
    rows.add("least", [(0, 1.0)], lower=2.0)
    rows.add("empty", [])
    rows.add("most", [(1, 1.0)], upper=3.0)
    rows.add("equal", [(1, -1.0)], 4.0, 4.0)

    assert rows.names == ["least", "empty", "most", "equal"]
    assert rows.lower == [2.0, -inf, -inf, 4.0]
    assert rows.upper == [inf, inf, 3.0, 4.0]
    assert rows.matrix(2).toarray().tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, -1.0]]


def test_two_matrices_share_nothing() -> None:
    """Rows added to one matrix are not in another."""
    one, other = SparseRows(), SparseRows()
    one.add("only", [(0, 1.0)])

    assert other.names == []
    assert other.matrix(1).shape == (0, 1)
