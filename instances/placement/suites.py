"""Suites: the committed instances of placement, and the program that writes their files.

``python -m instances.placement.suites`` rewrites every file. A file changes only if its generator does.
"""

from typing import Any, Literal

from gsopt.problems.placement import Placement, Pool, Resources, Server, Workers
from gsopt.scenario.cluster import Cluster
from instances.placement import spaces
from instances.placement.elastic import elastic
from instances.placement.vector_packing import vector_packing
from instances.placement.vectors import vectors
from instances.placement.whole_gpus import whole_gpus
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate


def committed() -> list[Placement]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *production(), *challenge(), *worst()]


def small() -> list[Placement]:
    """Generate the small instances, which can be solved by trying every placement."""
    return in_folder(
        "small", _whole_gpus(), _vectors(), _preferences(), _racks(), _single_gpus(), _corner_cases()
    )


def production() -> list[Placement]:
    """Generate the instances with 963 servers, as many as Aryl's two clusters have together."""
    made = {
        **{
            f"vectors-{types:02}-{workers:04}": vectors(types=types, workers=workers, skew=0.5, seed=types)
            for types, workers in ((4, 500), (8, 2000), (12, 2000), (20, 1500), (30, 1500), (50, 1500))
        },
        "crowded-06-1500": vectors(types=6, workers=1500, skew=0.3, seed=20),
        "crowded-06-1700": vectors(types=6, workers=1700, skew=0.3, seed=5),
        "fragmentation-12-2000": vectors(types=12, workers=2000, minimize="fragmentation", seed=12),
        "occupied-12-1500": vectors(types=12, workers=1500, occupied=0.5, seed=12),
        "whole-gpus-1000": whole_gpus(workers=1000, servers=963, seed=1),
        "whole-gpus-1000-any-size": whole_gpus(workers=1000, servers=963, powers_of_two=False, seed=1),
        "elastic-420": elastic(seed=0),
        "elastic-420-overfull": elastic(seed=1),
        "elastic-420-split": elastic(elastic_share=0.8, split_jobs=True, seed=1),
        "elastic-250-occupied": elastic(jobs=250, occupied=0.4, seed=0),
    }
    return in_folder("production", made)


def challenge() -> list[Placement]:
    """Generate an instance that the exact method cannot solve to proven optimality within minutes.

    The workers need five resources, and about eight of them fit on a server. The relaxation is almost, but not
    quite, tight.
    """
    made = {"vectors-4-200-5": vector_packing(family=4, workers=200, resources=5, seed=1)}
    return in_folder("challenge", made)


def worst() -> list[Placement]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "first-fit": "2:0,0,1,1",
        "worst-fit": "5:0,0,0,0,0,0",
        "fgd": "5:1,1,1,1,2",
        "gpu-clustering": "5:0,1,2",
        "random-fit": "4:0,0,0,0,0",
    }
    return in_folder("worst", picked(spaces.tiny(workers=6, gpus=6), found))


def _whole_gpus() -> dict[str, Placement]:
    def gpus(*sizes: tuple[int, int], servers: int = 4) -> Placement:
        return _handmade(
            [_server("s", gpu=8, count=servers)],
            [
                _workers(f"j{number}", count=count, gpu=gpu)
                for number, (gpu, count) in enumerate(sizes, start=1)
            ],
        )

    return {
        "six-items": gpus((4, 1), (3, 2), (2, 3)),
        "powers-of-two": gpus((8, 1), (4, 2), (2, 3), (1, 2), servers=3),
        "halves-and-thirds": gpus((5, 1), (3, 3), (2, 2)),
        "partly-used": _handmade(
            [_server("a", gpu=8, used=3), _server("b", gpu=8, used=6), _server("c", gpu=8, count=2)],
            [_workers("j1", count=2, gpu=4), _workers("j2", count=2, gpu=2), _workers("j3", gpu=1)],
        ),
    }


def _vectors() -> dict[str, Placement]:
    mixed = [_server("big", gpu=8, cpu=64, memory=256), _server("small", gpu=2, cpu=48, memory=128, count=3)]
    lines = [
        _workers("j1", count=2, gpu=1, cpu=20, memory=40),
        _workers("j2", count=3, gpu=1, cpu=8, memory=64),
        _workers("j3", gpu=2, cpu=12, memory=24),
    ]
    return {
        "vectors": vectors(types=3, workers=7, training=2, inference=1, skew=0.5, seed=4),
        "vectors-occupied": vectors(types=3, workers=4, training=2, inference=2, skew=3, occupied=1.0, seed=1),
        "cpu-binds": _handmade([_server("s", gpu=8, cpu=32, memory=128, count=3)], lines[:2]),
        "cpu-only-workers": _handmade(
            [_server("s", gpu=2, cpu=16, memory=64, count=3)],
            [_workers("j1", count=3, cpu=6, memory=8), _workers("j2", count=3, gpu=1, cpu=4, memory=8)],
        ),
        "mixed-servers": _handmade(mixed, lines),
        "fragmentation": _handmade(mixed, lines, minimize="fragmentation"),
    }


def _preferences() -> dict[str, Placement]:
    def both(training: int, inference: int, *lines: Workers, **options: Any) -> Placement:
        servers = [_server("t", gpu=8, count=training), _server("i", gpu=8, count=inference, pool="inference")]
        return _handmade(servers, lines, **{"minimize": "preferences", **options})

    inelastic = _workers("a", count=2, gpu=4)
    base, flexible = _workers("b", count=2, gpu=2, kind="base"), _workers("b", count=2, gpu=2, kind="flexible")
    return {
        "preferences": both(1, 2, inelastic, base, flexible),
        "preferences-group-spills": both(1, 1, inelastic, base, flexible),
        "preferences-pool-spills": both(2, 1, inelastic, _workers("c", count=2, gpu=6, kind="base")),
        "preferences-whole-jobs": both(
            1, 2, _workers("a", count=3, gpu=4), _workers("c", count=2, gpu=3, kind="base"), split_jobs=False
        ),
        "whole-jobs": both(
            2,
            2,
            _workers("a", count=3, gpu=4),
            _workers("d", count=3, gpu=4),
            minimize="servers",
            split_jobs=False,
        ),
        "preferences-partly-used": _handmade(
            [
                _server("t", gpu=8, used=4),
                _server("i", gpu=8, used=2, pool="inference"),
                _server("k", gpu=8, pool="inference"),
            ],
            [_workers("a", gpu=4), base, flexible],
            minimize="preferences",
        ),
    }


def _racks() -> dict[str, Placement]:
    cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
    lines = [_workers("a", count=2, gpu=6), _workers("b", gpu=3), _workers("c", count=2, gpu=2)]
    mixed = [
        _server("x", gpu=8, used=5, rack="r0"),
        _server("y", gpu=4, rack="r0"),
        _server("z", gpu=8, count=2, rack="r1"),
    ]
    return {
        "racks": Placement.on_cluster(cluster, lines, about=HANDMADE),
        "racks-partly-used": _handmade(mixed, [_workers("a", gpu=5), lines[1], lines[2]], minimize="racks"),
    }


def _single_gpus() -> dict[str, Placement]:
    parts = [
        _workers("a", count=2, cpu=2, part=600),
        _workers("b", count=2, cpu=2, part=500),
        _workers("c", cpu=2, part=400),
        _workers("d", gpu=1, cpu=4),
        _workers("e", cpu=1),
    ]
    types = [
        _server("t", gpu=2, cpu=8).model_copy(update={"gpu_type": "T4", "shared": (300,)}),
        _server("v", gpu=2, cpu=8).model_copy(update={"gpu_type": "V100"}),
    ]
    return {
        "gpu-parts": _handmade([_server("s", gpu=2, cpu=8, count=2)], parts),
        "full-cluster": _handmade([_server("s", gpu=2, cpu=8)], parts, minimize="unallocated"),
        "gpu-types": _handmade(
            types,
            [
                parts[0],
                parts[3].model_copy(update={"gpu_types": ("V100", "A100")}),
                _workers("f", cpu=1, part=700),
            ],
            minimize="unallocated",
        ),
    }


def _corner_cases() -> dict[str, Placement]:
    return {
        "no-workers": _handmade([_server("a", gpu=8, used=1), _server("b", gpu=8)], []),
        "too-large-a-worker": _handmade(
            [_server("s", gpu=8, used=1, count=2)], [_workers("j1", gpu=4), _workers("j2", gpu=8)]
        ),
        "too-many-workers": _handmade([_server("s", gpu=8, count=2)], [_workers("j1", count=3, gpu=5)]),
    }


def _server(
    name: str,
    *,
    gpu: int,
    cpu: int = 0,
    memory: int = 0,
    used: int = 0,
    count: int = 1,
    pool: Pool = "training",
    rack: str = "",
) -> Server:
    capacity = Resources(gpu=gpu, cpu=cpu, memory=memory)
    return Server(name=name, pool=pool, count=count, capacity=capacity, used=Resources(gpu=used), rack=rack)


def _workers(
    job: str,
    *,
    count: int = 1,
    gpu: int = 0,
    cpu: int = 0,
    memory: int = 0,
    kind: Literal["inelastic", "base", "flexible"] = "inelastic",
    part: int = 0,
) -> Workers:
    demand = Resources(gpu=gpu, cpu=cpu, memory=memory)
    return Workers(job=job, count=count, demand=demand, kind=kind, gpu_part=part)


def _handmade(servers: list[Server], lines: list[Workers] | tuple[Workers, ...], **options: Any) -> Placement:
    about = HANDMADE
    return Placement(about=about, servers=tuple(servers), workers=tuple(lines), **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*production(), *challenge(), *worst()])
