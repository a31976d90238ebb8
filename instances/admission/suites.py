"""Suites: the committed instances of admission, and the program that writes their files.

``python -m instances.admission.suites`` rewrites every file. A file changes only if a generator does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gsopt.problems.admission import Admission, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch
from instances.admission import spaces
from instances.admission.filled import filled
from instances.admission.latest_is_widest import latest_is_widest
from instances.admission.restarts_elsewhere import restarts_elsewhere
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate, renamed


def committed() -> list[Admission]:
    """Generate all committed instances, without the best known results that the files also contain."""
    return [*small(), *known(), *production(), *challenge(), *worst()]


def known() -> list[Admission]:
    """Create the instances of `latest_is_widest` and `restarts_elsewhere`."""
    return [
        renamed(latest_is_widest(), "latest-is-widest"),
        renamed(restarts_elsewhere(), "restarts-elsewhere"),
    ]


def small() -> list[Admission]:
    """Generate instances small enough to be solved by trying every eviction, move and placement."""
    return in_folder("small", _evictions(), _groups(), _moves(), _nodes(), _several(), _corner_cases())


def production() -> list[Admission]:
    """Generate instances with 128 or 160 machines, with or without moves, for one or two pending gangs."""
    made = {
        "philly-rack": filled(machines=128, utilisation=0.98, workers=8, seed=1),
        "philly-machine": filled(
            machines=128, utilisation=0.99, workers=3, gpus=2, within="machine", costs="ones", seed=2
        ),
        "philly-slices": filled(
            machines=128, utilisation=0.98, workers=16, within="", slices=4, slice_within="rack", seed=3
        ),
        "philly-moves": filled(machines=128, utilisation=0.96, workers=6, movable=0.6, seed=4),
        "philly-two": filled(machines=128, utilisation=0.98, workers=4, gangs=2, seed=5),
        "openb-rack": filled(
            workload="openb", machines=128, utilisation=0.99, workers=12, gpus=1, protected=0.2, seed=6
        ),
        "openb-anywhere": filled(
            workload="openb", machines=128, utilisation=0.99, workers=8, gpus=2, within="", seed=7
        ),
        "llm-rack": filled(
            workload="llm", machines=160, utilisation=0.98, workers=8, protected=0.0, costs="ones", seed=8
        ),
        "llm-pod": filled(workload="llm", machines=160, utilisation=0.98, workers=32, within="pod", seed=9),
        "llm-moves": filled(
            workload="llm",
            machines=160,
            utilisation=0.95,
            workers=32,
            within="",
            slices=4,
            movable=0.7,
            seed=10,
        ),
    }
    return in_folder("production", made)


def challenge() -> list[Admission]:
    """Generate instances with moves that the exact method cannot solve to optimality within minutes."""
    made = {
        "openb-moves-096": filled(
            workload="openb", machines=96, utilisation=0.99, workers=4, gpus=4, movable=0.5, seed=2
        ),
        "openb-moves-256": filled(
            workload="openb", machines=256, utilisation=0.99, workers=8, gpus=4, movable=0.8, seed=3
        ),
    }
    return in_folder("challenge", made)


def worst() -> list[Admission]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "greedy": "3:19,29",
        "greedy-unbounded": "3:0,24,29",
        "volcano": "3:2,12,26",
        "volcano-preempt": "3:0,2,26",
        "volcano-preempt-unbounded": "3:0,24,30",
    }
    return in_folder("worst", picked(spaces.tiny(gangs=3, machines=2, gpus=2, costs=2), found))


def _evictions() -> dict[str, Admission]:
    """Generate instances in which machines must be freed by evictions."""
    three = [
        _run("wide", {"m0": 1, "m1": 1}, gpu=4, cost=3.0),
        _run("a", {"m0": 1}, gpu=4, cost=2.0),
        _run("b", {"m1": 1}, gpu=4, cost=2.0),
        _run("c", {"m2": 1}, gpu=8, cost=4.5),
        _run("d", {"m3": 1}, gpu=6, cost=2.5),
    ]
    return {
        "wide-gang-pays-once": _handmade(_racks(2, 2), three, _ask("new", 2, gpu=8, within="rack")),
        "partly-free": _handmade(_racks(2, 2), three, _ask("new", 3, gpu=2)),
        "priorities": _handmade(
            _racks(1, 2),
            [
                _run("same", {"m0": 1}, gpu=8, cost=1.0, priority=1),
                _run("lower", {"m1": 1}, gpu=8, cost=9.0),
            ],
            _ask("new", 1, gpu=8),
        ),
        "protected": _handmade(
            _racks(1, 2),
            [_run("kept", {"m0": 1}, gpu=8, protected=True), _run("dear", {"m1": 1}, gpu=8, cost=1e9)],
            _ask("new", 1, gpu=8),
        ),
        "magnitudes": _handmade(
            _racks(1, 3),
            [
                _run("tiny", {"m0": 1, "m1": 1}, gpu=4, cost=1e-9),
                _run("decimal", {"m0": 1}, gpu=4, cost=1.1),
                _run("huge", {"m1": 1}, gpu=4, cost=1e9),
                _run("also", {"m2": 1}, gpu=8, cost=1.1),
            ],
            _ask("new", 2, gpu=8),
        ),
        "queues": _handmade(
            _racks(1, 2),
            [
                _run("same", {"m0": 1}, gpu=8, cost=2.0, queue="a", started=0.0),
                _run("other", {"m1": 1}, gpu=8, cost=1.0, queue="b", started=1.0),
            ],
            _ask("new", 1, gpu=8, queue="a"),
        ),
        "fewest-gangs": _handmade(
            _racks(2, 1),
            [
                _run("a", {"m0": 1}, gpu=4, cost=0.1),
                _run("b", {"m0": 1}, gpu=4, cost=0.1),
                _run("c", {"m1": 1}, gpu=8, cost=0.2),
            ],
            _ask("new", 1, gpu=8),
            second_objective="gangs",
        ),
    }


def _groups() -> dict[str, Admission]:
    """Generate instances in which gangs must be placed within one group, or in slices."""
    full = [
        _run(f"on {m}", {f"m{m}": 1}, gpu=8, cost=cost) for m, cost in enumerate((5.0, 1.0, 2.0, 2.5, 0.5, 4.0))
    ]
    pods = [
        Switch(
            name=f"p{pod}",
            level="pod",
            switches=[
                Switch(
                    name=f"k{rack}",
                    level="rack",
                    machines=[Machine(name=f"m{m}", gpus=4) for m in (rack * 2, rack * 2 + 1)],
                )
                for rack in (2 * pod, 2 * pod + 1)
            ],
        )
        for pod in range(2)
    ]
    deep = Cluster(network=Switch(name="all", level="network", switches=pods))
    some = [
        _run(f"on {m}", {f"m{m}": 1}, gpu=4, cost=cost)
        for m, cost in enumerate((1.0, 2.0, 1.5, 3.0, 0.5, 9.0, 0.5, 9.0))
    ]
    return {
        "within-a-rack": _handmade(_racks(3, 2), full, _ask("new", 2, gpu=8, within="rack")),
        "anywhere": _handmade(_racks(3, 2), full, _ask("new", 2, gpu=8)),
        "within-a-machine": _handmade(_racks(3, 2), full, _ask("new", 2, gpu=4, within="machine")),
        "slices": _handmade(_racks(3, 2), full, _ask("new", 4, gpu=8, slice=2, slice_within="rack")),
        "slices-within-a-pod": _handmade(
            deep, some, _ask("new", 4, gpu=4, slice=2, slice_within="rack", within="pod")
        ),
        "pairs-on-machines": _handmade(
            deep, some, _ask("new", 4, gpu=2, slice=2, slice_within="machine", within="pod")
        ),
    }


def _moves() -> dict[str, Admission]:
    """Generate instances in which gangs may be moved."""
    return {
        "move-one": _handmade(
            _racks(1, 2),
            [
                _run("a", {"m0": 1}, gpu=4, cost=3.0, move_cost=0.5),
                _run("b", {"m1": 1}, gpu=4, cost=2.0),
            ],
            _ask("new", 1, gpu=8),
        ),
        "move-into-the-room-of-an-eviction": _handmade(
            _racks(1, 3),
            [
                _run("a", {"m0": 1}, gpu=6, cost=9.0, move_cost=0.5),
                _run("b", {"m1": 1}, gpu=6, cost=2.0, priority=3, move_cost=8.0),
                _run("c", {"m2": 1}, gpu=3, cost=1.0),
            ],
            _ask("new", 1, gpu=8),
        ),
        "moves-only": _handmade(
            _racks(2, 2),
            [
                _run("a", {"m0": 1}, gpu=2, protected=True, move_cost=1.0),
                _run("b", {"m1": 1}, gpu=2, protected=True, move_cost=1.0),
                _run("c", {"m2": 1, "m3": 1}, gpu=2, protected=True, move_cost=1.0, within="rack"),
            ],
            _ask("new", 2, gpu=8, within="rack"),
        ),
        "the-mover-keeps-its-level": _handmade(
            _racks(2, 2),
            [
                _run("a", {"m0": 1, "m1": 1}, gpu=4, cost=5.0, move_cost=0.5, within="machine"),
                _run("b", {"m2": 1}, gpu=4, cost=1.0),
                _run("c", {"m3": 1}, gpu=4, cost=1.5),
            ],
            _ask("new", 2, gpu=8, within="rack"),
        ),
    }


def _nodes() -> dict[str, Admission]:
    """Generate instances whose machines have CPUs, GPU types or memory, or are closed."""
    cpus = {f"m{m}": Node(capacity=Resources(gpu=8, cpu=16), used=Resources(cpu=m)) for m in range(3)}
    typed = Cluster(
        racks=[
            Rack(
                name="k",
                machines=[
                    Machine(name="m0", gpus=4, gpu_type="A100", memory=80),
                    Machine(name="m1", gpus=4, gpu_type="A100", memory=40),
                    Machine(name="m2", gpus=4, gpu_type="T4"),
                ],
            )
        ]
    )
    on = [_run(f"on {m}", {f"m{m}": 1}, gpu=4, cost=float(3 - m)) for m in range(3)]
    return {
        "cpus-are-missing": _handmade(
            _racks(1, 3),
            [_run(f"cpu {m}", {f"m{m}": 1}, gpu=0, cpu=12, cost=1.0 + m) for m in range(3)],
            _ask("new", 2, gpu=1, cpu=8),
            nodes=cpus,
        ),
        "types-and-memory": _handmade(typed, on, _ask("new", 1, gpu=4, gpu_type="A100", memory=60)),
        "chosen-machines": _handmade(
            typed, on, _ask("new", 1, gpu=4, where="last two"), places={"last two": ["m1", "m2"]}
        ),
        "closed": _handmade(typed, on, _ask("new", 1, gpu=4), nodes={"m2": Node(closed=True)}),
        "large-amounts": _handmade(
            _racks(1, 2),
            [_run("a", {"m0": 1}, gpu=1, memory=700_001, cost=1.0), _run("b", {"m1": 1}, gpu=4, cost=2.0)],
            _ask("new", 2, gpu=2, memory=499_999),
            nodes={f"m{m}": Node(capacity=Resources(gpu=8, memory=999_997)) for m in range(2)},
        ),
    }


def _several() -> dict[str, Admission]:
    """Generate instances with several pending gangs, or with gangs whose workers differ."""
    driver, worker = Part(needs=Resources(gpu=2)), Part(count=2, needs=Resources(gpu=6))
    on = [_run(f"on {m}", {f"m{m}": 1}, gpu=4, cost=1.0 + m) for m in range(4)]
    return {
        "two-gangs": _handmade(
            _racks(2, 2), on, _ask("new", 2, gpu=4, within="rack"), _ask("other", 1, gpu=8, within="machine")
        ),
        "unlike-workers": _handmade(
            _racks(2, 2), on, Gang(name="new", parts=[driver, worker], within="rack", priority=1)
        ),
        "unlike-workers-move": _handmade(
            _racks(1, 3),
            [
                Running(
                    name="old",
                    parts=[driver, Part(count=1, needs=Resources(gpu=4))],
                    on=[{"m0": 1}, {"m1": 1}],
                    cost=4.0,
                    move_cost=1.0,
                ),
                _run("on 2", {"m2": 1}, gpu=2, cost=3.0),
            ],
            _ask("new", 2, gpu=7),
        ),
    }


def _corner_cases() -> dict[str, Admission]:
    return {
        "fits-already": _handmade(_racks(1, 2), [_run("a", {"m0": 1}, gpu=4)], _ask("new", 2, gpu=4)),
        "too-large": _handmade(_racks(1, 2), [_run("a", {"m0": 1}, gpu=4)], _ask("new", 2, gpu=9)),
        "not-together": _handmade(
            _racks(1, 2), [], _ask("new", 1, gpu=8), _ask("other", 1, gpu=8), _ask("third", 1, gpu=1)
        ),
        "worth-nothing": _handmade(
            _racks(1, 2),
            [_run("a", {"m0": 1}, gpu=8, cost=0.0), _run("b", {"m1": 1}, gpu=8, cost=0.0)],
            _ask("new", 1, gpu=8),
        ),
    }


def _racks(racks: int, machines: int) -> Cluster:
    """Create racks of machines m0, m1, ... with 8 GPUs each."""
    made = [
        Rack(
            name=f"k{rack}",
            machines=[Machine(name=f"m{rack * machines + each}", gpus=8) for each in range(machines)],
        )
        for rack in range(racks)
    ]
    return Cluster(racks=made)


def _run(
    name: str, on: Mapping[str, int], *, gpu: int, cpu: int = 0, memory: int = 0, **fields: Any
) -> Running:
    """Create a running gang with identical workers."""
    part = Part(count=sum(on.values()), needs=Resources(gpu=gpu, cpu=cpu, memory=memory))
    return Running(name=name, parts=[part], on=[dict(on)], **fields)


def _ask(
    name: str,
    count: int,
    *,
    gpu: int,
    cpu: int = 0,
    memory: int = 0,
    within: str = "",
    queue: str = "",
    **fields: Any,
) -> Gang:
    """Create a pending gang; with a GPU type, `memory` is the memory of each GPU."""
    typed = "gpu_type" in fields
    part = Part(
        count=count,
        needs=Resources(gpu=gpu, cpu=cpu, memory=0 if typed else memory),
        memory=memory if typed else 0,
        **fields,
    )
    return Gang(name=name, parts=[part], within=within, queue=queue, priority=1)


def _handmade(cluster: Cluster, running: Sequence[Running], *pending: Gang, **options: Any) -> Admission:
    return Admission(about=HANDMADE, cluster=cluster, running=running, pending=pending, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*known(), *production(), *challenge(), *worst()])
