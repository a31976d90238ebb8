"""Listing: what prints as a table, in a notebook and on paper too, and becomes CSV or a data frame."""

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
    """What prints as a table: what comparisons, simulations, verdicts and the results of studies are."""

    @abstractmethod
    def table(self) -> RenderableType:
        """Return a table that fits a page."""

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns of the table, all with the same number of cells, without headings in between."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return every row in full, as plain JSON types; times are in seconds."""

    def notes(self) -> list[str]:
        """Return what stands below the table."""
        return []

    def __str__(self) -> str:
        return text_of(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self.table())

    def to_markdown(self) -> str:
        """Return the table in Markdown, without the columns for which a paper has no room."""
        return markdown_of(*on_paper(self.columns(), self.notes()))

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular for the package booktabs, with the best values in bold.

        Columns for which a paper has no room are left out; a comment names them.
        """
        return latex_of(*on_paper(self.columns(), self.notes()))

    def to_csv(self) -> str:
        """Return the rows in full as CSV, with a line of names; empty without rows."""
        records = self.records()
        names = list(dict.fromkeys(name for record in records for name in record))
        return csv_of(names, ([record.get(name) for name in names] for record in records)) if records else ""

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows in full as a pandas data frame.

        Raises
        ------
        InvalidInput
            pandas is not installed.
        """
        need("pandas", "to_frame")
        import pandas as pd

        return pd.DataFrame(self.records())


class Listing(Tabular, Sequence[R], Generic[R]):
    """A table that is a sequence of its rows, too."""

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
    """Return CSV with a line of names, which a spreadsheet runs no formulas of; None becomes an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(quoted, line) for line in [names, *lines])
    return text.getvalue()


def need(package: str, what: str) -> None:
    """Raise `InvalidInput` if a package is not installed; the message says how to install it."""
    if find_spec(package) is None:
        raise InvalidInput(what, "", f"needs {package}: pip install matplotlib pandas jinja2")
