"""``gsopt interference``: a command that evaluates predictions of slowdowns on shared GPUs."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import Json, complete
from gsopt.cli.options import split_name, typed_options
from gsopt.cli.output import print_table, say
from gsopt.cli.progress import show_progress
from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.files import read_data, require_writable, to_json, write_text
from gsopt.evaluation import catalogue
from gsopt.evaluation.tables import Column, lay_out
from gsopt.performance.interference import Evaluation, PairTable, Predictor, Split, evaluate, predictors
from gsopt.scenario.speed import Speed

#: Number of features shown for each predictor that reports the importance of features.
_SHOWN = 5

_PREDICTORS: Mapping[str, Predictor] = {name: getattr(predictors, name) for name in predictors.__all__}

_COLUMNS: Mapping[str, Callable[[Evaluation], str]] = {
    "mean error": lambda row: f"{row.mean_absolute:.3f}",
    "relative": lambda row: f"{row.mean_relative:.1%}",
    "root mean square": lambda row: f"{row.root_mean_square:.3f}",
    "decided alike": lambda row: f"{row.decisions.alike:.1%}",
    "sharing benefit": lambda row: f"{row.decisions.benefit:.3f}",
    "off by": lambda row: f"{row.decisions.deviation:.1%}",
    "savings lost": lambda row: "" if row.decisions.lost is None else f"{row.decisions.lost:.1%}",
}


def interference(
    table: Annotated[
        str, typer.Argument(help="measured pairs: JSON, or a file or folder that --reader can read")
    ],
    reader: Annotated[
        str | None,
        typer.Option(
            help="format of the table, such as gavel:gpu=p100 or lucid",
            autocompletion=complete(catalogue.interference_readers),
        ),
    ] = None,
    predictor: Annotated[
        list[str] | None,
        typer.Option(
            help="a predictor, such as regression_tree:leaf=3; may be repeated; default: all",
            autocompletion=complete(lambda: _PREDICTORS),
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=2, help="parts of the table, each of which is predicted from the others")
    ] = 5,
    split: Annotated[Split, typer.Option(help="unit that is assigned to the parts")] = "pair",
    seed: Annotated[int, typer.Option(help="seed of the random split")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="file for all slowdowns, with predictions of the missing ones"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate predictions of how jobs slow each other down.

    The slowdowns of each pair of jobs on one GPU are predicted from other pairs. The output shows the errors,
    and how they affect decisions on sharing: two jobs share a GPU if this does not increase the sum of their
    completion times. Decisions are compared for ratios of the jobs' lengths from 1:8 to 8:1.
    """
    chosen = [_find(text) for text in predictor or _PREDICTORS]
    if output is not None:
        if len(chosen) != 1:
            rule = "needs one --predictor that fills the gaps"
            raise InvalidInput("--output", shorten(str(output)), rule)
        require_writable(output)
    measured = _read(table, reader)
    evaluated = partial(evaluate, measured, folds=folds, by=split, seed=seed)
    found = _evaluations(dict(chosen), evaluated, named=bool(predictor))
    if output is not None:
        write_text(output, to_json(Speed(interference=chosen[0][1](measured).filled(measured))))
    if as_json:
        figures = [{"predictor": name, **row.model_dump()} for name, row in found.items()]
        typer.echo(json.dumps(figures, indent=1))
        return
    configurations = f"{len(measured.couples):,} pairs of {len(measured.profiles)} configurations"
    say(f"{measured.name or table}: {configurations}; {folds} splits by {split}, seed {seed}")
    _print(found)


def _find(text: str) -> tuple[str, Predictor]:
    """Find a predictor by name, with its options."""
    name, given = split_name(text, "--predictor")
    require_one_of("--predictor", name, _PREDICTORS)
    options = typed_options("--predictor", name, _PREDICTORS[name], given)
    return text, partial(_PREDICTORS[name], **options) if options else _PREDICTORS[name]


def _read(table: str, reader: str | None) -> PairTable:
    if reader is None:
        return read_data(PairTable, table)
    name, given = split_name(reader, "--reader")
    known = catalogue.interference_readers()
    require_one_of("--reader", name, known)
    reading = known[name](table, **typed_options("--reader", name, known[name], given))
    say(f"{table}: {reading.summary}", err=True)
    found: PairTable = reading.table
    return found


def _evaluations(
    chosen: Mapping[str, Predictor], evaluated: Callable[[Predictor], Evaluation], *, named: bool
) -> dict[str, Evaluation]:
    """Evaluate predictors one by one.

    Unless predictors are named, those that cannot handle the table are skipped with a message.
    """
    found: dict[str, Evaluation] = {}
    last = list(chosen)[-1]
    with show_progress() as progress:
        for name, each in chosen.items():
            task = progress.add_task(name, total=1)
            try:
                found[name] = evaluated(each)
            except InvalidInput as error:
                if named or (name == last and not found):
                    raise
                say(f"gsopt: {name} is left out: {error}", err=True)
            progress.update(task, completed=1)
    return found


def _print(found: Mapping[str, Evaluation]) -> None:
    """Print one line for each predictor, and the most important features of predictors that report them."""
    rows = list(found.values())
    cells = {name: [cell(row) for row in rows] for name, cell in _COLUMNS.items()}
    columns = [Column(name, values) for name, values in cells.items()]
    measured = rows[0].decisions
    note = (
        f"By measured slowdowns {measured.sharing:.1%} of {measured.cases:,} decisions are to share, with a "
        f"mean benefit of {measured.benefit_measured:.3f}; savings lost are parts of what these decisions save."
    )
    print_table(lay_out([Column("predictor", list(found), right=False), *columns], notes=[note]))
    _print_importance({name: row.importance for name, row in found.items() if row.importance})


def _print_importance(importance: Mapping[str, Mapping[str, float]]) -> None:
    """Print the most important features of each predictor."""
    headings: dict[int, str] = {}
    shown: list[tuple[str, float]] = []
    for name, parts in importance.items():
        headings[len(shown)] = f"what matters to {name}"
        shown += list(parts.items())[:_SHOWN]
    if shown:
        features = Column("feature", [feature for feature, _ in shown], right=False)
        column = Column("importance", [f"{part:.1%}" for _, part in shown])
        print_table(lay_out([features, column], headings=headings))
