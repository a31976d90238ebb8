"""``gsopt compare``: a command that compares the methods for a decision, or policies on a trace."""

import json
from typing import Annotated, Any

import typer

from gsopt.cli.arguments import (
    BoundEvaluations,
    Busiest,
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Json,
    Overheads,
    Reader,
    RoundLength,
    SettingOption,
    ShareLimit,
    TimeLimit,
    Window,
)
from gsopt.cli.exits import Exit
from gsopt.cli.instances import compare_instances, read_instances
from gsopt.cli.output import print_policies, print_table
from gsopt.cli.traces import find_policies, read_scenario, read_setting, replay_policies
from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation.compare import COMPARE_TIME_LIMIT


def compare(
    what: Annotated[list[str], typer.Argument(help="decisions, suites, instance names or files; or a trace")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "--policy",
            help="a method or policy, such as greedy, tiresias:promote=2 or module:function; may be repeated; "
            "default: all",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="seed of methods that draw at random")] = 0,
    summary: Annotated[bool, typer.Option("--summary", help="print one line per suite and method")] = False,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    window: Window = None,
    busiest: Busiest = None,
    setting: SettingOption = None,
    overheads: Overheads = None,
    share_limit: ShareLimit = None,
    capacity_changes: CapacityChanges = None,
    round_length: RoundLength = None,
    bound_evaluations: BoundEvaluations = None,
    as_json: Json = False,
) -> None:
    """Compare methods with the optimum, or policies on a trace.

    To compare methods, name decisions, suites or instances. To compare policies, name
    one trace with its --reader, or a workload file, and add --gpus, --cluster or
    --setting.
    """
    physics: dict[str, Any] = {
        "gpus": gpus,
        "cluster": cluster,
        "overheads": overheads,
        "share_limit": share_limit,
        "capacity_changes": capacity_changes,
        "round_length": round_length,
    }
    if any(
        given is not None for given in (reader, window, busiest, setting, bound_evaluations, *physics.values())
    ):
        if len(what) > 1:
            raise InvalidInput("compare", shorten(what[1]), "policies are compared on one trace at a time")
        policies = find_policies(method, "--method", seed)
        around = read_setting(setting, **physics)
        scenario = read_scenario(what[0], reader, around, window=window, busiest=busiest)
        replays = replay_policies(
            scenario,
            policies,
            around.round_length,
            bound_evaluations=bound_evaluations,
            time_limit=time_limit,
        )
        print_policies([replay.metrics for replay in replays], as_json=as_json)
        if len(replays) < len(policies):
            raise typer.Exit(Exit.FAILED)
        return
    limit = COMPARE_TIME_LIMIT if time_limit is None else time_limit
    comparison = compare_instances(read_instances(what), method, limit, seed)
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in comparison], indent=1))
    else:
        print_table(comparison.summary() if summary else comparison.table())
    if comparison.interrupted:
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED)
    if any(row.failed for row in comparison):
        raise typer.Exit(Exit.FAILED)
