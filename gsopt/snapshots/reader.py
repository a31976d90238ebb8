"""Reader: a function that reads snapshots from the output of schedulers or from files written by gsopt."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import validated
from gsopt.snapshots.documents import parse, text_of
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.reader import snapshot_of as kubernetes_snapshot
from gsopt.snapshots.slurm.reader import LISTS, is_conf
from gsopt.snapshots.slurm.reader import snapshot_of as slurm_snapshot
from gsopt.snapshots.snapshot import Snapshot


class Source(StrEnum):
    """A scheduler whose output can be read as a snapshot.

    Examples
    --------
    >>> [each.value for each in Source]
    ['kubernetes', 'slurm']
    """

    KUBERNETES = "kubernetes"
    SLURM = "slurm"


def read_snapshot(
    *paths: str | Path,
    source: str = "",
    levels: Mapping[str, str] | None = None,
    gpu_resources: Sequence[str] = (),
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a snapshot of a running cluster from the output of its scheduler.

    Parameters
    ----------
    paths
        The files, in any order, or a single snapshot file written by gsopt, for which the options are ignored.
    source
        A `Source`. If it is empty, the source is detected from the contents.
    levels, gpu_resources
        The same as in `gsopt.snapshots.kubernetes.read`; not allowed for Slurm.
    time
        Time at which the files were written, as a Unix timestamp; None for the time that the files state.
    notes
        List to which lines are appended, for example about ignored objects, nodes, pods, jobs and requirements.

    Raises
    ------
    InvalidInput
        An option is invalid, or a file cannot be read or has the wrong format. For a file, the message states
        the file, field, value and rule.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import gsopt
    >>> from gsopt.snapshots import Node
    >>> with TemporaryDirectory() as folder:
    ...     gsopt.write(Snapshot(nodes=[Node(name="n1", gpus=8)], gangs=[]), f"{folder}/a.json")
    ...     read_snapshot(f"{folder}/a.json").gpus.total()
    8
    """
    if source and source not in list(Source):
        raise InvalidInput("source", shorten(source), f"must be one of {', '.join(Source)}")
    if not paths:
        raise InvalidInput("files", "", "must be at least one")
    texts = {str(path): text_of(path) for path in paths}
    if len(texts) < len(paths):
        raise InvalidInput("", "", "must not be named twice", source=str(paths[-1]))
    confs = {path: text for path, text in texts.items() if is_conf(text)}
    documents = [each for path, text in texts.items() if path not in confs for each in parse(path, text)]
    if len(texts) == 1 and len(documents) == 1 and "gangs" in documents[0].mapping():
        ((path, text),) = texts.items()
        return validated(Snapshot, path, text)
    if source == Source.SLURM or (not source and (confs or any(map(_is_slurm, documents)))):
        _refuse_for_slurm(levels, gpu_resources)
        return slurm_snapshot(documents, confs, time=time, notes=notes)
    if confs:
        raise InvalidInput("", "", "must be output of kubectl, not a topology.conf", source=next(iter(confs)))
    return kubernetes_snapshot(documents, levels=levels, gpu_resources=gpu_resources, time=time, notes=notes)


def _is_slurm(document: Field) -> bool:
    """Check whether a document is output of Slurm.

    Unlike Slurm's documents, those of Kubernetes state a kind.
    """
    keys = document.mapping()
    return "kind" not in keys and any(name in keys for name in LISTS)


def _refuse_for_slurm(levels: Mapping[str, str] | None, gpu_resources: Sequence[str]) -> None:
    if levels is not None:
        raise InvalidInput("levels", shorten(dict(levels)), "must not be given for Slurm: give a topology.conf")
    if gpu_resources:
        raise InvalidInput("gpu_resources", shorten(list(gpu_resources)), "must not be given for Slurm")
