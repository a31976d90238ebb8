"""Tables: a rich table as plain text or for a notebook, the same in both."""

from html import escape
from io import StringIO
from math import floor, log10

from rich.console import Console
from rich.table import Table

_WIDTH = 160

#: Share from which one decimal of a per cent shows it, and the most decimals before powers of ten are shorter.
_LEAST_SHOWN, _MOST_DECIMALS = 0.0005, 6


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


def percent(share: float) -> str:
    """Show a share in per cent with one decimal, or as many as it takes to see that it is not 0.

    Examples
    --------
    >>> percent(0.1234), percent(0.0), percent(2.75e-7), percent(4e-16)
    ('12.3 %', '0.0 %', '0.00003 %', '4e-14 %')
    """
    if share == 0 or abs(share) >= _LEAST_SHOWN:
        return f"{100 * share:.1f} %"
    decimals = -floor(log10(abs(100 * share)))
    return f"{100 * share:.{decimals}f} %" if decimals <= _MOST_DECIMALS else f"{100 * share:.0e} %"
