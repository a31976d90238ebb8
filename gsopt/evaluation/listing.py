"""Listing: objects shown as tables in terminals, notebooks and papers, or converted to CSV or data frames."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from rich.console import RenderableType

from gsopt.core.errors import InvalidInput
from gsopt.core.files import quoted
from gsopt.evaluation.tables import Column, html_of, latex_of, markdown_of, on_paper, text_of

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R")


class Tabular(ABC):
    """Base class of objects with a table, such as comparisons, simulations, judgements and study results."""

    @abstractmethod
    def table(self) -> RenderableType:
        """Return a table for printing, if possible no wider than a page."""

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns of the table, which all have the same number of cells and no group headings."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return a record of every row, as plain JSON types with times in seconds."""

    def notes(self) -> list[str]:
        """Return the notes below the table."""
        return []

    def __str__(self) -> str:
        return text_of(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self.table())

    def to_markdown(self) -> str:
        """Return the table in Markdown, without its minor columns, whose names are listed below."""
        return markdown_of(*on_paper(self.columns(), self.notes()))

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular for the package booktabs, with the best values in bold.

        Minor columns are left out; a comment lists their names.
        """
        return latex_of(*on_paper(self.columns(), self.notes()))

    def to_csv(self) -> str:
        """Return the records of all rows as CSV with a header line, or an empty string if there are no rows."""
        records = self.records()
        names = list(dict.fromkeys(name for record in records for name in record))
        return csv_of(names, ([record.get(name) for name in names] for record in records)) if records else ""

    def to_frame(self) -> "pd.DataFrame":
        """Return the records of all rows as a pandas data frame.

        Raises
        ------
        InvalidInput
            pandas is not installed.
        """
        need("pandas", "to_frame")
        import pandas as pd

        return pd.DataFrame(self.records())


class Listing(Tabular, Sequence[R], Generic[R]):
    """A table that is also a sequence of its rows."""

    rows: tuple[R, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> R: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[R, ...]: ...

    def __getitem__(self, index: int | slice) -> R | tuple[R, ...]:
        return self.rows[index]

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)


def csv_of(names: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """Return lines of cells as CSV with a header line.

    A string that a spreadsheet would take for a formula gets an apostrophe in front. A value of None becomes an
    empty cell.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(quoted, line) for line in [names, *lines])
    return text.getvalue()


def need(package: str, what: str) -> None:
    """Raise `InvalidInput`, which says how to install a package, if the package is not installed."""
    if find_spec(package) is None:
        raise InvalidInput(what, "", f"needs {package}: pip install matplotlib pandas jinja2")
