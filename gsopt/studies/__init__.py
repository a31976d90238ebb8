"""Studies: a grid of instances, methods, parameters and seeds, computed once and kept.

`run` computes what is missing and stores each finished cell at once; `results` gives what is there, as rows, as
a data frame, as tables (`report`) and as plots (`gsopt.studies.plots`). This is a roof package: through
`gsopt.study` it reaches methods, policies and instances.
"""

from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.outcome import Outcome, State
from gsopt.studies.report import Report, report
from gsopt.studies.results import Results, results
from gsopt.studies.rows import Row
from gsopt.studies.runner import Progress, run
from gsopt.studies.spec import Study, read_study

__all__ = [
    "Cell",
    "Outcome",
    "Progress",
    "Report",
    "Results",
    "Row",
    "State",
    "Study",
    "cells_of",
    "read_study",
    "report",
    "results",
    "run",
]
