"""Tables: a rich table as plain text or for a notebook, the same in both."""

from html import escape
from io import StringIO

from rich.console import Console
from rich.table import Table

_WIDTH = 160


def text_of(table: Table, width: int = _WIDTH) -> str:
    """Give a table as text without colour, in lines of at most so many characters.

    Examples
    --------
    >>> print(text_of(Table("word", box=None)))
     word
    """
    text = StringIO()
    console = Console(file=text, width=width, no_color=True, force_jupyter=False, force_terminal=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")


def html_of(table: Table, width: int = _WIDTH) -> str:
    """Give a table as preformatted HTML, for notebooks.

    Examples
    --------
    >>> html_of(Table("a<b", box=None))
    '<pre> a&lt;b</pre>'
    """
    return f"<pre>{escape(text_of(table, width))}</pre>"
