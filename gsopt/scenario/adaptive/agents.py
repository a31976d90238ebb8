"""Agents: how the programs that run adaptive jobs measure and tune them."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen


class Agents(Frozen):
    """What holds for the agents of all adaptive jobs.

    Attributes
    ----------
    interval
        Seconds: at each multiple of them, from where the clock of the scenario begins, a job tunes its batch if
        it does so at all. It does so at the end of each epoch, too.
    whole_seconds
        Whether an epoch ends a whole number of seconds after the job last tuned, the nearest one and at least
        one, as in the simulator of Pollux.
    progress
        What progress is. ``statistical``: a sample counts less the larger the batch is, and all trainings
        have the same length. ``samples``: all samples count alike, and a training has as many as with its
        user's batch. Source of the latter: the simulator of Ares.
    memory
        Which local batches fit on a GPU. ``model``: those up to the most of the application's limits.
        ``placement``: those up to the largest that was measured in the placement, as in the simulator of Sia.
    tolerance
        Of the fit of its throughput, see `gsopt.scenario.adaptive.fitting.fit`; None for that of Pollux.
    """

    interval: Annotated[int, Field(ge=1, le=10**9)] = 60
    whole_seconds: bool = True
    progress: Literal["statistical", "samples"] = "statistical"
    memory: Literal["model", "placement"] = "model"
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
