"""GPU types: which types the GPUs of a job have, as far as that makes it slower."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario


class GpuTypes:
    """The types of the GPUs of a scenario, where they make a difference."""

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
        """Count GPUs, given by number, by their types; None where these make no difference."""
        if not self.count:
            return None
        of_machine, machine_of = self._of_machine, self._machine_of
        return Counter(of_machine[machine_of[gpu]] for gpu in gpus)

    def best(self, job: Job, mode: str, count: int) -> Mapping[str, int] | None:
        """Return so many GPUs of the fastest type on which a job may run in a mode; None as above."""
        return {job.gpu_type_in(mode) or self._fastest: count} if self.count else None
