"""Suites: the committed instances of consolidation, and the program that writes their files.

``python -m instances.consolidation.suites`` rewrites every file. A file changes only if its generator does.
"""

from typing import Any

from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack, Switch
from gsopt.scenario.speed import TierPenalty
from instances.consolidation import spaces
from instances.consolidation.half_busy import half_busy
from instances.consolidation.triples import triples
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate


def committed() -> list[Consolidation]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *production(), *large(), *challenge(), *worst()]


def small() -> list[Consolidation]:
    """Generate the instances that can be solved by trying every placement."""
    return in_folder("small", _competing(), _objectives(), _deeper(), _corner_cases())


def production() -> list[Consolidation]:
    """Generate clusters of 8 or 16 racks of 64 GPUs, with half of the GPUs busy (in one cluster, a quarter)."""
    made = {
        "08-racks-100": half_busy(racks=8, jobs=100, seed=1),
        "08-racks-200": half_busy(racks=8, jobs=200, seed=2),
        "08-racks-200-any": half_busy(racks=8, jobs=200, demands="any", weights="drawn", seed=3),
        "08-racks-200-lexicographic": half_busy(racks=8, jobs=200, maximize="lexicographic", seed=4),
        "16-racks-100": half_busy(racks=16, jobs=100, seed=5),
        "16-racks-200": half_busy(racks=16, jobs=200, seed=6),
        "16-racks-200-levels": half_busy(racks=16, jobs=200, weights="levels", seed=8),
        "16-racks-400": half_busy(racks=16, jobs=400, weights="levels", busy=0.25, seed=10),
    }
    return in_folder("production", made)


def large() -> list[Consolidation]:
    """Generate clusters of 1,024 GPUs whose jobs have random weights.

    Proving optimality takes seconds.
    """
    made = {
        "any-demands": half_busy(racks=16, jobs=200, demands="any", weights="drawn", seed=7),
        "powers-of-two": half_busy(racks=16, jobs=200, weights="drawn", seed=9),
    }
    return in_folder("large", made)


def challenge() -> list[Consolidation]:
    """Generate instances on which the exact method takes minutes, or fails to prove an optimum."""
    made = {
        "triples-40-064": triples(racks=40, machines=8, excess=1, seed=1),
        "triples-30-128": triples(racks=30, machines=16, excess=3, seed=1),
        "triples-30-256": triples(racks=30, machines=32, excess=3, seed=1),
    }
    return in_folder("challenge", made)


def worst() -> list[Consolidation]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "greedy": "0:9,14",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=2, machines=2, gpus=2), found))


def _competing() -> dict[str, Consolidation]:
    """Generate jobs that compete for machines or racks."""
    return {
        "network-for-the-insensitive": _handmade(
            _racks(2, 2, gpus=2),
            [0],
            _job("v", 4, "vgg11"),
            _job("m", 2, "mobilenetv3"),
            _job("b", 2, "bert-large"),
        ),
        "poor-place-is-better-left": _handmade(
            _racks(2, 1, gpus=4),
            [0, 1],
            _job("m", 4, "mobilenetv3"),
            _job("r", 2, "resnet50"),
            _job("n", 6, "resnet18"),
        ),
        "leftover-of-a-rack": _handmade(
            _racks(1, 3, gpus=3), [], _job("a", 2, "alexnet"), _job("b", 2, "alexnet"), _job("c", 5, "resnet50")
        ),
        "threes-and-twos": _handmade(
            _racks(2, 2, gpus=4),
            [0, 4, 8, 9, 12, 13, 14],
            _job("a", 3, "resnet18"),
            _job("b", 2, "resnet18"),
            _job("c", 3, "bert-large"),
            _job("d", 2, "bert-large"),
        ),
        "one-tier-like-another": _handmade(
            _racks(1, 2, gpus=3), [0], _job("a", 3, "resnet50"), _job("b", 2, "vgg11"), _job("c", 2, "alexnet")
        ),
        "weights": _handmade(
            _racks(2, 1, gpus=3),
            [0],
            _job("light", 2, "vgg11", weight=1e-9),
            _job("heavy", 4, "alexnet", weight=1e9),
            _job("decimal", 3, "resnet18", weight=1.1),
        ),
        "penalties-of-ones-own": _handmade(
            _racks(2, 2, gpus=2),
            [7],
            _job("a", 4, "fast"),
            _job("b", 3, "slow"),
            _job("c", 2, "unknown"),
            penalties={
                "fast": TierPenalty(machine=0, rack=0, network=0.1),
                "slow": TierPenalty(machine=1e-9, rack=1.0, network=1e6),
            },
        ),
    }


def _objectives() -> dict[str, Consolidation]:
    jobs = _job("v", 7, "vgg11"), _job("m", 3, "mobilenetv3"), _job("n", 4, "resnet18")
    pair = _job("a", 2, "alexnet"), _job("b", 2, "alexnet")
    return {
        "by-value": _handmade(_racks(2, 1, gpus=4), [3], *jobs),
        "by-number": _handmade(_racks(2, 1, gpus=4), [3], *jobs, maximize="lexicographic"),
        "whole-machines": _handmade(_racks(2, 2, gpus=4), [0, 1, 8, 9], *pair, maximize="fragmentation"),
        "whole-machines-split": _handmade(
            _racks(1, 3, gpus=4),
            [0, 1],
            _job("one", 1, "vgg11"),
            _job("five", 5, "resnet50"),
            maximize="fragmentation",
        ),
    }


def _deeper() -> dict[str, Consolidation]:
    """Generate clusters with more network levels: pods of racks, and islands in machines."""
    racks = [Rack(name=f"r{r}", machines=[Machine(name=f"m{r}", gpus=2)]) for r in range(4)]
    pods = [Switch(name=f"p{p}", level="pod", switches=racks[2 * p : 2 * p + 2]) for p in range(2)]
    halves = [[Island(name=f"i{m}{side}", gpus=2) for side in "ab"] for m in range(2)]
    islands = [Machine(name=f"m{m}", gpus=4, islands=halves[m]) for m in range(2)]
    penalties = {"a": TierPenalty(machine=0.2, rack=0.5, network=3, pod=1, island=0.1)}
    jobs = _job("x", 4, "a"), _job("y", 2, "a"), _job("z", 2, "a")
    return {
        "pods": _handmade(
            Cluster(network=Switch(name="all", level="network", switches=pods)), [], *jobs, penalties=penalties
        ),
        "islands": _handmade(
            Cluster(racks=[Rack(name="r", machines=islands)]),
            [0, 4],
            *jobs[1:],
            _job("w", 3, "a"),
            penalties=penalties,
        ),
    }


def _corner_cases() -> dict[str, Consolidation]:
    jobs = _job("a", 2, "vgg11"), _job("b", 1, "mobilenetv3")
    return {
        "no-jobs": _handmade(_racks(2, 2, gpus=2), [1]),
        "all-busy": _handmade(_racks(1, 2, gpus=2), [0, 1, 2, 3], *jobs),
        "too-large": _handmade(_racks(1, 2, gpus=2), [0], _job("large", 5, "vgg11"), *jobs),
        "worth-nothing": _handmade(
            _racks(1, 2, gpus=2), [], _job("a", 2, "vgg11", weight=0.0), _job("b", 3, "vgg11")
        ),
        "exactly-full": _handmade(_racks(2, 1, gpus=2), [], _job("a", 3, "alexnet"), _job("b", 1, "alexnet")),
    }


def _racks(racks: int, machines: int, *, gpus: int) -> Cluster:
    return Cluster.uniform(racks=racks, machines=machines, gpus=gpus)


def _job(name: str, gpus: int, model: str, *, weight: float = 1.0) -> Job:
    return Job(name=name, gpus=gpus, weight=weight, model=model)


def _handmade(cluster: Cluster, busy: list[int], *jobs: Job, **options: Any) -> Consolidation:
    return Consolidation(about=HANDMADE, cluster=cluster, busy=busy, jobs=jobs, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*production(), *large(), *challenge(), *worst()])
