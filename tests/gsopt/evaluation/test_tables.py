"""Tables as text and HTML."""

from rich.table import Table

from gsopt.evaluation.tables import Column, html_of, lay_out, text_of


def table() -> Table:
    """Return a table with a cell that HTML would take for a tag."""
    made = Table("name", "value")
    made.add_row("a<b", "1")
    return made


def test_text_has_no_colour_and_no_trailing_blanks() -> None:
    """The text form is plain: no escape sequences, no blanks at line ends."""
    lines = text_of(table()).splitlines()
    assert any("a<b" in line for line in lines)
    assert all(line == line.rstrip() and "\x1b" not in line for line in lines)


def test_html_is_the_text_escaped() -> None:
    """The notebook form shows the same text, with tags made harmless."""
    assert html_of(table()).startswith("<pre>")
    assert "a&lt;b" in html_of(table())


def test_no_text_turns_or_moves_a_terminal() -> None:
    """Marks of direction and control characters are shown by their number in cells, headings and notes."""
    bad = "a\u202eb\x1b[2J\x9b"
    shown = r"a\u202eb\x1b[2J\x9b"
    text = text_of(lay_out([Column("name", [bad], right=False)], headings={0: bad}, notes=[bad]))
    assert text.count(shown) == 3
    assert all(line.isprintable() for line in text.splitlines())
