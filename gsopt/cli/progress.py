"""Progress: progress bars on standard error."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


def show_progress(*more: str) -> Progress:
    """Return a progress display on standard error, which is hidden if there is no terminal.

    The names in `more` are those of task fields to show in additional columns.
    """
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *(TextColumn(f"{{task.fields[{field}]}}", markup=False) for field in more),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
