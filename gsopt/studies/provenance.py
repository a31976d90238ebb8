"""Provenance: when, where and with what the cells of a study were computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StudyRun:
    """One call of `gsopt.studies.run`, as the study's folder keeps it.

    Attributes
    ----------
    begun
        When it began, in ISO 8601 and UTC.
    version, python
        Of gsopt and of Python.
    machine
        What the machine says of itself.
    cpus
        Number of its CPUs; None where it does not say.
    workers
        Number of processes that computed cells.
    cells
        Number of the study's results that are of this run.
    details
        Whatever else is kept, such as ``packages``, the versions of `gsopt.studies.installation`.
    """

    begun: str
    version: str
    python: str
    machine: str
    cpus: int | None
    workers: int
    cells: int
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def packages(self) -> Mapping[str, str]:
        """The versions of packages by name; none where an earlier version of gsopt kept none."""
        found: Mapping[str, str] = self.details.get("packages", {})
        return found


@dataclass(frozen=True)
class Source:
    """A file that instances of a study were read from.

    Attributes
    ----------
    path
        Where it lay: below ``GSOPT_DATA``, in gsopt's own packages, or as the study names it.
    digest
        SHA-256 of its content when it was read.
    """

    path: str
    digest: str
