"""Crux: training jobs of Alibaba's LLM cluster Lingjun in 2023, and the switches of its hosts."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.files import first_error
from gsopt.scenario.cluster import Cluster, Machine, Switch, Tier
from instances.traces.reading import Issue, Reading, content, find, read_whole_table, usable
from instances.traces.rfold import rfold_job, rfold_rows
from instances.traces.selection import Selection, select

#: Paths of the files in the folder of public traces.
FILE = Path("crux_lingjun/crux.csv.gz")
HOSTS = Path("crux_lingjun/topo.csv.gz")

#: Number of GPUs of a host. Source: Crux.
GPUS = 8

#: The columns of the hosts: a hashed address, and the core, aggregation and top-of-rack switch.
_COLUMNS = ("ip", "DSW", "PSW", "ASW")


def crux(path: str | Path, **selection: Unpack[Selection]) -> Reading:
    """Read the trace of Crux: arrival, duration (s) and number of GPUs of every job.

    A row is dropped if a value is missing or breaks a rule (for example, a job without a duration), or if its
    job has been read before. Jobs are named after their numbers in the file, which does not contain their
    models.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not in this form, or an option is out of range.

    Notes
    -----
    J. Cao et al., Crux: GPU-efficient communication scheduling for deep learning training, SIGCOMM 2024.

    Examples
    --------
    >>> crux("no/such/crux.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/crux.csv: cannot be read: No such file or directory
    """
    file = find(path, FILE)
    issues: list[Issue] = []
    table = rfold_rows(file.name, content(file), issues)
    entries = list(usable(table, partial(rfold_job, trace="crux"), issues))
    return select("crux", f"Alibaba Lingjun trace of Crux, {file.name}", entries, issues, **selection)


def crux_cluster(path: str | Path, *, hosts: int | None = None) -> Cluster:
    """Read the cluster of Crux: hosts of eight GPUs below top-of-rack, aggregation and core switches.

    The levels of the switches are rack, pod and network. A top-of-rack switch is identified by its own name
    together with that of its aggregation switch, because the same names occur below every aggregation switch.
    Hosts, racks and pods keep the order in which the file first names them.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    hosts
        Number of hosts to keep, starting with the first ones in the order of the tree; None for all.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not such a table, has a row that cannot be used, or has fewer hosts than
        requested.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or crux_cluster(folder, hosts=128).gpus == 1024
    True
    """
    file = find(path, HOSTS)
    rows = read_whole_table(file, _COLUMNS, lambda row: [row.values[column] for column in _COLUMNS])
    if not rows:
        raise InvalidInput("", "", "must have a host", source=file.name)
    tree: dict[str, dict[str, list[str]]] = {}
    for _, (host, core, pod, rack) in rows:
        if core != rows[0][1][1]:
            rule = f"must be the only core switch, {shorten(rows[0][1][1])}"
            raise InvalidInput("DSW", shorten(core), rule, source=file.name)
        tree.setdefault(pod, {}).setdefault(rack, []).append(host)
    names = [host for racks in tree.values() for members in racks.values() for host in members]
    if hosts is not None:
        require(1 <= hosts <= len(names), "hosts", hosts, f"must be between 1 and {len(names):,}")
    try:
        return Cluster(network=_network(rows[0][1][1], tree, set(names[:hosts])))
    except ValidationError as error:
        raise first_error(file.name, error) from None


def _network(core: str, tree: Mapping[str, Mapping[str, Sequence[str]]], kept: set[str]) -> Switch:
    """Return the root switch, without switches below which no host is kept."""
    pods = []
    for pod, racks in tree.items():
        below = [
            Switch(
                name=f"{pod} {rack}", level=Tier.RACK, machines=[Machine(name=host, gpus=GPUS) for host in own]
            )
            for rack, members in racks.items()
            if (own := [host for host in members if host in kept])
        ]
        if below:
            pods.append(Switch(name=pod, level="pod", switches=below))
    return Switch(name=core, level=Tier.NETWORK, switches=pods)
