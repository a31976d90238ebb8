"""``gsopt check``: a command that judges a solution from any source."""

import json
from typing import Annotated, Any

import typer

from gsopt.cli.arguments import InstanceArgument, Json
from gsopt.cli.exits import Exit
from gsopt.cli.instances import read_instance
from gsopt.cli.output import say
from gsopt.core.result import plain
from gsopt.problems.reader import read_solution
from gsopt.schedule.figures import title_of


def check(
    instance: InstanceArgument,
    solution: Annotated[str, typer.Argument(help="solution file, or the output of solve --json")],
    as_json: Json = False,
) -> None:
    """Judge a solution of an instance."""
    problem = read_instance(instance)
    candidate = read_solution(solution, problem)
    broken = problem.violations(candidate)
    figures: dict[str, Any] = {"feasible": not broken, "violations": broken}
    if not broken:
        figures["objective"] = plain(problem.objective(candidate))
        figures["measures"] = {name: plain(value) for name, value in problem.measures(candidate).items()}
    if as_json:
        typer.echo(json.dumps(figures))
    elif broken:
        for line in broken:
            say(f"violation: {line}")
    else:
        say(f"feasible, {problem.unit}: {figures['objective']}")
        for name, value in figures["measures"].items():
            say(f"  {title_of(name)}: {value}")
    if broken:
        raise typer.Exit(Exit.FAILED)
