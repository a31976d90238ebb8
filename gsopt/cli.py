"""The ``gsopt`` command: compare, solve, simulate, study, check, generate, schema, methods, demo.

One of the two roof files. Everything it does is a call of the library; it adds words, progress and exit codes.
"""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from gsopt import backends, simulation
from gsopt.backends import Backend
from gsopt.cluster import Cluster
from gsopt.errors import GsoptError, InvalidInput, MissingSolver, Unsupported, shorten
from gsopt.files import first_error, read_data, to_json
from gsopt.job import Workload
from gsopt.method import uses
from gsopt.problem import Problem
from gsopt.problems.reader import problem_types, read_problem, read_solution
from gsopt.result import Result, Status, plain
from gsopt.scenario import Scenario
from gsopt.schedule.fairness import gps_finish_times
from gsopt.studies import catalogue
from gsopt.studies.command import app as study_app
from gsopt.studies.compare import COMPARE_TIME_LIMIT
from gsopt.studies.compare import compare as compare_methods
from gsopt.studies.comparison import Comparison, Row
from gsopt.studies.policies import PolicyComparison
from gsopt.studies.solve import solve as solve_problem
from gsopt.studies.tables import percent
from gsopt.studies.window import window as read_window

#: Seconds that the demo gives each method on each instance.
_DEMO_TIME_LIMIT = 5.0

_DEMO_POLICIES = ("fifo", "sjf", "srtf", "las", "tiresias", "efq")


class Exit(IntEnum):
    """Exit codes."""

    SOLUTION = 0
    FAILED = 1  # a rule of the judge is broken, or two methods contradict each other
    BAD_INPUT = 2
    NO_SOLUTION = 3
    INFEASIBLE = 4
    INTERRUPTED = 130


app = typer.Typer(
    name="gsopt",
    help="Exact models and published heuristics for GPU cluster scheduling, checked against each other.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_InstanceArgument = Annotated[str, typer.Argument(help="instance file, or the name of a committed instance")]
_TimeLimit = Annotated[float | None, typer.Option(help="seconds per method and instance")]
_Json = Annotated[bool, typer.Option("--json", help="print JSON")]
_Word = Annotated[str, typer.Argument(help="a decision, such as reclaiming")]
_Reader = Annotated[str | None, typer.Option(help="format of the trace, such as philly or swf")]
_GpuCount = Annotated[int | None, typer.Option(help="number of GPUs of a plain cluster")]
_ClusterFile = Annotated[Path | None, typer.Option(help="cluster file, instead of --gpus")]
_Window = Annotated[str | None, typer.Option(help="part of the trace, such as 30d:31d or 0:3600")]

app.add_typer(study_app, name="study")


def main() -> None:
    """Run the command; anything wrong becomes one line on standard error and an exit code."""
    try:
        app()
    except GsoptError as error:
        typer.echo(f"gsopt: {error}", err=True)
        usage = isinstance(error, InvalidInput | Unsupported | MissingSolver)
        sys.exit(Exit.BAD_INPUT if usage else Exit.FAILED)
    except ValidationError as error:  # data that a generator made of its arguments
        typer.echo(f"gsopt: {first_error('', error)}", err=True)
        sys.exit(Exit.BAD_INPUT)
    except OSError as error:  # standard output that cannot be written
        typer.echo(f"gsopt: {error.strerror or error}", err=True)
        sys.exit(Exit.FAILED)


@app.command()
def compare(
    what: Annotated[list[str], typer.Argument(help="decisions, suites, instance names or files; or a trace")],
    method: Annotated[
        list[str] | None, typer.Option(help="only this method or policy; may be repeated")
    ] = None,
    time_limit: _TimeLimit = COMPARE_TIME_LIMIT,
    seed: Annotated[int, typer.Option(help="seed of the methods that draw at random")] = 0,
    summary: Annotated[bool, typer.Option("--summary", help="one line per suite and method")] = False,
    reader: _Reader = None,
    gpus: _GpuCount = None,
    cluster: _ClusterFile = None,
    window: _Window = None,
    as_json: _Json = False,
) -> None:
    """Compare every method of a decision with the proven optimum, or every policy on one trace.

    A trace is given with its --reader, or as a workload file; either with --gpus or --cluster.
    """
    if (reader, gpus, cluster, window) != (None,) * 4:
        if len(what) > 1:
            raise InvalidInput("", "compare", shorten(what[1]), "policies are compared on one trace at a time")
        policies = _policies(method, "--method", seed)
        replays = _replays(_scenario(what[0], reader, gpus, cluster, window=window), policies)
        _print_policies([replay.metrics for replay in replays], as_json=as_json)
        return
    comparison = _compared(_problems(what), method, time_limit, seed)
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in comparison], indent=1))
    else:
        _print(comparison.summary() if summary else comparison.table())
    if comparison.interrupted:
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED)


@app.command()
def solve(
    file: _InstanceArgument,
    method: Annotated[str | None, typer.Option(help="name of a method; the exact default otherwise")] = None,
    backend: Annotated[str | None, typer.Option(help="solver: highs, cp-sat or scip")] = None,
    time_limit: Annotated[float | None, typer.Option(help="seconds")] = None,
    gap: Annotated[
        float | None, typer.Option(help="gap (relative to the bound) at which to stop, such as 0.01")
    ] = None,
    start: Annotated[str | None, typer.Option(help="solution file to start from")] = None,
    seed: Annotated[int | None, typer.Option(help="seed, for methods that draw at random")] = None,
    log: Annotated[bool, typer.Option("--log", help="stream the solver's log to standard error")] = False,
    as_json: _Json = False,
) -> None:
    """Solve one instance and print the judged result."""
    problem = _problem(file)
    chosen = catalogue.find_method(problem.word, method or "exact")
    options: dict[str, Any] = {}
    if backend is not None:
        options["backend"] = _backend(backend)
    if gap is not None:
        options["gap"] = gap
    if start is not None:
        options["start"] = read_solution(start, problem)
    if seed is not None:
        options["seed"] = seed
    if log:
        options["log"] = True
    with _incumbents(problem) as report:
        if uses(chosen, "on_incumbent"):
            options["on_incumbent"] = report
        result = solve_problem(problem, chosen, time_limit=time_limit, **options)
    if as_json:
        typer.echo(json.dumps(result.as_dict()))
    else:
        _print_result(problem, result)
    raise typer.Exit(_exit_code(result))


@app.command()
def simulate(
    trace: Annotated[str, typer.Argument(help="trace file or folder; without --reader a workload as JSON")],
    policy: Annotated[list[str] | None, typer.Option(help="policy; may be repeated; all when left out")] = None,
    reader: _Reader = None,
    gpus: _GpuCount = None,
    cluster: _ClusterFile = None,
    window: _Window = None,
    sample: Annotated[int | None, typer.Option(help="number of jobs to draw from the trace")] = None,
    seed: Annotated[int, typer.Option(help="seed of the draw, and of policies that draw at random")] = 0,
    round_length: Annotated[
        float | None, typer.Option(help="seconds between decisions; events if not given")
    ] = None,
    issues: Annotated[
        bool, typer.Option("--issues", help="list every row that was dropped or repaired")
    ] = False,
    plots: Annotated[Path | None, typer.Option(help="folder for Gantt chart, GPUs in use and JCT")] = None,
    schedules: Annotated[Path | None, typer.Option(help="folder for the schedules, one CSV per policy")] = None,
    as_json: _Json = False,
) -> None:
    """Replay a trace under online policies, beside a proven bound on every policy."""
    policies = _policies(policy, "--policy", seed)
    scenario = _scenario(
        trace, reader, gpus, cluster, window=window, sample=sample, seed=seed, list_issues=issues
    )
    replays = _replays(scenario, policies, round_length, record=bool(plots or schedules))
    figures = [replay.metrics for replay in replays]
    _print_policies(figures, as_json=as_json, one=len(figures) == 1)
    _save_schedules(replays, schedules)
    _save_plots(replays, plots)


@app.command()
def check(
    instance: _InstanceArgument,
    solution: Annotated[str, typer.Argument(help="solution file, or the output of solve --json")],
    as_json: _Json = False,
) -> None:
    """Judge somebody's solution of an instance."""
    problem = _problem(instance)
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
            typer.echo(f"violation: {line}")
    else:
        typer.echo(f"feasible, {problem.unit}: {figures['objective']}")
        for name, value in figures["measures"].items():
            typer.echo(f"  {name}: {value}")
    if broken:
        raise typer.Exit(Exit.FAILED)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def generate(
    context: typer.Context,
    word: _Word,
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
        _print(_catalogue("generator", known))
        return
    if generator not in known:
        raise InvalidInput("", "generator", shorten(generator), f"must be one of {', '.join(known)}")
    made = known[generator](**_parameters(known[generator], context.args))
    _deliver(to_json(made), output)


@app.command()
def schema(word: _Word) -> None:
    """Print the JSON Schema of a decision's instance file."""
    types = problem_types()
    if word not in types:
        raise InvalidInput("", "decision", shorten(word), f"must be one of {', '.join(sorted(types))}")
    typer.echo(json.dumps(types[word].model_json_schema(), indent=1))


@app.command()
def methods(word: Annotated[str | None, typer.Argument(help="a decision; all when left out")] = None) -> None:
    """List the methods of a decision."""
    for decision in [word] if word else sorted(problem_types()):
        _print(_catalogue(f"{decision}: exact", catalogue.exact_methods(decision)))
        _print(_catalogue(f"{decision}: heuristic", catalogue.heuristics(decision)))


@app.command()
def demo(
    word: Annotated[list[str] | None, typer.Argument(help="decisions; all when left out")] = None,
) -> None:
    """Compare every method on the committed suites, and on real data where they are at hand."""
    for decision in word or sorted(problem_types()):
        committed = [catalogue.load(name) for name in catalogue.names(f"{decision}/")]
        real = catalogue.real_instances(decision)
        origin = f"{len(real)} from real data" if real else "none from real data (GSOPT_DATA names no folder)"
        typer.echo(f"\n{decision}: {len(committed)} committed instances, {origin}")
        comparison = _compared([*committed, *real], None, _DEMO_TIME_LIMIT, 0)
        _print(comparison.summary())
        if comparison.interrupted:
            raise typer.Exit(Exit.INTERRUPTED)
    if not word:
        workload, gpus = catalogue.demo_workload()
        typer.echo(f"\npolicies: {workload.source}: {len(workload.jobs)} jobs on {gpus} GPUs, times in seconds")
        scenario = simulation.scenario_of(workload, gpus)
        replays = _replays(scenario, _policies(_DEMO_POLICIES, ""))
        _print_policies([replay.metrics for replay in replays])


def _problem(name: str) -> Problem[Any]:
    return read_problem(name) if Path(name).exists() or name.endswith(".json") else catalogue.load(name)


def _problems(what: Iterable[str]) -> list[Problem[Any]]:
    found: list[Problem[Any]] = []
    for name in what:
        suite = [] if Path(name).is_file() else catalogue.names(f"{name.rstrip('/')}/")
        found += [catalogue.load(member) for member in suite] if suite else [_problem(name)]
    return found


def _compared(
    problems: list[Problem[Any]], chosen: list[str] | None, time_limit: float | None, seed: int
) -> Comparison:
    comparison = Comparison(())
    with _progress() as progress:
        task = progress.add_task("", total=len(problems))
        for problem in problems:
            picked = [catalogue.find_method(problem.word, name) for name in chosen] if chosen else None

            def show(row: Row, task: Any = task) -> None:
                progress.update(task, description=f"{row.instance}: {row.method}")

            comparison += compare_methods(problem, picked, time_limit=time_limit, on_row=show, seed=seed)
            if comparison.interrupted:
                break
            progress.advance(task)
    return comparison


def _policies(chosen: Sequence[str] | None, option: str, seed: int = 0) -> dict[str, simulation.Policy]:
    """Find policies by name, all when none is named; a seed other than 0 is given to those that draw."""
    known = catalogue.policies()
    for name in chosen or ():
        if name not in known:
            raise InvalidInput("", option, shorten(name), f"must be one of {', '.join(known)}")
    policies = {name: known[name] for name in chosen or known}
    drawing = [name for name in policies if seed and "seed" in inspect.signature(policies[name]).parameters]
    return policies | {name: partial(policies[name], seed=seed) for name in drawing}


def _replays(
    scenario: Scenario,
    policies: dict[str, simulation.Policy],
    round_length: float | None = None,
    *,
    record: bool = False,
) -> list[simulation.Replay]:
    bound = simulation.mean_jct_bound(scenario)
    fair_times = gps_finish_times(scenario.workload, scenario.cluster.gpus)
    jobs = len(scenario.workload.jobs)
    found: list[simulation.Replay] = []
    try:
        with _progress() as progress:
            for name, policy in policies.items():
                task = progress.add_task(name, total=jobs)
                found.append(
                    simulation.replay(
                        scenario,
                        policy,
                        round_length=round_length,
                        record=record,
                        bound=bound,
                        fair_times=fair_times,
                        on_progress=partial(_show_completed, progress, task),
                    )
                )
                progress.update(task, completed=jobs)
    except KeyboardInterrupt:
        _print_policies([replay.metrics for replay in found])
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED) from None
    return found


def _print_policies(figures: Sequence[simulation.Metrics], *, as_json: bool = False, one: bool = False) -> None:
    """Print a table, or JSON: an array, or the object alone when there is to be one."""
    if not as_json:
        _print(PolicyComparison(tuple(figures)).table())
        return
    rows = [row.as_dict() for row in figures]
    typer.echo(json.dumps(rows[0] if one else rows, indent=1))


def _show_completed(progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done)


def _scenario(
    trace: str,
    reader: str | None,
    gpus: int | None,
    cluster: Path | None,
    *,
    window: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    list_issues: bool = False,
) -> Scenario:
    machines = _cluster(gpus, cluster)
    selection = {"window": None if window is None else read_window(window, "--window"), "sample": sample}
    workload = _workload(trace, reader, selection, machines.gpus, seed, list_issues=list_issues)
    return simulation.scenario_of(workload, machines)


def _cluster(gpus: int | None, file: Path | None) -> Cluster:
    if file is not None and gpus is None:
        return read_data(Cluster, file)
    if gpus is None or file is not None:
        raise InvalidInput("", "--gpus", "", "give either the number of GPUs or a --cluster file")
    try:
        return Cluster.plain(gpus)
    except ValidationError:
        raise InvalidInput("", "--gpus", str(gpus), "must be a number of GPUs from 1 to 10,000,000") from None


def _workload(
    trace: str,
    reader: str | None,
    selection: dict[str, Any],
    max_gpus: int,
    seed: int,
    *,
    list_issues: bool,
) -> Workload:
    if reader is None:
        for option, value in selection.items():
            if value is not None:
                raise InvalidInput("", f"--{option}", "", "selects from a trace, whose --reader is not given")
        return read_data(Workload, trace)
    known = catalogue.trace_readers()
    if reader not in known:
        raise InvalidInput("", "--reader", shorten(reader), f"must be one of {', '.join(known)}")
    reading = known[reader](trace, **selection, max_gpus=max_gpus, seed=seed)
    if reading.issues:
        counts = f"{len(reading.dropped):,} rows dropped, {len(reading.repaired):,} repaired"
        typer.echo(f"{trace}: {counts}" + ("" if list_issues else "; --issues lists them"), err=True)
    for issue in reading.issues if list_issues else ():
        typer.echo(str(issue), err=True)
    workload: Workload = reading.workload
    return workload


def _save_schedules(replays: Sequence[simulation.Replay], folder: Path | None) -> None:
    if folder is None:
        return
    with _writing(folder):
        for replay in replays:
            if replay.schedule is not None:
                (folder / f"{replay.metrics.policy}.csv").write_text(replay.schedule.to_csv(), encoding="utf-8")


def _save_plots(replays: Sequence[simulation.Replay], folder: Path | None) -> None:
    if folder is None:
        return
    from gsopt.simulation import plots

    with _writing(folder):
        for replay in replays:
            if replay.schedule is not None:
                name = replay.metrics.policy
                for kind, draw in (("gantt", plots.gantt), ("gpus", plots.gpus_in_use)):
                    _save_figure(draw(replay.schedule, replay.scenario), folder / f"{kind}-{name}.png")
        _save_figure(plots.jct_distribution(replays), folder / "jct.png")


def _save_figure(axes: Any, path: Path) -> None:
    axes.figure.savefig(path, dpi=120)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise InvalidInput(str(folder), "", "", f"cannot be written: {error.strerror}") from None


def _progress() -> Progress:
    """Show progress on standard error, and nothing when that is no terminal."""
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


@contextmanager
def _incumbents(problem: Problem[Any]) -> Iterator[Callable[[Result[Any]], None]]:
    """Show the best value and bound so far while a solver runs."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(f"solving {problem.name}", total=None)

        def report(incumbent: Result[Any]) -> None:
            bound = "-" if incumbent.bound is None else f"{float(incumbent.bound):g}"
            found = f"{problem.unit}: {float(incumbent.objective or 0):g}, bound {bound}"
            progress.update(task, description=f"solving {problem.name}  {found}")

        yield report


def _backend(name: str) -> Backend:
    known = {kind.name: kind for kind in backends.SOLVERS}
    if name not in known:
        raise InvalidInput("", "--backend", shorten(name), f"must be one of {', '.join(known)}")
    return known[name]()


def _exit_code(result: Result[Any]) -> Exit:
    if result.solution is not None:
        return Exit.SOLUTION
    return Exit.INFEASIBLE if result.status is Status.INFEASIBLE else Exit.NO_SOLUTION


def _print_result(problem: Problem[Any], result: Result[Any]) -> None:
    gap = "-" if result.gap is None else percent(result.gap)
    lines = {
        "method": result.method + (f" ({result.solver})" if result.solver else ""),
        "status": f"{result.status.value}, {result.level.value}",
        problem.unit: plain(result.objective),
        "bound": plain(result.bound),
        "gap": gap,
        "stopped by": result.stopped_by.value,
        "time": f"{result.runtime:.3f} s",
    }
    if result.message:
        lines["note"] = result.message
    if result.solution is not None:
        lines |= {name: plain(value) for name, value in problem.measures(result.solution).items()}
    width = max(map(len, lines))
    for name, value in lines.items():
        typer.echo(f"{name:<{width}}  {'-' if value is None else value}")
    if result.solution is not None:
        typer.echo(to_json(result.solution), nl=False)


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


def _catalogue(title: str, entries: dict[str, Any]) -> Table:
    table = Table(title, "what it is", box=box.SIMPLE_HEAD)
    for name, entry in entries.items():
        table.add_row(name, (inspect.getdoc(entry) or "").partition("\n")[0])
    return table


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(str(output), "", "", f"cannot be written: {error.strerror}") from None


def _print(table: Table) -> None:
    console = Console()
    console = console if console.is_terminal else Console(width=170)
    console.print(table)
