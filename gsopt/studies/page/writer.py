"""Writer: the function that writes a study's page to a file."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from gsopt.core.errors import escape
from gsopt.core.files import require_writable, write_text
from gsopt.evaluation.listing import need
from gsopt.studies.page.content import Content, content
from gsopt.studies.page.gantt import gantts as draw_gantts
from gsopt.studies.page.pictures import pictures
from gsopt.studies.page.svg import drawing
from gsopt.studies.report import report
from gsopt.studies.results import Results, results
from gsopt.studies.store import reading

_HERE = Path(__file__).parent


def write_page(
    folder: str | Path,
    path: str | Path,
    *,
    figures: Sequence[str] = (),
    gantts: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Results:
    """Write a study as one self-contained HTML page.

    Parameters
    ----------
    folder
        The study's folder, which a run may be using at the same time.
    path
        The file, which is written completely or not at all.
    figures
        Names of the figures to show and plot. By default, tables show those that `gsopt.studies.report` shows
        by default, and plots show the most important of them.
    gantts
        Runs of policies to simulate again and draw as Gantt charts, named by method and instance, such as
        ``fifo on Poisson(load=0.9, seed=1)``.
    allow
        Modules outside the working directory that define these policies, as in `gsopt.studies.run`.

    Returns
    -------
    Results
        The results on the page.

    Raises
    ------
    InvalidInput
        The folder holds no study, the file cannot be written, a figure does not exist, an entry of `gantts`
        matches no run or several, a run that is simulated again has a different result, or the extra ``report``
        is not installed.
    Contradiction
        A value is better than a bound proven on the same instance.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from gsopt.studies import Study, run
    >>> study = Study(study="example", instances=["reclaiming/aryl-figure-5"], methods=["greedy", "exact"])
    >>> with TemporaryDirectory() as folder:
    ...     found = run(study, folder, workers=1)
    ...     shown = write_page(folder, f"{folder}/report.html")
    ...     Path(folder, "report.html").read_text().startswith("<!doctype html>")
    True
    """
    for package in ("matplotlib", "jinja2"):
        need(package, "page")
    found = results(folder)
    found.refuse_contradictions()
    whole = report(found, figures=figures)
    require_writable(path)
    with reading(folder) as store:
        spec, runs, sources = store.spec(), store.runs(), store.sources()
    with drawing():
        page = content(
            found,
            whole,
            figures=figures,
            spec=spec,
            runs=runs,
            sources=sources,
            pictures=list(pictures(found, figures)),
            gantts=list(draw_gantts(spec, found, gantts, allow)),
            options={"--figure": figures, "--gantt": gantts, "--allow": allow},
        )
    write_text(path, html_of(page))
    return found


def html_of(page: Content) -> str:
    """Return a page as HTML.

    All text is escaped, and the page may use only its own style sheet and script.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    style, script = (_HERE.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    return environment.get_template("page.html").render(
        page=page,
        style=Markup(style),  # noqa: S704 - gsopt's own
        script=Markup(script),  # noqa: S704 - gsopt's own
        style_hash=_hash(style),
        script_hash=_hash(script),
        markup=Markup,
    )


def _printable(value: Any) -> Any:
    """Return text with unprintable characters escaped, such as marks that change its direction."""
    return escape(value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
