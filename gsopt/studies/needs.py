"""Needs: the files and modules that a machine must have, in addition to gsopt, to compute cells."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from gsopt.core.errors import InvalidInput
from gsopt.evaluation import catalogue
from gsopt.studies.cells import Cell
from gsopt.studies.instance import Definition


@dataclass(frozen=True)
class Needs:
    """The files and modules that cells need."""

    files: tuple[str, ...] = ()  # files and folders, as the study names them
    data: bool = False  # whether traces are read from the folder that GSOPT_DATA names
    modules: tuple[tuple[str, str], ...] = ()  # modules of methods, with hashes of their sources

    def refuse_missing(self) -> None:
        """Raise `InvalidInput` if a file, the folder of traces or a module is missing, or if a module differs.

        A module differs if its source file is not the same as where the study was started.
        """
        for file in self.files:
            if not Path(file).exists():
                raise InvalidInput("", "", "is not there", source=file)
        if self.data and catalogue.data_folder() is None:
            raise InvalidInput("GSOPT_DATA", "", "must name the folder of the traces")
        for module, wanted in self.modules:
            found = _source_of(module)
            if not found:
                raise InvalidInput("module", module, "must be installed, or be in the working directory")
            if found != wanted:
                raise InvalidInput("module", module, "must be the same file as where the study was started")


def needs_of(cells: Iterable[Cell]) -> Needs:
    """Return the files and modules that cells need."""
    given = list(cells)
    files = {file for cell in given for file in _files_of(cell.instance)}
    data = any(_from_data_folder(cell.instance) for cell in given)
    modules = {cell.method.partition(":")[0] for cell in given if catalogue.is_path(cell.method)}
    return Needs(tuple(sorted(files)), data, tuple((name, _source_of(name)) for name in sorted(modules)))


def _files_of(definition: Definition) -> list[str]:
    """Return the files and folders from which an instance is read; none for committed instances."""
    named = [definition.get("path")]
    if "digest" in definition:
        named += [
            name for name in map(definition.get, ("instance", "workload")) if name and Path(name).is_file()
        ]
    return [name for name in named if name]


def _from_data_folder(definition: Definition) -> bool:
    wanted = "reader" in definition or bool(definition.get("real"))
    return wanted and definition["path"] is None


def _source_of(module: str) -> str:
    """Return a hash of a module's source file, or an empty string if there is no such file."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # a package above it is missing, or is no package
        return ""
    if spec is None or spec.origin is None:
        return ""
    origin = Path(spec.origin)
    return sha256(origin.read_bytes()).hexdigest()[:12] if origin.is_file() else spec.origin
