"""History: a record of how value and bound converge during a run, shown as a table, data frame or plot."""

from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from gsopt.core.drawing import COLOURS, titled
from gsopt.core.problem import Number
from gsopt.core.progress import KnownBracket
from gsopt.evaluation.listing import Listing, need
from gsopt.evaluation.tables import Column, lay_out, percent, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The time axis is logarithmic if half of the changes happen before this fraction of the running time.
_EARLY = 0.05


class History(Listing[KnownBracket]):
    """A record of when the value or the bound improved during a run, and when the run ended.

    Pass a history to an exact method as `on_progress`.

    Attributes
    ----------
    rows
        The best value and bound known at each change and at the end of the run, with the time in seconds.

    Examples
    --------
    >>> import gsopt
    >>> history = gsopt.History()
    >>> result = gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), on_progress=history)
    >>> history[-1].value, history[-1].bound, history[-1].gap
    (1, 1, 0.0)
    """

    def __init__(self) -> None:
        self.rows: tuple[KnownBracket, ...] = ()

    def __call__(self, known: KnownBracket) -> None:
        """Record the current value and bound."""
        self.rows = (*self.rows, known)

    def table(self) -> RenderableType:
        """Return a table with one line for each change of value or bound, and one for the end of the run."""
        return lay_out(self.columns())

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        shown = [told_apart(row.value, row.bound) for row in self.rows]
        return [
            Column("time [s]", [f"{row.runtime:.3f}" for row in self.rows]),
            Column("value", [value for value, _ in shown]),
            Column("bound", [bound for _, bound in shown]),
            Column("gap", ["-" if row.gap is None else percent(row.gap) for row in self.rows]),
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return all fields of every row, as plain JSON types."""
        return [row.as_dict() for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Return the history as plain JSON types, for `gsopt.write`."""
        return {"history": self.records()}

    def plot(self, axes: "Axes | None" = None, *, unit: str = "objective") -> "Axes":
        """Plot value and bound as step functions of time, and the gap between them.

        The time axis is logarithmic if most changes happen early.

        Parameters
        ----------
        axes
            Axes to plot on; None for a new figure.
        unit
            Unit of the objective.

        Raises
        ------
        InvalidInput
            matplotlib is not installed.
        """
        need("matplotlib", "plot")
        axes = titled(axes, "time [s]", unit, size=(7, 4))
        times = [row.runtime for row in self.rows]
        values, bounds = [row.value for row in self.rows], [row.bound for row in self.rows]
        for numbers, colour, style, name in (
            (values, COLOURS[0], "-", "value"),
            (bounds, COLOURS[1], "--", "bound"),
        ):
            look: dict[str, Any] = {"color": colour, "linestyle": style, "label": _label(name, numbers)}
            axes.step(times, _drawn(numbers), where="post", **look)
            axes.plot(times[-1:], _drawn(numbers)[-1:], marker="o", color=colour)
        gap = self.rows[-1].gap if self.rows else None
        label = "gap" if gap is None else f"gap, {percent(gap)} at the end"
        axes.fill_between(times, _drawn(values), _drawn(bounds), step="post", color="0.88", label=label)
        if times and median(times) < _EARLY * times[-1] and times[0] > 0:
            axes.set_xscale("log")
        axes.legend(frameon=False, fontsize=8)
        return axes


def _drawn(numbers: list[Number | None]) -> list[float]:
    return [float("nan") if number is None else float(number) for number in numbers]


def _label(name: str, numbers: list[Number | None]) -> str:
    return f"{name}, {told_apart(numbers[-1], None)[0]} at the end" if numbers else name
