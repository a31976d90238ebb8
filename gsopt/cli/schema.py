"""``gsopt schema``: a command that prints the JSON Schema of an instance file."""

import json

import typer

from gsopt.cli.arguments import Word
from gsopt.core.errors import require_one_of
from gsopt.problems.reader import problem_types


def schema(word: Word) -> None:
    """Print the JSON Schema of a decision's instance file."""
    types = problem_types()
    require_one_of("decision", word, sorted(types))
    typer.echo(json.dumps(types[word].model_json_schema(), indent=1))
