"""Agents: the settings that control how adaptive jobs measure and tune themselves."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen


class Agents(Frozen):
    """The settings shared by the agents of all adaptive jobs.

    Every adaptive job has an agent, which measures the job and tunes its batch size.

    Attributes
    ----------
    interval
        Interval in seconds. A job tunes its batch size at each multiple of the interval, counted from the
        origin of the scenario's clock, and at the end of each epoch.
    whole_seconds
        Whether epochs end a whole number of seconds (at least one) after the job last started work, moved,
        tuned its batch size or changed its speed, as in the simulator of Pollux.
    progress
        How progress is measured. With ``statistical``, a sample counts less in a larger batch, and all training
        runs of a model need the same progress. With ``samples``, all samples count alike, and a training run
        needs as many samples as with its user's batch size (the initial one if the user chose none), as in the
        simulator of Ares.
    memory
        How the largest local batch size that fits on a GPU is determined. With ``model``, it is the limit of
        the application. With ``placement``, it is the largest one measured in the placement (that limit if none
        was measured), as in the simulator of Sia.
    tolerance
        Tolerance of the throughput fit (`gsopt.scenario.adaptive.fitting.fit`); None for the tolerance of
        Pollux.
    """

    interval: Annotated[int, Field(ge=1, le=10**9)] = 60
    whole_seconds: bool = True
    progress: Literal["statistical", "samples"] = "statistical"
    memory: Literal["model", "placement"] = "model"
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = None
