"""``gsopt verify``: a command that checks what a certificate proves about every schedule of a trace."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import (
    Busiest,
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Reader,
    SettingOption,
    Trace,
    Window,
    time_limit_option,
)
from gsopt.cli.output import say
from gsopt.cli.traces import read_scenario, read_setting
from gsopt.core.files import read_data
from gsopt.schedule.certificate import Certificate


def verify(
    certificate: Annotated[Path, typer.Argument(help="certificate that gsopt bound has written")],
    trace: Trace,
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    setting: SettingOption = None,
    capacity_changes: CapacityChanges = None,
    window: Window = None,
    busiest: Busiest = None,
    time_limit: Annotated[
        float | None, time_limit_option("time for the check, such as 30s or 2min; default: none")
    ] = None,
) -> None:
    """Check a certificate exactly and report what it proves.

    Describe the trace and the cluster by the same options as for gsopt bound.
    """
    from gsopt.schedule.verify import verify as check

    read_data(Certificate, certificate)  # before the trace, which takes longer
    given = read_setting(setting, gpus=gpus, cluster=cluster, capacity_changes=capacity_changes)
    scenario = read_scenario(trace, reader, given, window=window, busiest=busiest)
    say(f"verified: {check(certificate, scenario, time_limit=time_limit)}")
