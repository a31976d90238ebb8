"""Reader: functions that read clusters from files in any supported format, and write clusters to files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.files import first_error, parse_json, read_text, to_json, validated, write_text
from gsopt.core.problem import RuleBroken
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.graph_files import (
    read_graphml,
    read_node_link,
    write_graphml,
    write_node_link,
)
from gsopt.scenario.cluster.formats.netq import read_netq
from gsopt.scenario.cluster.formats.slurm import read_slurm, write_blocks, write_tree
from gsopt.scenario.cluster.formats.topograph import read_topograph, write_topograph


class Format(StrEnum):
    """A file format for clusters.

    Examples
    --------
    >>> [each.value for each in Format]
    ['gsopt', 'node-link', 'graphml', 'slurm-tree', 'slurm-block', 'topograph', 'netq']
    """

    GSOPT = "gsopt"
    NODE_LINK = "node-link"
    GRAPHML = "graphml"
    SLURM_TREE = "slurm-tree"
    SLURM_BLOCK = "slurm-block"
    TOPOGRAPH = "topograph"
    NETQ = "netq"


#: Formats implied by file extensions when a cluster is written.
_ENDINGS = {
    ".json": Format.GSOPT,
    ".graphml": Format.GRAPHML,
    ".xml": Format.GRAPHML,
    ".conf": Format.SLURM_TREE,
    ".yaml": Format.TOPOGRAPH,
    ".yml": Format.TOPOGRAPH,
}


def _read_own(source: str, text: str, told: Told, _notes: list[str]) -> Cluster:
    told.refuse(source, "gpus", "levels")
    parse_json(source, text)
    return validated(Cluster, source, text)


_READERS: Mapping[Format, Callable[[str, str, Told, list[str]], Cluster]] = {
    Format.GSOPT: _read_own,
    Format.NODE_LINK: read_node_link,
    Format.GRAPHML: read_graphml,
    Format.SLURM_TREE: read_slurm,
    Format.SLURM_BLOCK: read_slurm,
    Format.TOPOGRAPH: read_topograph,
    Format.NETQ: read_netq,
}
_WRITERS: Mapping[Format, Callable[[Cluster, list[str]], str]] = {
    Format.GSOPT: lambda cluster, _notes: to_json(cluster),
    Format.NODE_LINK: write_node_link,
    Format.GRAPHML: write_graphml,
    Format.SLURM_TREE: write_tree,
    Format.SLURM_BLOCK: write_blocks,
    Format.TOPOGRAPH: write_topograph,
}

_CONF = re.compile(r"^\s*(Switch|Block|Node)(Name|Sizes)\s*=", re.IGNORECASE | re.MULTILINE)
_MODEL = re.compile(r"^(switches|blocks)\s*:", re.MULTILINE)
_BYTE_ORDER_MARK = "\ufeff"


def read_cluster(
    path: str | Path,
    *,
    format: str = "",  # noqa: A002 - what everybody calls it
    gpus: int | Mapping[str, int] | None = None,
    levels: Sequence[str] | None = None,
    notes: list[str] | None = None,
) -> Cluster:
    """Read a cluster from a file in the format of gsopt or of another program.

    The supported formats are gsopt's JSON, networkx's GraphML and node-link JSON, Slurm's topology.conf with
    switches or blocks, topograph's models, and NetQ's topology graphs.

    Parameters
    ----------
    path
        The file.
    format
        A `Format`; if empty, the format is detected from the content.
    gpus
        Number of GPUs of every machine, or a mapping from machine names to numbers. Required if the file does
        not state them, as is usual for Slurm, topograph and NetQ. Not allowed for the other formats, which
        always state them.
    levels
        Names of all levels of switches below the root, innermost first; by default, rack, pod, zone, region,
        level 5, level 6 and so on. GraphML and node-link JSON state the level of each switch; for them, the
        names are needed only if some level is uncommon and the file has no list of its levels. Not allowed for
        gsopt's JSON.
    notes
        A list to which lines are appended about what is left out, such as machines without GPUs.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not a cluster, or an option does not fit the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("a.json", "a.graphml"):
    ...         write_cluster(cluster, f"{folder}/{name}")
    ...         print(read_cluster(f"{folder}/{name}") == cluster)
    ...     _ = Path(folder, "topology.conf").write_text("SwitchName=s1 Nodes=n[01-16]")
    ...     read_cluster(f"{folder}/topology.conf", gpus=8).gpus
    True
    True
    128
    """
    source, text = str(path), read_text(path).removeprefix(_BYTE_ORDER_MARK)
    kind = _known(format) if format else _found(source, text)
    if isinstance(levels, str):
        raise InvalidInput("levels", shorten(levels), "must be a list of names")
    with _one_line(source):
        return _READERS[kind](source, text, Told(gpus, levels), [] if notes is None else notes)


def write_cluster(
    cluster: Cluster,
    path: str | Path,
    *,
    format: str = "",  # noqa: A002 - what everybody calls it
    notes: list[str] | None = None,
) -> None:
    """Write a cluster to a file. If this fails, an existing file remains unchanged.

    Parameters
    ----------
    cluster
        The cluster.
    path
        The file.
    format
        A `Format` other than ``netq``. If empty, the file's extension determines it: gsopt's JSON (``.json``),
        GraphML (``.graphml`` or ``.xml``), Slurm's switches (``.conf``) or topograph (``.yaml`` or ``.yml``).
    notes
        A list to which lines are appended about what the format cannot represent.

    Raises
    ------
    InvalidInput
        The format or extension is unknown, the format cannot represent the cluster, or the file cannot be
        written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_cluster(Cluster.uniform(machines=2, gpus=8), f"{folder}/a.conf", notes=(notes := []))
    ...     print(Path(folder, "a.conf").read_text(), *notes)
    SwitchName=rack-0 Nodes=machine-0.[0-1]
    # NodeName=machine-0.[0-1] Gres=gpu:8
     names with spaces or signs are written without: 'rack-0' and 2 more
    """
    kind = _known(format) if format else _ENDINGS.get(Path(path).suffix.lower())
    if kind is None:
        raise InvalidInput(
            "", "", f"must end in {', '.join(_ENDINGS)}, or have its format stated", source=str(path)
        )
    if kind not in _WRITERS:
        raise InvalidInput("format", kind, f"must be one of {', '.join(_WRITERS)}", source=str(path))
    with _one_line(str(path)):
        text = _WRITERS[kind](cluster, [] if notes is None else notes)
    write_text(path, text)


def _known(name: str) -> Format:
    require_one_of("format", name, Format)
    return Format(name)


def _found(source: str, text: str) -> Format:
    """Recognize the format from the content of a file."""
    begin = text.lstrip()[:1]
    if begin == "<":
        return Format.GRAPHML
    if begin == "[":
        return Format.NETQ
    if begin == "{":
        return Format.NODE_LINK if "nodes" in parse_json(source, text) else Format.GSOPT
    if _CONF.search(text):
        return Format.SLURM_TREE
    if _MODEL.search(text):
        return Format.TOPOGRAPH
    rule = "must be a cluster: JSON, GraphML, topology.conf of Slurm, or YAML of topograph"
    raise InvalidInput("", shorten(text), rule, source=source)


@contextmanager
def _one_line(source: str) -> Iterator[None]:
    """Add the name of the file to every error about its content."""
    try:
        yield
    except InvalidInput as error:
        if error.source:
            raise
        raise InvalidInput(error.field, error.value, error.rule, source=source) from None
    except RuleBroken as error:
        raise InvalidInput(error.field, shorten(error.value), error.rule, source=source) from None
    except ValidationError as error:
        raise first_error(source, error) from None
