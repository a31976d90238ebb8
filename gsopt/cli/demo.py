"""``gsopt demo``: what the published methods lose, at a glance."""

from typing import Annotated

import typer

from gsopt import simulation
from gsopt.cli.exits import Exit
from gsopt.cli.instances import compare_instances
from gsopt.cli.output import print_policies, print_table
from gsopt.cli.traces import find_policies, replay_policies
from gsopt.problems.reader import problem_types
from gsopt.studies import catalogue

#: Seconds that the demo gives each method on each instance.
_DEMO_TIME_LIMIT = 5.0

_DEMO_POLICIES = ("fifo", "sjf", "srtf", "las", "tiresias", "efq")


def demo(
    word: Annotated[list[str] | None, typer.Argument(help="decisions; all when left out")] = None,
) -> None:
    """Compare every method on the committed suites, and on real data where they are at hand."""
    for decision in word or sorted(problem_types()):
        committed = [catalogue.load(name) for name in catalogue.names(f"{decision}/")]
        real = catalogue.real_instances(decision)
        origin = f"{len(real)} from real data" if real else "none from real data (GSOPT_DATA names no folder)"
        typer.echo(f"\n{decision}: {len(committed)} committed instances, {origin}")
        comparison = compare_instances([*committed, *real], None, _DEMO_TIME_LIMIT, 0)
        print_table(comparison.summary())
        if comparison.interrupted:
            raise typer.Exit(Exit.INTERRUPTED)
    if not word:
        workload, gpus = catalogue.demo_workload()
        typer.echo(f"\npolicies: {workload.source}: {len(workload.jobs)} jobs on {gpus} GPUs, times in seconds")
        scenario = simulation.scenario_of(workload, gpus)
        replays = replay_policies(scenario, find_policies(_DEMO_POLICIES, ""))
        print_policies([replay.metrics for replay in replays])
