"""``gsopt demo``: a command that shows at a glance how far heuristics are from the optimum."""

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import Annotated, Any

import typer

from gsopt.cli.arguments import Words
from gsopt.cli.exits import Exit
from gsopt.cli.glance import Glance, glances, proofs
from gsopt.cli.instances import compare_instances
from gsopt.cli.output import print_policies, print_table, say
from gsopt.cli.traces import find_policies, replay_policies
from gsopt.core.problem import Problem
from gsopt.evaluation import catalogue
from gsopt.evaluation.comparison import Comparison
from gsopt.evaluation.tables import PAGE, Column, lay_out
from gsopt.problems.reader import problem_types
from gsopt.scenario.scenario import Scenario

#: Time limit of each method on each instance, in seconds.
_TIME_LIMIT = 5.0

#: Maximum number of instances per decision, evenly spaced in its suite: if all decisions are shown, and if
#: decisions are chosen.
_FEW, _MANY = 6, 40

#: Suites in order of preference. The first one that a decision has is shown.
_SUITES = ("production", "small")

#: Plain words for units, which need no explanation.
_PLAIN = {
    "GPU-seconds": "GPU time left",
    "effective GPUs": "GPUs kept busy",
    "fastest throughputs, weighted by place": "training speed",
    "goodputs to the power -0.5": "training speed",
    "mean speed-up to the power -1": "training speed",
    "preemptions": "jobs preempted",
    "seconds of completion time": "completion time",
    "seconds of completion time saved": "time saved",
    "seconds of mean job completion time": "completion time",
    "seconds saved": "run time saved",
    "servers": "servers in use",
}

#: Heuristics that suit the instances of a decision. The others decide in rounds, share GPUs or consider the
#: network, so a few jobs on identical GPUs would be no fair test of them.
_MADE_FOR = {
    "scheduling": ("marginal", "efq", "elastic_srtf", "elastic_las", "equal_share", "srtf", "las", "fifo")
}

#: Size and load of a generated day on which jobs have to wait, and the policies that are shown on it.
_GPUS, _JOBS, _LOAD = 32, 200, 1.0
_POLICIES = ("fifo", "srsf", "las")

#: The largest gap that counts as rounding, and the smallest gap that a percentage with one decimal can show.
_ROUNDING, _LEAST_SHOWN = 1e-9, 0.0005

_HOUR = 3600

_HEADS = (
    ("", "", "mean", "worst", "exact", "exact"),
    ("decision: what counts", "best heuristic", "gap", "gap", "optima", "time"),
)

_INTRODUCTION = """\
How far are heuristics from the optimum? A gap is how much worse a value is than
the best proven bound, relative to that bound; the optimum itself has 0 %.
"""

_EXPLANATION = f"""\
best: solves most instances, and of those that solve as many has the least gap
exact: optima proven on up to {_FEW} instances in {_TIME_LIMIT:.0f} s each, and its median time"""


def demo(
    word: Words = None,
    whole: Annotated[
        bool, typer.Option("--all", help="every method on every instance, and on real data if available")
    ] = False,
) -> None:
    """Show how far heuristics are from the proven optimum.

    A gap is the relative distance between a value and the best proven bound. Policies are compared with a lower
    bound on the mean job completion time.
    """
    decisions = word or sorted(problem_types())
    for decision in decisions:
        catalogue.heuristics(decision)  # refused before anything is shown
    if whole:
        _show_grid(decisions, policies=not word)
    elif word:
        _show_details(decisions)
    else:
        _show_glance(decisions)


def _show_grid(decisions: Sequence[str], *, policies: bool) -> None:
    """Show the results of every method on every instance of each decision, and of policies on request."""
    for word in decisions:
        committed = [catalogue.load(name) for name in catalogue.names(f"{word}/")]
        real = catalogue.real_instances(word)
        origin = f"{len(real)} from real data" if real else "none from real data (GSOPT_DATA names no folder)"
        say(f"\n{word}: {len(committed)} committed instances, {origin}")
        comparison = compare_instances([*committed, *real], None, _TIME_LIMIT, 0)
        print_table(comparison.summary())
        if word in _MADE_FOR:
            say(f"made for such instances: {', '.join(_MADE_FOR[word])}; no verdict on other systems")
        _stop_if_interrupted(comparison)
    if policies:
        workload, gpus = catalogue.demo_workload()
        replays = replay_policies(Scenario.of(workload, gpus), find_policies(None, ""))
        say(f"\npolicies: {workload.source}: {len(workload.jobs)} jobs on {gpus} GPUs, times in seconds")
        print_policies([each.metrics for each in replays])


def _show_details(decisions: Sequence[str]) -> None:
    """Show one line per heuristic for each decision."""
    for word in decisions:
        problems, comparison = _compare(word, _MANY)
        _stop_if_interrupted(comparison)
        seen, (proven, time) = glances(comparison), proofs(comparison)
        say(f"{_counted(problems)}, on {len(problems)} instances")
        columns = [
            Column("heuristic", [each.method for each in seen], right=False),
            Column("optimal", [f"{each.optimal} of {each.instances}" for each in seen]),
            *_gaps(seen),
        ]
        print_table(lay_out(columns))
        for note in (note for each in seen for note in each.notes()):
            say(note)
        say(f"exact proves {proven} optima, in {time} at the median\n")


def _show_glance(decisions: Sequence[str]) -> None:
    """Show one line for each decision, and the policies."""
    say(_INTRODUCTION)
    lines: list[tuple[str, ...]] = list(_HEADS)
    notes: list[str] = []
    for word in decisions:
        problems, comparison = _compare(word, _FEW)
        if comparison.interrupted:
            break
        best = glances(comparison)[0]
        lines.append(
            (_counted(problems), best.method, *map(_percent, (best.mean, best.worst)), *proofs(comparison))
        )
        notes += [f"{word}: {note}" for note in best.notes()]
    say("\n".join(_fit(lines)))
    _stop_if_interrupted(comparison)
    say(f"\n{_EXPLANATION}")
    if notes:
        say(fill("; ".join(notes), PAGE))
    _show_policies()
    say("\nmore: gsopt demo DECISION shows all its heuristics, gsopt demo --all everything")


def _fit(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of cells as text that fits on a page: figures are right-aligned, long names truncated."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    first = PAGE - sum(widths[1:]) - len(widths[1:])
    shown = []
    for counted, heuristic, *figures in lines:
        cells = [f"{figure:>{width}}" for figure, width in zip(figures, widths[2:], strict=True)]
        shown.append(" ".join([f"{counted[:first]:<{first}}", f"{heuristic:<{widths[1]}}", *cells]))
    return shown


def _compare(word: str, most: int) -> tuple[list[Problem[Any]], Comparison]:
    """Compare the heuristics of a decision with the exact method."""
    problems = _instances(word, most)
    heuristics = _MADE_FOR.get(word) or catalogue.heuristics(word)
    return problems, compare_instances(problems, [*heuristics, "exact"], _TIME_LIMIT, 0)


def _instances(word: str, most: int) -> list[Problem[Any]]:
    """Return at most `most` evenly spaced instances of the suite to show, all in its most common unit."""
    suites = (catalogue.names(f"{word}/{suite}/") for suite in _SUITES)
    found = [catalogue.load(name) for name in next(filter(None, suites))]
    [(unit, _)] = Counter(problem.unit for problem in found).most_common(1)
    alike = [problem for problem in found if problem.unit == unit]
    drawn = min(most, len(alike))
    return [alike[number * len(alike) // drawn] for number in range(drawn)]


def _counted(problems: Sequence[Problem[Any]]) -> str:
    unit = problems[0].unit
    return f"{problems[0].word}: {_PLAIN.get(unit, unit)}"


def _gaps(seen: Sequence[Glance]) -> list[Column]:
    means, worst = [_percent(each.mean) for each in seen], [_percent(each.worst) for each in seen]
    return [Column("mean gap", means), Column("worst gap", worst)]


def _percent(gap: float | None) -> str:
    if gap is None:
        return "-"
    return "<0.1 %" if _ROUNDING <= gap < _LEAST_SHOWN else f"{100 * gap:,.1f} %"


def _show_policies() -> None:
    workload = catalogue.generators("workloads")["poisson"](jobs=_JOBS, gpus=_GPUS, load=_LOAD)
    replays = replay_policies(Scenario.of(workload, _GPUS), find_policies(_POLICIES, ""))
    rows = [each.metrics for each in replays]
    say(f"\npolicies on a generated day, {_JOBS} jobs, {_GPUS} GPUs: mean wait and completion time")
    columns = [
        Column("policy", [row.policy for row in rows], right=False),
        Column("wait", [f"{row.mean_queueing / _HOUR:.1f} h" for row in rows]),
        Column("completion", [f"{row.mean_jct / _HOUR:.1f} h" for row in rows]),
        Column("gap", [_percent(row.gap) for row in rows]),
    ]
    print_table(lay_out(columns))


def _stop_if_interrupted(comparison: Comparison) -> None:
    if comparison.interrupted:
        typer.echo("gsopt: interrupted; the lines above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
