"""Restarts elsewhere: modelled on an incident where KAI-Scheduler restarted work on 376 GPUs to free 48."""

from collections.abc import Iterator
from typing import NamedTuple

from gsopt.core.problem import About
from gsopt.problems.admission import Admission, Gang, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Rack

#: Number of machines per rack, and number of GPUs per machine.
_RACK, _GPUS = 4, 8


class _Pool(NamedTuple):
    """A pool of machines of one type, with one pending gang and one wide gang that runs there."""

    gpu_type: str
    asked: int
    wide: int

    @property
    def part(self) -> Part:
        """A part with one worker, which needs a whole machine."""
        return Part(needs=Resources(gpu=_GPUS), gpu_type=self.gpu_type)

    def racks(self) -> list[Rack]:
        """Return the racks of the wide gang, and one more rack per machine that the pending gang needs."""
        number = -(-self.wide // _RACK) + self.asked
        return [
            Rack(
                name=f"{self.gpu_type} {rack}",
                machines=[
                    Machine(name=f"{self.gpu_type} {rack}.{each}", gpus=_GPUS, gpu_type=self.gpu_type)
                    for each in range(_RACK)
                ],
            )
            for rack in range(number)
        ]

    def running(self) -> Iterator[Running]:
        """Yield gangs on all but one machine of each additional rack, and the wide gang, which is latest."""
        racks = [[machine.name for machine in rack.machines] for rack in self.racks()]
        others, below = racks[: self.asked], [name for rack in racks[self.asked :] for name in rack]
        singles = [name for rack in others for name in rack[:-1]]
        for number, name in enumerate(singles):
            yield self._run(f"single {name}", [name], number)
        yield self._run(f"wide {self.gpu_type}", below[: self.wide], len(singles))

    def _run(self, name: str, machines: list[str], started: int) -> Running:
        cost = float(_GPUS * len(machines))
        part = self.part.model_copy(update={"count": len(machines)})
        on = [dict.fromkeys(machines, 1)]
        return Running(name=name, parts=[part], on=on, cost=cost, move_cost=cost, started=float(started))


def restarts_elsewhere() -> Admission:
    """Create two pools of machines, each with a pending gang that needs several machines in one rack.

    Each pool has enough free machines, but they are in different racks, so running gangs must move. The cost
    of an eviction or a move is the gang's number of GPUs. Rules that stop the latest gangs first would
    move a gang on 120 GPUs for a pending gang that needs 32, and a gang on 256 GPUs for one that needs 16. It
    is enough to move four gangs on single machines, with 32 GPUs in total.

    Notes
    -----
    The numbers of GPUs are those of the incident described in pull request 1565 of KAI-Scheduler
    (https://github.com/kai-scheduler/KAI-Scheduler/pull/1565): two requests, for a total of 48 GPUs, led to the
    restart of work on 376 GPUs of other machines. One request caused restarts on 3.75 times as many GPUs as it
    asked for, and the other on 16 times as many, so the requests were for 32 and 16 GPUs. The action was
    ``reclaim``, with the solver described in `heuristics.admission.kai`. The text does not say why the free
    GPUs did not suffice, or what else was running. The pools, the racks and the gangs on single machines are
    therefore made up, and queues with their shares are left out.

    Examples
    --------
    >>> from heuristics.admission import greedy, kai_consolidate
    >>> problem = restarts_elsewhere()
    >>> kai_consolidate(problem).objective, greedy(problem).objective
    (376, 32)
    """
    pools = [_Pool("A", asked=4, wide=15), _Pool("B", asked=2, wide=32)]
    return Admission(
        name="restarts-elsewhere",
        about=About(source="restarts_elsewhere"),
        cluster=Cluster(racks=[rack for pool in pools for rack in pool.racks()]),
        running=[gang for pool in pools for gang in pool.running()],
        pending=[
            Gang(
                name=f"new {pool.gpu_type}",
                parts=[pool.part.model_copy(update={"count": pool.asked})],
                within="rack",
                priority=1,
            )
            for pool in pools
        ],
    )
