"""``gsopt solve``: a command that solves one instance with one method and judges the result."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gsopt.cli.arguments import InstanceArgument, Json, time_limit_option
from gsopt.cli.exits import Exit, named
from gsopt.cli.instances import read_instance
from gsopt.cli.output import require_picture, say
from gsopt.core.drawing import save
from gsopt.core.errors import InvalidInput
from gsopt.core.files import to_json
from gsopt.core.interrupts import held
from gsopt.core.method import accepts, name_of
from gsopt.core.problem import Problem
from gsopt.core.result import Result, Status, plain
from gsopt.evaluation import catalogue
from gsopt.evaluation.history import History
from gsopt.evaluation.listing import need
from gsopt.evaluation.solve import solve as solve_problem
from gsopt.evaluation.tables import percent
from gsopt.problems.reader import read_solution
from gsopt.schedule.figures import title_of


def solve(
    file: InstanceArgument,
    method: Annotated[str | None, typer.Option(help="name of a method; default: exact")] = None,
    backend: Annotated[str | None, typer.Option(help="solver: highs, cp-sat or scip")] = None,
    time_limit: Annotated[
        float | None, time_limit_option("time limit, such as 30s, 2min or 500ms; default: none")
    ] = None,
    gap: Annotated[float | None, typer.Option(help="relative gap at which to stop, such as 0.01")] = None,
    start: Annotated[str | None, typer.Option(help="solution file to start from")] = None,
    seed: Annotated[int | None, typer.Option(help="seed of methods that draw at random")] = None,
    log: Annotated[bool, typer.Option("--log", help="print the solver's log on standard error")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="picture of value and bound over time, such as convergence.png")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve one instance and print the judged result."""
    if plot is not None:
        need("matplotlib", "--plot")
        require_picture(plot)
    problem = read_instance(file)
    chosen = catalogue.find_method(problem.word, method or "exact")
    given = {
        "backend": None if backend is None else catalogue.find_backend(backend, field="--backend"),
        "gap": gap,
        "start": None if start is None else _read_start(start, problem),
        "seed": seed,
        "log": log or None,
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    history = History()
    if accepts(chosen, "on_progress"):
        options |= {"on_progress": history, "display": Console(stderr=True).is_terminal}
    elif plot is not None:
        raise InvalidInput("--plot", "", f"is not an option of {name_of(chosen)}")
    with named(name_of(chosen)):
        result = solve_problem(problem, chosen, time_limit=time_limit, **options)
    with held():  # what is found is shown
        if plot is not None:
            save(history.plot(unit=problem.unit).figure, plot)
        if as_json:
            typer.echo(json.dumps(result.as_dict()))
        else:
            _print_result(problem, result)
        sys.stdout.flush()
    raise typer.Exit(_exit_code(result))


def _read_start(file: str, problem: Problem[Any]) -> Any:
    solution = read_solution(file, problem)
    broken = problem.violations(solution)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise InvalidInput("", "", f"must be a solution of the instance: {broken[0]}{more}", source=file)
    return solution


def _exit_code(result: Result[Any]) -> Exit:
    if result.solution is not None:
        return Exit.SOLUTION
    return Exit.INFEASIBLE if result.status is Status.INFEASIBLE else Exit.NO_SOLUTION


def _print_result(problem: Problem[Any], result: Result[Any]) -> None:
    lines = {
        "method": result.method + (f" ({result.solver})" if result.solver else ""),
        "status": f"{result.status.value}, {result.level.value}",
        problem.unit: plain(result.objective),
        "bound": plain(result.bound),
        "gap": "-" if result.gap is None else percent(result.gap),
        "stopped by": result.stopped_by.value,
        "time": f"{result.runtime:.3f} s",
    }
    if result.message:
        lines["note"] = result.message
    if result.solution is not None:
        lines |= {title_of(name): plain(value) for name, value in problem.measures(result.solution).items()}
    width = max(map(len, lines))
    for name, value in lines.items():
        say(f"{name:<{width}}  {'-' if value is None else value}")
    if result.solution is not None:
        typer.echo(to_json(result.solution), nl=False)
