"""Traces: functions that read and simulate the traces given on the command line."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.progress import Progress, TaskID

from gsopt import simulation
from gsopt.cli.exits import Exit
from gsopt.cli.options import read_options, split_name, typed_options
from gsopt.cli.output import print_policies, say
from gsopt.cli.progress import show_progress
from gsopt.core.budget import Budget
from gsopt.core.errors import GsoptError, InvalidInput, kept_running, one_line, require_one_of, shorten
from gsopt.core.files import parse_json, read_data, read_text
from gsopt.core.method import accepts, name_of
from gsopt.core.numbers.span import read_seconds, read_window
from gsopt.evaluation import catalogue
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.fairness import FairTimes
from gsopt.studies.instance import workload_of
from gsopt.studies.settings import KEYS, Setting, setting_of


def read_scenario(
    trace: str,
    reader: str | None,
    setting: Setting,
    *,
    window: str | None = None,
    busiest: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    list_issues: bool = False,
) -> Scenario:
    """Read a trace or a workload file, and combine it with a setting into a scenario."""
    read = None if window is None else read_window(window, field="--window")
    selection = {"window": read, "busiest": busiest, "sample": sample}
    workload = _workload(trace, reader, selection, setting.machines.gpus, seed, list_issues=list_issues)
    scenario = setting.scenario(workload)
    _say_if_network_is_free(scenario)
    return scenario


def _say_if_network_is_free(scenario: Scenario) -> None:
    """Print a note if there are multi-GPU jobs, but the network of the cluster slows none of them down."""
    parallel = [job for job in scenario.workload.jobs if job.gpus > 1]
    tiers = scenario.speed.tiers
    if parallel and not scenario.cluster.is_plain and not any(job.model in tiers for job in parallel):
        reason = "no job's model has a penalty; --setting speed=dally has those of Dally"
        typer.echo(f"the network slows no job down: {reason}", err=True)


def read_setting(
    setting: str | None = None,
    *,
    gpus: int | None = None,
    cluster: Path | None = None,
    overheads: Sequence[str] | None = None,
    share_limit: int | None = None,
    capacity_changes: Sequence[str] | None = None,
    round_length: float | None = None,
) -> Setting:
    """Read the setting, if one is given as a file or as values, and combine it with the other options."""
    given = {
        "gpus": gpus,
        "cluster": None if cluster is None else str(cluster),
        "overheads": _overheads(overheads or ()) or None,
        "share_limit": share_limit,
        "capacity_changes": [_capacity_change(text) for text in capacity_changes or ()] or None,
        "round_length": round_length,
    }
    source, values = _setting_values(setting)
    for key in values.keys() - KEYS:
        raise InvalidInput(key, "", f"must be one of {', '.join(KEYS)}", source=source)
    told = {key: value for key, value in given.items() if value is not None}
    notes: list[str] = []
    try:
        found = setting_of(values | told, notes)
    except InvalidInput as error:
        key = re.split(r"[.\[]", error.field)[0]
        if error.source or (source and key not in told):
            raise InvalidInput(error.field, error.value, error.rule, source=error.source or source) from None
        option = f"{option_of(key)}{error.field.removeprefix(key).replace('..', '.')}"
        raise InvalidInput(option, error.value.removeprefix("None"), error.rule) from None
    for note in notes:
        say(note, err=True)
    return found


def option_of(key: str) -> str:
    """Return the command-line option for a key of a setting."""
    return f"--{key.replace('_', '-')}"


def _setting_values(setting: str | None) -> tuple[str, dict[str, Any]]:
    """Read a setting, and return its source and its values, keyed by name."""
    if setting is None:
        return "", {}
    if "=" in setting and not Path(setting).exists():
        return "--setting", read_options(setting, "--setting")
    return setting, parse_json(setting, read_text(setting))


def _overheads(texts: Sequence[str]) -> dict[str, Any]:
    """Parse overheads such as ``start=4,stop=2``, with or without the name of a model before them."""
    found: dict[str, Any] = {}
    for text in texts:
        model, options = split_name(text if ":" in text else f":{text}", "--overheads")
        if not options:
            rule = "must be such as start=4,stop=2 or bert:resize=73"
            raise InvalidInput("--overheads", shorten(text), rule)
        found[model] = {**found.get(model, {}), **options}
    return found


def _capacity_change(text: str) -> dict[str, Any]:
    """Parse a time and the number of GPUs from that time on, such as ``2h=48``."""
    time, _, gpus = text.partition("=")
    try:
        return {"time": read_seconds(time), "gpus": int(gpus)}
    except ValueError:
        rule = "must be a time and a number of GPUs, such as 7200=48 or 2h=48"
        raise InvalidInput("--capacity-changes", shorten(text), rule) from None


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
                raise InvalidInput(f"--{option}", "", "selects from a trace, whose --reader is not given")
        return read_data(Workload, trace)
    known = catalogue.trace_readers()
    require_one_of("--reader", reader, known)
    reading = known[reader](trace, **selection, max_gpus=max_gpus, seed=seed)
    if not list_issues:
        workload_of(reading, trace)  # refused in this one line
    if reading.issues:
        counts = f"{len(reading.dropped):,} rows dropped, {len(reading.repaired):,} repaired"
        say(f"{trace}: {counts}" + ("" if list_issues else "; gsopt simulate --issues lists them"), err=True)
    for issue in reading.issues if list_issues else ():
        say(str(issue), err=True)
    return workload_of(reading, trace)


def find_policies(chosen: Sequence[str] | None, field: str, seed: int = 0) -> dict[str, simulation.Policy]:
    """Return the chosen policies with their options, keyed by name.

    If none are chosen, return all policies that can be named without a path.

    A seed other than 0 is passed to the policies that use random numbers.
    """
    found: dict[str, simulation.Policy] = {}
    for text in dict.fromkeys(chosen or catalogue.policies()):
        policy = _policy(text, field, seed)
        found[catalogue.free_name(name_of(policy), found)] = policy
    return found


def _policy(text: str, field: str, seed: int) -> simulation.Policy:
    name, given = split_name(text, field)
    policy = catalogue.find_policy(name, field=field)
    options = typed_options(field, name, policy, given)
    if seed and accepts(policy, "seed"):
        options = {"seed": seed, **options}
    return partial(policy, **options) if options else policy


def replay_policies(
    scenario: Scenario,
    policies: dict[str, simulation.Policy],
    round_length: float | None = None,
    *,
    bound_evaluations: int | None = None,
    record: bool = False,
    time_limit: float | None = None,
) -> list[simulation.Replay]:
    """Simulate policies one by one, each with a time limit, while showing progress.

    An error in a policy is reported on standard error, and the other policies continue. If there is only one
    policy, its `GsoptError` is raised instead. After Ctrl-C, the results of the finished policies are printed,
    and the command ends.
    """
    bound = simulation.mean_jct_bound(scenario, evaluations=bound_evaluations, round_length=round_length)
    fair_times = FairTimes.of(scenario)
    jobs = len(scenario.workload.jobs)
    found: list[simulation.Replay] = []
    try:
        with show_progress() as progress:
            for name, policy in policies.items():
                task = progress.add_task(name, total=jobs)
                try:
                    with kept_running(name):
                        run = simulation.replay(
                            scenario,
                            policy,
                            round_length=round_length,
                            record=record,
                            bound=bound,
                            fair_times=fair_times,
                            on_progress=partial(_show_completed, progress, task),
                            budget=Budget(time_limit=time_limit),
                        )
                        found.append(replace(run, metrics=replace(run.metrics, policy=name)))
                except Exception as error:
                    if len(policies) == 1 and isinstance(error, GsoptError):
                        raise
                    say(f"gsopt: {name} failed: {one_line(error)}", err=True)
                progress.update(task, completed=jobs)
    except KeyboardInterrupt:
        print_policies([replay.metrics for replay in found])
        typer.echo("gsopt: interrupted; the rows above are complete", err=True)
        raise typer.Exit(Exit.INTERRUPTED) from None
    return found


def _show_completed(progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done)
