"""``gsopt demo``: what the published methods lose, at a glance."""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from gsopt.cli.arguments import Words
from gsopt.cli.exits import Exit
from gsopt.cli.glance import Glance, glances, heads, lines_of, proofs
from gsopt.cli.instances import compare_instances
from gsopt.cli.output import new_console, print_policies, print_table, say
from gsopt.cli.traces import find_policies, replay_policies
from gsopt.core.problem import Problem, Sense
from gsopt.evaluation import catalogue
from gsopt.evaluation.comparison import Comparison
from gsopt.problems.reader import problem_types
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.figures import Record

#: Seconds for each method on each instance.
_TIME_LIMIT = 5.0

#: Instances of a decision, drawn evenly from more.
_MOST_INSTANCES = 40

#: Lines for the heuristics of a decision; of more, those in the middle share one.
_MOST_LINES = 5

#: Policies that are shown at a glance.
_POLICIES = ("srsf", "efq", "srtf", "las", "tiresias", "sjf", "fifo")

#: Suites that are shown at a glance: the first of these that a decision has.
_SUITES = ("production", "small")

_INDENT = "  "

#: Gap below which a decimal is shown.
_SMALL = 0.05


def demo(
    word: Words = None,
    whole: Annotated[
        bool, typer.Option("--all", help="every method on every instance, on real data where they are at hand")
    ] = False,
) -> None:
    """See how far heuristics are from the proven optimum.

    A gap is what a heuristic loses relative to the optimum; where that is 0 there is none. Failed means that it
    finds no solution. A policy is held against a bound on the mean job completion time of every policy.
    """
    decisions = word or sorted(problem_types())
    for decision in decisions:
        catalogue.heuristics(decision)  # refused before anything is shown
    if whole:
        _show_grid(decisions, policies=not word)
    else:
        _show_glance(new_console(), decisions, policies=not word)


def _show_grid(decisions: Sequence[str], *, policies: bool) -> None:
    """Show every method of every decision on every instance."""
    for word in decisions:
        committed = [catalogue.load(name) for name in catalogue.names(f"{word}/")]
        real = catalogue.real_instances(word)
        origin = f"{len(real)} from real data" if real else "none from real data (GSOPT_DATA names no folder)"
        typer.echo(f"\n{word}: {len(committed)} committed instances, {origin}")
        comparison = compare_instances([*committed, *real], None, _TIME_LIMIT, 0)
        print_table(comparison.summary())
        _stop_if_interrupted(comparison)
    if policies:
        workload, gpus, figures = _replay(None)
        say(f"\npolicies: {workload.source}: {len(workload.jobs)} jobs on {gpus} GPUs, times in seconds")
        print_policies(figures)


def _show_glance(console: Console, decisions: Sequence[str], *, policies: bool) -> None:
    """Show a line for every heuristic, a sentence for every decision, and the policies."""
    _print(console, heads("Heuristic"), "bold")
    seen: list[Glance] = []
    for word in decisions:
        if seen:
            _print(console)
        seen += _show_decision(console, word, most_lines=_MOST_LINES if policies else None)
    if policies:
        _print(console)
        _show_policies(console)
    missing = sum(each.optimal < each.instances for each in seen)
    worst = max((each.worst for each in seen if each.worst is not None), default=0)
    judged = sum(each.instances > 0 for each in seen)
    lost = f"{missing} of {judged} heuristics miss an optimum, by up to {100 * worst:,.0f} %."
    _print(console)
    _print(console, Text.assemble((lost, "bold"), (" More: gsopt demo --all", "dim")))


def _show_decision(console: Console, word: str, most_lines: int | None) -> list[Glance]:
    problems = _instances(word)
    comparison = compare_instances(problems, [*catalogue.heuristics(word), "exact"], _TIME_LIMIT, 0)
    _stop_if_interrupted(comparison)
    seen = glances(comparison)
    _print(console, Text.assemble((word.capitalize(), "bold cyan"), _question(problems)))
    for line in lines_of(seen, most_lines, ascii_only=console.options.ascii_only):
        _print(console, line)
    _print(console, Text(_INDENT + proofs(comparison)), "italic")
    return seen


def _instances(word: str) -> list[Problem[Any]]:
    """Return the instances of the suite that is shown at a glance, those that count the same thing."""
    suites = (catalogue.names(f"{word}/{suite}/") for suite in _SUITES)
    found = [catalogue.load(name) for name in next(filter(None, suites), [])]
    [(unit, _)] = Counter(problem.unit for problem in found).most_common(1) or [("", 0)]
    alike = [problem for problem in found if problem.unit == unit]
    return alike[:: ceil(len(alike) / _MOST_INSTANCES) or 1]


def _question(problems: Sequence[Problem[Any]]) -> str:
    if not problems:
        return ": no instances"
    wanted = "minimise" if problems[0].sense is Sense.MINIMIZE else "maximise"
    return f": {wanted} {problems[0].unit}, on {len(problems)} instances"


def _show_policies(console: Console) -> None:
    workload, gpus, figures = _replay(_POLICIES)
    title = ": mean completion time above a bound that none can beat"
    _print(console, Text.assemble(("Policies", "bold cyan"), title))
    gaps = sorted((row.gap, row.policy) for row in figures if row.gap is not None)
    listed = ", ".join(f"{name} {100 * gap:,.{int(gap < _SMALL)}f} %" for gap, name in gaps)
    _print(console, Text(_INDENT + listed))
    source = workload.source.partition(",")[0]
    _print(console, Text(f"{_INDENT}{len(workload.jobs):,} jobs on {gpus} GPUs; {source}"), "italic")


def _replay(names: Sequence[str] | None) -> tuple[Workload, int, list[Record]]:
    workload, gpus = catalogue.demo_workload()
    replays = replay_policies(Scenario.of(workload, gpus), find_policies(names, ""))
    return workload, gpus, [replay.metrics for replay in replays]


def _stop_if_interrupted(comparison: Comparison) -> None:
    if comparison.interrupted:
        typer.echo("gsopt: interrupted; what stands above is complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED)


def _print(console: Console, text: Text | str = "", style: str = "") -> None:
    console.print(text, style=style or None, no_wrap=True, overflow="ellipsis")
