"""Agents: the settings by which adaptive jobs measure and tune themselves."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen


class Agents(Frozen):
    """Settings shared by the agents of all adaptive jobs.

    Attributes
    ----------
    interval
        Seconds between successive tunings of a job's batch size, counted from the start of the scenario's
        clock. A job also tunes its batch size at the end of each epoch.
    whole_seconds
        Whether the time from the last tuning to the end of an epoch is rounded to whole seconds, at least one,
        as in the simulator of Pollux.
    progress
        The measure of progress. ``statistical``: a sample counts less in a larger batch, and all trainings of a
        model need the same progress. ``samples``: all samples count alike, and a training needs as many samples
        as with its user's batch size, as in the simulator of Ares.
    memory
        The largest local batch that fits on a GPU. ``model``: the limit of the application. ``placement``: the
        largest batch measured in the placement, as in the simulator of Sia.
    tolerance
        Tolerance of the throughput fit (`gsopt.scenario.adaptive.fitting.fit`); None for the tolerance of
        Pollux.
    """

    interval: Annotated[int, Field(ge=1, le=10**9)] = 60
    whole_seconds: bool = True
    progress: Literal["statistical", "samples"] = "statistical"
    memory: Literal["model", "placement"] = "model"
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
