"""``gsopt generate``: an instance from a generator."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from gsopt.cli.arguments import Word
from gsopt.cli.output import deliver, list_entries, print_table
from gsopt.errors import InvalidInput, shorten
from gsopt.files import require_writable, to_json
from gsopt.studies import catalogue


def generate(
    context: typer.Context,
    word: Word,
    generator: Annotated[
        str | None, typer.Argument(help="name of a generator; lists them when left out")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file; standard output otherwise")
    ] = None,
) -> None:
    """Generate an instance: gsopt generate reclaiming churn --servers 520 --mode packed --seed 7 -o a.json."""
    known = catalogue.generators(word)
    if generator is None:
        print_table(list_entries("generator", known))
        return
    if generator not in known:
        raise InvalidInput("", "generator", shorten(generator), f"must be one of {', '.join(known)}")
    if output is not None:
        require_writable(output)
    made = known[generator](**_parameters(known[generator], context.args))
    deliver(to_json(made), output)


def _parameters(generator: Callable[..., Any], words: list[str]) -> dict[str, Any]:
    """Read ``--name value`` pairs as the typed keyword parameters of a generator."""
    expected = inspect.signature(generator).parameters
    values: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("--") or name not in expected:
            options = ", ".join("--" + option.replace("_", "-") for option in expected)
            raise InvalidInput("", shorten(word), "", f"is no parameter of this generator; there are {options}")
        text = value if equals else next(rest, None)
        if text is None:
            raise InvalidInput("", flag, "", "needs a value")
        try:
            values[name] = TypeAdapter(expected[name].annotation).validate_python(text)
        except ValidationError as error:
            message = error.errors(include_url=False)[0]["msg"]
            raise InvalidInput("", flag, shorten(text), message[:1].lower() + message[1:]) from None
    return values
