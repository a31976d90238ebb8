"""Reader: a snapshot from files of any scheduler that is known, or of our own."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from gsopt.errors import InvalidInput, shorten
from gsopt.files import validated
from gsopt.snapshots import kubernetes
from gsopt.snapshots.documents import parse, text_of
from gsopt.snapshots.snapshot import Snapshot


class Source(StrEnum):
    """What runs a cluster.

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
    """Read a cluster that runs, from what its scheduler prints.

    Parameters
    ----------
    paths
        The files, in any order, or one snapshot of our own.
    source
        A `Source`; found from what is in the files when empty.
    levels, gpu_resources
        As for `gsopt.snapshots.kubernetes.read`.
    time
        When the files were written, in seconds since 1970; the latest time in them when None.
    notes
        Takes a line for everything that was left out or not read.

    Raises
    ------
    InvalidInput
        A file cannot be read or is none of these; one line names file, field, value and rule.

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
        raise InvalidInput("", "source", shorten(source), f"must be one of {', '.join(Source)}")
    if not paths:
        raise InvalidInput("", "files", "", "must be at least one")
    texts = {str(path): text_of(path) for path in paths}
    if len(texts) < len(paths):
        raise InvalidInput(str(paths[-1]), "", "", "must not be named twice")
    documents = [document for path, text in texts.items() for document in parse(path, text)]
    if len(texts) == 1 and len(documents) == 1 and "gangs" in documents[0].mapping():
        ((path, text),) = texts.items()
        return validated(Snapshot, path, text)
    return kubernetes.snapshot_of(documents, levels=levels, gpu_resources=gpu_resources, time=time, notes=notes)
