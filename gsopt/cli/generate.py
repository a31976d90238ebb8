"""``gsopt generate``: a command that creates an instance with a generator."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import Word
from gsopt.cli.options import read_value
from gsopt.cli.output import deliver, list_entries, print_table
from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.files import require_writable, to_json
from gsopt.evaluation import catalogue
from gsopt.studies.instance import generate as generate_instance


def generate(
    context: typer.Context,
    word: Word,
    generator: Annotated[
        str | None, typer.Argument(help="name of a generator; without it they are listed")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file; default: standard output")
    ] = None,
) -> None:
    """Generate an instance.

    Options of a generator come after its name: gsopt generate reclaiming churn --servers 520 --seed 7 -o a.json
    """
    known = catalogue.generators(word)
    if generator is None:
        print_table(list_entries("generator", known))
        return
    require_one_of("generator", generator, known)
    if output is not None:
        require_writable(output)
    options = {name: read_value(text) for name, text in read_texts(context.args).items()}
    deliver(to_json(generate_instance(known[generator], options)), output)


def read_texts(words: list[str]) -> dict[str, str]:
    """Parse pairs of a name and a value, such as ``--servers 40`` or ``--servers=40``."""
    texts: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            raise InvalidInput(shorten(word), "", "must be an option and its value, such as --seed 7")
        text = value if equals else next(rest, None)
        if text is None:
            raise InvalidInput(flag, "", "needs a value")
        texts[flag.removeprefix("--").replace("-", "_")] = text
    return texts
