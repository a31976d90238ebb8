"""Backend: what every solver offers, in the words that all of them share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gsopt.result import Status, StoppedBy
from gsopt.standard_form import StandardForm

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Incumbent:
    """A solution found on the way, in the model's own sense.

    Attributes
    ----------
    values
        One value per column, shape (columns,).
    objective
        Objective value of the solution.
    bound
        Best bound proven so far, or None.
    runtime
        Seconds since the solve began.
    """

    values: Vector
    objective: float
    bound: float | None
    runtime: float


#: Called with each incumbent as it comes; returning True stops the solve and keeps the incumbent.
OnIncumbent = Callable[[Incumbent], Any]


@dataclass(frozen=True)
class Outcome:
    """What a backend found.

    Attributes
    ----------
    status
        Whether there is a solution and whether that is proven (to the asked gap's tolerance).
    values
        One value per column, shape (columns,), or None.
    objective
        Objective value of `values`, or None.
    bound
        Proven bound on the optimum, or None; never infinite.
    stopped_by
        Why the solver stopped.
    solver
        Solver family: ``highs``, ``cp-sat``, ``scip``.
    duals
        One dual value per row, shape (rows,), for linear programs where the solver gives them; else None.
    message
        The solver's own word for how it ended, or what happened to its process.
    log
        The solver's log.
    """

    status: Status
    values: Vector | None
    objective: float | None
    bound: float | None
    stopped_by: StoppedBy
    solver: str
    duals: Vector | None = None
    message: str = ""
    log: str = field(default="", repr=False)


class Backend(Protocol):
    """A solver of standard forms."""

    @property
    def name(self) -> str:
        """Solver family."""
        ...

    def solve(
        self,
        form: StandardForm,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        start: Vector | None = None,
        on_incumbent: OnIncumbent | None = None,
        log: bool = False,
    ) -> Outcome:
        """Solve a standard form.

        Parameters
        ----------
        form
            The model.
        time_limit
            Seconds; None for none.
        gap
            Relative gap at which to stop.
        start
            A known solution, shape (columns,).
        on_incumbent
            Called with each new incumbent.
        log
            Stream the solver's log to standard error while it runs.

        Raises
        ------
        MissingSolver
            The solver is not installed or its version is known to be wrong.
        Unsupported
            The solver cannot take this model (for example continuous columns in CP-SAT).
        BrokenModel
            The model is unbounded.
        """
        ...
