"""Agents: how the programs that run adaptive jobs measure and tune them."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen


class Agents(Frozen):
    """Settings shared by the agents of all adaptive jobs.

    Attributes
    ----------
    interval
        Seconds between two tunings of a job's batch, if it tunes it at all: at each multiple of them from the
        start of the scenario's clock. It also tunes its batch at the end of each epoch.
    whole_seconds
        Whether an epoch ends a whole number of seconds after the job last tuned, the nearest one and at least
        one, as in the simulator of Pollux.
    progress
        What counts as progress. ``statistical``: a sample counts less the larger the batch is, and all
        trainings have the same length. ``samples``: all samples count alike, and a training needs as many as
        with its user's batch. Source of the latter: the simulator of Ares.
    memory
        Which local batches fit on a GPU. ``model``: those up to the largest of the application's limits.
        ``placement``: those up to the largest measured in the placement, as in the simulator of Sia.
    tolerance
        Tolerance of the throughput fit, see `gsopt.scenario.adaptive.fitting.fit`; None for that of Pollux.
    """

    interval: Annotated[int, Field(ge=1, le=10**9)] = 60
    whole_seconds: bool = True
    progress: Literal["statistical", "samples"] = "statistical"
    memory: Literal["model", "placement"] = "model"
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
