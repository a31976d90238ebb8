"""Suites: the committed instances of reclaiming, and the program that writes their files.

``python -m instances.reclaiming.suites`` rewrites every file. A file changes only if its generator does.
"""

from collections.abc import Mapping
from typing import Any

from gsopt.problems.reclaiming import Job, Reclaiming
from instances.reclaiming import spaces
from instances.reclaiming.churn import churn
from instances.reclaiming.figure_5 import figure_5
from instances.reclaiming.layout import eight_gpu_servers
from instances.reclaiming.random_hypergraph import random_hypergraph
from instances.reclaiming.server_uniform import server_uniform
from instances.reclaiming.workers import Mode
from instances.suites import HANDMADE, changed, in_folder, picked, proven, regenerate, renamed

_MODES: tuple[Mode, ...] = ("packed", "mixed", "worker")
_PRODUCTION_DEMANDS = (20, 60, 150, 300)


def committed() -> list[Reclaiming]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*tiny(), *production(), *challenge(), *worst()]


def tiny() -> list[Reclaiming]:
    """Return the committed instances whose optima are found by enumeration."""
    return [renamed(figure_5(), "aryl-figure-5"), *small()]


def small() -> list[Reclaiming]:
    """Generate the instances with 4 to 9 servers, which can be solved by trying every choice of servers."""
    return in_folder("small", _plain(), _weighted(), _elastic(), _collateral(), _corner_cases())


def production() -> list[Reclaiming]:
    """Generate the instances with 520 servers, as many as in Aryl's inference cluster."""
    return [
        renamed(churn(mode=mode, demand=demand, seed=demand), f"production/{mode}-{demand:03}")
        for mode in _MODES
        for demand in _PRODUCTION_DEMANDS
    ]


def challenge() -> list[Reclaiming]:
    """Generate instances that the exact method cannot solve to proven optimality within minutes.

    Dense random hypergraphs are expanders: on any small set of servers, almost every worker belongs to a
    different job, so relaxations prove only a trivial bound.
    """
    made = {
        f"expander-{servers:03}": server_uniform(servers=servers, jobs=servers, degree=8, demand=demand, seed=1)
        for servers, demand in ((60, 20), (200, 60))
    }
    return in_folder("challenge", made)


def worst() -> list[Reclaiming]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "greedy": "2:0,11",
        "largest-job-first": "0:3,3,3,0",
        "random-choice": "0:3,3,3,4",
        "random-choice-unbounded": "0:2",
        "reverse-delete": "2:1,2,4,11",
        "smallest-count-first": "2:1,10",
        "smallest-job-first": "0:1,1,1,4",
        "static-cost": "1:2,9",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=4, servers=3, costs=2), found))


def _plain() -> dict[str, Reclaiming]:
    return {
        "packed": churn(servers=9, demand=6, seed=7),
        "mixed": churn(servers=8, demand=3, mode="mixed", seed=17),
        "worker": churn(servers=8, demand=3, mode="worker", seed=3),
        "graph": random_hypergraph(servers=8, jobs=9, span=2, demand=3, seed=1),
        "hypergraph": random_hypergraph(servers=9, jobs=7, span=3, demand=4, seed=2),
        "server-uniform-2": server_uniform(servers=8, jobs=8, degree=2, demand=3, seed=1),
        "server-uniform-3": server_uniform(servers=9, jobs=9, degree=3, demand=4, seed=2),
    }


def _weighted() -> dict[str, Reclaiming]:
    halves = _handmade(
        3,
        servers=5,
        a=({"s1": 2, "s2": 2}, {"cost": 0.5}),
        b=({"s2": 4, "s3": 4}, {"cost": 0.25}),
        c=({"s4": 8}, {"cost": 1.5}),
        d=({"s5": 8}, {"cost": 0.0}),
    )
    return {
        "weighted-mixed": churn(servers=8, demand=4, mode="mixed", weighted=True, seed=17),
        "weighted-worker": churn(servers=7, demand=3, mode="worker", weighted=True, seed=11),
        "weighted-fractions": halves,
    }


def _elastic() -> dict[str, Reclaiming]:
    def elastic(**options: Any) -> Reclaiming:
        return churn(elastic_share=0.8, mode="worker", **options)

    return {
        "tagged": elastic(servers=8, demand=4, seed=27),
        "tagged-weighted": elastic(servers=7, demand=3, weighted=True, seed=3),
        "fungible": elastic(servers=8, demand=4, elasticity="fungible", seed=27),
        "fungible-weighted": elastic(servers=7, demand=3, elasticity="fungible", weighted=True, seed=3),
        "fungible-sparse": elastic(servers=9, demand=6, elasticity="fungible", utilisation=0.7, seed=15),
    }


def _collateral() -> dict[str, Reclaiming]:
    def collateral(**options: Any) -> Reclaiming:
        return changed(churn(mode="worker", **options), second_objective="collateral")

    return {
        "collateral": collateral(servers=8, demand=3, seed=4),
        "collateral-weighted": collateral(servers=7, demand=3, weighted=True, seed=9),
        "collateral-tagged": collateral(servers=8, demand=4, elastic_share=0.8, seed=6),
        "collateral-fungible": collateral(
            servers=8, demand=4, elastic_share=0.8, elasticity="fungible", seed=6
        ),
    }


def _corner_cases() -> dict[str, Reclaiming]:
    giant = _handmade(
        3,
        servers=8,
        giant=({f"s{number}": 2 for number in range(1, 9)}, {}),
        a=({"s1": 4, "s2": 4}, {}),
        b=({"s3": 6}, {}),
        c=({"s4": 1, "s5": 1, "s6": 1}, {}),
    )
    disjoint = _handmade(
        4,
        servers=9,
        a=({"s1": 8, "s2": 8, "s3": 8}, {}),
        b=({"s4": 4, "s5": 4}, {}),
        c=({"s5": 4, "s6": 4}, {}),
        d=({"s6": 4, "s7": 4}, {}),
        e=({"s8": 3}, {}),
        f=({"s8": 2}, {}),
        g=({"s9": 8}, {}),
    )
    idle = _handmade(3, servers=4)
    return {
        "giant-job": giant,
        "disjoint": disjoint,
        "no-jobs": idle,
        "empty-servers": churn(servers=9, demand=5, mode="mixed", utilisation=0.6, seed=42),
        "demand-0": churn(servers=6, demand=0, mode="worker", seed=1),
        "demand-all": churn(servers=6, demand=6, mode="worker", seed=1),
    }


def _handmade(demand: int, *, servers: int, **jobs: tuple[Mapping[str, int], Mapping[str, Any]]) -> Reclaiming:
    return Reclaiming(
        about=HANDMADE,
        demand=demand,
        servers=eight_gpu_servers(servers),
        jobs=tuple(Job(name=name, workers=workers, **options) for name, (workers, options) in jobs.items()),
    )


if __name__ == "__main__":
    regenerate(tiny(), prove=proven)
    regenerate([*production(), *challenge(), *worst()])
