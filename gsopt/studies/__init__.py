"""Studies: grids of instances, methods, parameters and seeds, computed once and stored.

A cell of such a grid is one method, with its options and seed, on one instance. `run` computes the missing
cells, and stores each cell as soon as it is finished. `results` returns the finished cells, which can be shown
as rows, as a data frame, as tables (`report`), as plots (`gsopt.studies.plots`) or as one HTML page
(`write_page`). Methods, policies and instances are looked up in `gsopt.evaluation.catalogue`.

Examples
--------
>>> from tempfile import TemporaryDirectory
>>> study = Study(
...     study="quanta",
...     instances=[{"workload": "poisson", "jobs": 50, "gpus": 8, "load": 2.0, "seed": [1, 2]}],
...     methods=["fifo", {"policy": "las", "quantum": [60, 600]}],
... )
>>> with TemporaryDirectory() as folder:
...     found = run(study, folder, workers=1)
>>> [line[:2] for line in report(found, by=["method"]).lines]
[('fifo', 2), ('las(quantum=60)', 2), ('las(quantum=600)', 2)]
"""

from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.page import write_page
from gsopt.studies.report import Report, report
from gsopt.studies.results import Results, results
from gsopt.studies.rows import CellOutcome, CellRow, CellState
from gsopt.studies.runner import StudyProgress, run
from gsopt.studies.spec import Study, read_study

__all__ = [
    "Cell",
    "CellOutcome",
    "CellRow",
    "CellState",
    "Report",
    "Results",
    "Study",
    "StudyProgress",
    "cells_of",
    "read_study",
    "report",
    "results",
    "run",
    "write_page",
]
