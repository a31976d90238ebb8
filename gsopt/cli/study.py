"""``gsopt study``: commands that run a study and present its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gsopt.cli.exits import Exit
from gsopt.cli.group import Group
from gsopt.cli.output import require_picture, say
from gsopt.cli.progress import show_progress
from gsopt.core.errors import InvalidInput
from gsopt.evaluation.listing import need

if TYPE_CHECKING:
    from gsopt.studies.results import Results
    from gsopt.studies.runner import StudyProgress

_MINUTE, _HOUR = 60, 3600

app = typer.Typer(
    name="study", cls=Group, invoke_without_command=True, add_completion=False, rich_markup_mode=None
)

_Allow = Annotated[
    list[str] | None,
    typer.Option(help="module that the study may use, wherever it is; may be repeated", metavar="MODULE"),
]
_Folder = Annotated[Path, typer.Argument(help="folder in which the results are kept")]
_RelativeTo = Annotated[
    str,
    typer.Option(
        help="divide by the figure of this method on the same instance, or by the least", metavar="METHOD"
    ),
]


@app.callback()
def options(context: typer.Context) -> None:
    """Run a grid of instances, methods, parameters and seeds."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def run(
    spec: Annotated[Path, typer.Argument(help="study file (JSON), see docs/studies.md")],
    out: Annotated[Path, typer.Option(help="folder in which the results are kept")],
    workers: Annotated[int | None, typer.Option(help="number of processes; default: one per CPU")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Dask scheduler, such as tcp://host:8786, or local:4 for 4 workers on this machine"),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed cells again")] = False,
    allow: _Allow = None,
) -> None:
    """Compute all cells of a study that have no result yet.

    Every cell is stored as soon as it is finished. After Ctrl-C or a crash, the same command continues where
    the study stopped. A study runs the code of the modules that it names. Each module must be part of gsopt, be
    in the folder of the study file, or be allowed with --allow.
    """
    from gsopt import studies

    try:
        study = studies.read_study(spec)
        with show_progress("left") as bar:
            task = bar.add_task(study.study, total=None, left="")
            noted = ""

            def show(progress: "StudyProgress") -> None:
                nonlocal noted
                if progress.note not in ("", noted):
                    bar.console.print(progress.note, markup=False, highlight=False, soft_wrap=True)
                noted = progress.note
                bar.update(task, total=progress.total, completed=progress.finished, left=_left(progress))

            found = studies.run(
                study,
                out,
                workers=workers,
                scheduler=scheduler,
                retry=retry,
                on_progress=show,
                source=str(spec),
                allow=allow or (),
            )
    except KeyboardInterrupt:
        typer.echo("gsopt: interrupted", err=True)
        raise typer.Exit(Exit.INTERRUPTED) from None
    _tell(found)
    if found.interrupted:
        typer.echo("gsopt: interrupted; every finished cell is kept, and the same command goes on", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
    if found.failed:
        raise typer.Exit(Exit.FAILED)


@app.command()
def table(
    folder: _Folder,
    by: Annotated[
        list[str] | None,
        typer.Option(help="group by group, instance, method, seed or an option; may be repeated"),
    ] = None,
    figure: Annotated[list[str] | None, typer.Option(help="figure to show; may be repeated")] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(help="mean, median, min, max, total, deviation, geomean, p99, ...; may be repeated"),
    ] = None,
    relative_to: _RelativeTo = "",
    csv: Annotated[bool, typer.Option("--csv", help="print CSV")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="print Markdown")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="print LaTeX (booktabs)")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    cells: Annotated[bool, typer.Option("--cells", help="one line per cell, with all figures, as CSV")] = False,
) -> None:
    """Print a study's results, by default as means per group of instances and method."""
    from gsopt import studies

    if csv + markdown + latex + as_json + cells > 1:
        raise InvalidInput("table", "", "takes one of --csv, --markdown, --latex, --json, --cells")
    found = studies.results(folder)
    found.refuse_contradictions()
    if cells:
        typer.echo(found.to_csv(), nl=False)
    else:
        made = studies.report(
            found, by=by or (), figures=figure or (), statistics=statistic or (), relative_to=relative_to
        )
        forms = {made.csv: csv, made.markdown: markdown, made.latex: latex, made.json: as_json}
        form = next((form for form, wanted in forms.items() if wanted), made.text)
        typer.echo(form(), nl=False)
    _tell(found, brief=True)


@app.command()
def plot(
    folder: _Folder,
    x: Annotated[
        str, typer.Option(help="option on the horizontal axis, such as alpha; dots if not given")
    ] = "",
    y: Annotated[str, typer.Option(help="figure, such as mean_jct")] = "",
    by: Annotated[str, typer.Option(help="column that tells lines or dots apart")] = "method",
    relative_to: _RelativeTo = "",
    log_x: Annotated[bool, typer.Option("--log-x", help="logarithmic horizontal axis")] = False,
    log_y: Annotated[
        bool, typer.Option("--log-y", help="logarithmic axis of the figure, even if values are close")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="picture, such as a.png or a.pdf; study.png in the folder if not given")
    ] = None,
) -> None:
    """Plot a study's results: medians and the 25th to 75th percentiles over instances and seeds."""
    from gsopt import studies
    from gsopt.core.drawing import save
    from gsopt.studies import plots

    need("matplotlib", "plot")
    target = out or folder / "study.png"
    found = studies.results(folder)
    require_picture(target)
    found.refuse_contradictions()
    figure: Any = (
        plots.panels(found, x, figure=y, by=by, relative_to=relative_to, log_x=log_x, log_y=log_y)
        if x
        else plots.dots(found, figure=y, by=by, relative_to=relative_to, log=log_y).figure
    )
    save(figure, target)
    say(str(target))
    _tell(found, brief=True)


@app.command()
def profile(
    folder: _Folder,
    out: Annotated[
        Path | None,
        typer.Option(help="picture, such as a.png or a.pdf; profile.png in the folder if not given"),
    ] = None,
) -> None:
    """Plot the performance profile of each exact method.

    It shows the share of instances that the method solves within each multiple of the shortest time that any of
    these methods needs for the same instance.
    """
    from gsopt import studies
    from gsopt.core.drawing import save
    from gsopt.studies import profiles

    need("matplotlib", "profile")
    target = out or folder / "profile.png"
    found = studies.results(folder)
    require_picture(target)
    found.refuse_contradictions()
    save(profiles.draw_profiles(profiles.profiles_of(found)).figure, target)
    say(str(target))
    _tell(found, brief=True)


@app.command()
def report(
    folder: _Folder,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file; report.html in the folder if not given")
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="figure to show and to draw; may be repeated")
    ] = None,
    gantt: Annotated[
        list[str] | None,
        typer.Option(
            help="run of a policy to simulate once more and draw, such as 'fifo on Poisson(load=0.9, seed=1)'; "
            "may be repeated",
            metavar="METHOD on INSTANCE",
        ),
    ] = None,
    allow: _Allow = None,
) -> None:
    """Write a study's results as one HTML page, with tables, gaps, bounds, pictures and provenance."""
    from gsopt import studies

    target = out or folder / "report.html"
    found = studies.write_page(folder, target, figures=figure or (), gantts=gantt or (), allow=allow or ())
    say(str(target))
    _tell(found, brief=True)


def _tell(found: "Results", *, brief: bool = False) -> None:
    """Report missing and failed cells on standard error, and the number of results unless `brief` is true."""
    lines = []
    if not brief or found.missing:
        lines.append(f"{found.study}: {len(found):,} of {found.total:,} cells have a result")
    if found.failed:
        row = found.failed[0]
        where = f"{row.labels.method} on {row.labels.instance}"
        lines.append(f"{len(found.failed):,} failed, the first: {where}: {row.outcome.message}")
    if len(found.versions) > 1:
        lines.append(f"computed by different versions of gsopt: {', '.join(found.versions)}")
    for line in lines:
        say(line, err=True)


def _left(progress: "StudyProgress") -> str:
    failed = f"{progress.failed:,} failed  " if progress.failed else ""
    return failed if progress.left is None else f"{failed}{_span(progress.left)} left"


def _span(seconds: float) -> str:
    """Format a duration in its two largest units, such as ``5 min 3 s``."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
