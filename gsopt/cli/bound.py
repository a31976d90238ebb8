"""``gsopt bound``: a command that writes a certificate of a lower bound on the mean JCT for a trace."""

from pathlib import Path
from typing import Annotated

import typer

from gsopt.cli.arguments import (
    Busiest,
    CapacityChanges,
    ClusterFile,
    GpuCount,
    Reader,
    RoundLength,
    SettingOption,
    Trace,
    Window,
    time_limit_option,
)
from gsopt.cli.output import say
from gsopt.cli.traces import read_scenario, read_setting
from gsopt.core.files import require_writable, write


def bound(
    trace: Trace,
    output: Annotated[Path, typer.Option("-o", "--output", help="file of the certificate")],
    reader: Reader = None,
    gpus: GpuCount = None,
    cluster: ClusterFile = None,
    setting: SettingOption = None,
    capacity_changes: CapacityChanges = None,
    round_length: RoundLength = None,
    window: Window = None,
    busiest: Busiest = None,
    evaluations: Annotated[
        int | None, typer.Option(help="number of price vectors to try; default: by the number of cells")
    ] = None,
    gangs: Annotated[int, typer.Option(help="number of large gangs around which jobs pay surcharges")] = 0,
    time_limit: Annotated[
        float | None, time_limit_option("time for trying prices, such as 30s or 2min; default: none")
    ] = None,
) -> None:
    """Certify a lower bound on the mean JCT for a trace.

    The certificate contains prices of GPU time. gsopt verify checks what they prove, independently of the code
    that found them. With a round length, the bound holds only for schedules in rounds of that length.
    """
    from gsopt.schedule.bounds.certify import certify

    require_writable(output)
    given = read_setting(
        setting, gpus=gpus, cluster=cluster, capacity_changes=capacity_changes, round_length=round_length
    )
    scenario = read_scenario(trace, reader, given, window=window, busiest=busiest)
    certificate = certify(
        scenario,
        evaluations=evaluations,
        seconds=time_limit,
        round_length=given.round_length,
        gangs=gangs,
    )
    write(certificate, output)
    say(f"{output}: {certificate.jobs:,} jobs, mean JCT of at least {certificate.mean_jct:,} s")
