"""GPU types: the types of a job's GPUs, if types affect speeds."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario


class GpuTypes:
    """The GPU types of a scenario, if they affect speeds."""

    def __init__(self, scenario: Scenario) -> None:
        cluster, speed = scenario.cluster, scenario.speed
        counts = speed.knows_types and not cluster.is_plain
        machines = cluster.machines if counts else ()
        self._machine_of = cluster.machine_of
        self._of_machine = [machine.gpu_type for machine in machines]
        slowdowns = {name: speed.gpu_types.get(name, 1.0) for name in self._of_machine}
        self._fastest = min(slowdowns, key=slowdowns.__getitem__, default="")
        self.count = len(slowdowns)

    def of(self, gpus: Sequence[int]) -> Mapping[str, int] | None:
        """Count the given GPUs by type, or return None if types do not affect speeds."""
        if not self.count:
            return None
        of_machine, machine_of = self._of_machine, self._machine_of
        return Counter(of_machine[machine_of[gpu]] for gpu in gpus)

    def best(self, job: Job, mode: str, count: int) -> Mapping[str, int] | None:
        """Return ``{type: count}`` for the fastest GPU type that a job's mode allows.

        The result is None if types do not affect speeds.
        """
        return {job.gpu_type_in(mode) or self._fastest: count} if self.count else None
