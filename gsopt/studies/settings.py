"""Setting: the cluster and physics of a simulation, as stated in a study file."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.core.problem import Gpus, RuleBroken
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats import read_cluster
from gsopt.scenario.job import LATEST, Workload
from gsopt.scenario.scenario import Physics, Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation.interval import SHORTEST_ROUND


class Setting(Physics):
    """The parts of a `Scenario` other than its workload, and the times at which the policy decides.

    Attributes
    ----------
    gpus
        Number of GPUs of a plain cluster. In a study file that names a cluster file, it is instead the number
        of GPUs of each machine, which must be given if the cluster file does not state it.
    cluster
        The cluster, instead of `gpus`. In a study file, it may be the name of a cluster file, or a shape such
        as ``"4x8x8"`` for four equal racks of eight machines with eight GPUs each.
    round_length
        Seconds between decisions. If None, the policy decides at every event.
    """

    gpus: Gpus | None = None
    cluster: Cluster | None = None
    round_length: Annotated[float, Field(ge=SHORTEST_ROUND, le=LATEST)] | None = None

    @model_validator(mode="after")
    def _one_cluster(self) -> "Setting":
        if (self.gpus is None) is (self.cluster is None):
            raise RuleBroken("gpus", self.gpus, "give either the number of GPUs or a cluster")
        return self

    @property
    def machines(self) -> Cluster:
        """The given cluster or, if `gpus` is given instead, a plain cluster with this number of GPUs."""
        return self.cluster or Cluster.plain(self.gpus or 1)

    def scenario(self, workload: Workload) -> Scenario:
        """Return the scenario of a workload in this setting.

        Raise `InvalidInput` if the two do not fit together, for example because a job needs too many GPUs.
        """
        physics = {name: getattr(self, name) for name in Physics.model_fields}
        return Scenario.of(workload, self.machines, **physics)

    def as_dict(self) -> dict[str, Any]:
        """Return all values that differ from their defaults, as plain JSON types."""
        return self.model_dump(mode="json", exclude_defaults=True)


#: Published slowdowns, keyed by name: those of the network tiers in Table I of Dally.
SPEEDS = {"dally": Speed(tiers=TIER_PENALTIES)}

#: The keys of an instance that belong to its setting.
KEYS = tuple(Setting.model_fields)


def setting_of(values: Mapping[str, Any], notes: list[str] | None = None) -> Setting:
    """Read the setting from the keys of an instance in a study file.

    ``cluster`` may be a file, or the shape of equal racks such as ``4x8x8``. If a cluster file does not state
    the number of GPUs per machine, ``gpus`` is this number. ``speed`` may be a key of `SPEEDS`. For every item
    in a cluster file that is ignored, a line is appended to `notes`.
    """
    chosen = {key: values[key] for key in KEYS if key in values}
    if isinstance(text := chosen.get("cluster"), str):
        made = _cluster_of(text, chosen, notes)
        chosen["cluster"] = made.model_dump(mode="json")
    if isinstance(name := chosen.get("speed"), str):
        if name not in SPEEDS:
            raise InvalidInput("speed", shorten(name), f"must be {' or '.join(SPEEDS)}, or slowdowns")
        chosen["speed"] = SPEEDS[name].model_dump(mode="json")
    try:
        return Setting.model_validate_json(json.dumps(chosen))
    except ValidationError as error:
        raise first_error("", error) from None


def _cluster_of(text: str, chosen: dict[str, Any], notes: list[str] | None) -> Cluster:
    """Read the cluster from a file, or create it from a shape if there is no file of that name."""
    if re.fullmatch(r"[0-9]+(x[0-9]+)*", text) and not Path(text).exists():
        return Cluster.from_shape(text)
    return read_cluster(text, gpus=chosen.pop("gpus", None), notes=notes)
