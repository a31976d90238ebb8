"""Tables of a page."""

from fractions import Fraction

import pytest

from gsopt.evaluation.tables import written
from gsopt.schedule.figures import FigureKind
from gsopt.studies.page.table import Entry, Head, number, table, text


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_table_counts_what_it_leaves_out(count: int) -> None:
    """No more lines are kept than there is room for, the first ones, and all are counted."""
    found = table([Head("name")], ([text(f"a{place}")] for place in range(count)), most=2)
    assert [line[0].text for line in found.lines] == ["a0", "a1"][:count]
    assert found.total == count


def test_numbers_are_written_as_in_other_tables() -> None:
    """An entry has the text of every other table, and the exact number beside it."""
    assert number(Fraction(1, 3), FigureKind.RATIO) == Entry(written(1 / 3, FigureKind.RATIO), 1 / 3)
    assert number(1234567.89, FigureKind.SECONDS) == Entry("1,234,568", 1234567.89)
    assert number(None, FigureKind.SHARE) == Entry("-")
