"""``gsopt schema``: a command that prints the JSON Schema of an instance file."""

import json
from typing import Annotated

import typer

from gsopt.cli.arguments import Word
from gsopt.core.errors import require_one_of
from gsopt.problems.reader import problem_types


def schema(
    word: Word,
    solution: Annotated[bool, typer.Option("--solution", help="print that of the solution file")] = False,
) -> None:
    """Print the JSON Schema of a decision's instance file."""
    types = problem_types()
    require_one_of("decision", word, sorted(types))
    chosen = types[word].solution_type if solution else types[word]
    typer.echo(json.dumps(chosen.model_json_schema(), indent=1))
