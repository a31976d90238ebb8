"""Provenance: the runs that computed the cells of a study, with their dates, machines and versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StudyRun:
    """One call to `gsopt.studies.run`, as recorded in the study's folder."""

    begun: str  # in ISO 8601 and UTC
    version: str  # of gsopt
    python: str
    machine: str  # as it describes itself
    cpus: int | None  # None if unknown
    workers: int  # number of cells that could be computed at the same time
    cells: int  # number of cells in the study that this run computed
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def packages(self) -> Mapping[str, str]:
        """Versions of gsopt, Python and packages, keyed by name; empty for runs by early versions of gsopt."""
        found: Mapping[str, str] = self.details.get("packages", {})
        return found


@dataclass(frozen=True)
class ReadFile:
    """A file from which instances of a study were read."""

    path: str  # below GSOPT_DATA, in gsopt's own packages, or as the study names it
    digest: str  # SHA-256 of its content when it was read
