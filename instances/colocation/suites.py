"""Suites: the committed instances of colocation, and the program that writes their files.

``python -m instances.colocation.suites`` rewrites every file. A file changes only if its generator does.
"""

from typing import Any

from gsopt.problems.colocation import Colocation, Mode, Pending, Running
from instances.colocation import spaces
from instances.colocation.full_cluster import full_cluster
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate

_GIB = 2**30


def committed() -> list[Colocation]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *production(), *large(), *worst()]


def small() -> list[Colocation]:
    """Generate the instances that can be solved by trying every pair."""
    return in_folder("small", _pairs(), _competing(), _memory(), _drawn(), _corner_cases())


def production() -> list[Colocation]:
    """Generate full clusters with 20 to 100 running jobs and 20 to 100 waiting jobs."""
    made = {
        "020-020": full_cluster(running=20, pending=20, seed=1),
        "020-060": full_cluster(running=20, pending=60, seed=2),
        "060-020": full_cluster(running=60, pending=20, seed=3),
        "060-060": full_cluster(running=60, pending=60, seed=4),
        "060-060-mild": full_cluster(running=60, pending=60, worst=1.4, seed=5),
        "060-060-harsh": full_cluster(running=60, pending=60, worst=6.0, seed=6),
        "060-060-alike": full_cluster(running=60, pending=60, shortest=3_000, longest=9_000, seed=7),
        "100-100-whole": full_cluster(running=100, pending=100, modes=0, seed=8),
    }
    return in_folder("production", made)


def large() -> list[Colocation]:
    """Generate a full cluster for which the optimal matching takes several seconds to compute."""
    return in_folder("large", {"100-200": full_cluster(running=100, pending=200, seed=9)})


def worst() -> list[Colocation]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "bsbf": "0:0,7,8",
        "first-fit": "0:3,6,7,8",
        "first-fit-unbounded": "0:2,3",
        "random-pairs": "0:3,7,8,6",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=4, seconds=3), found))


def _pairs() -> dict[str, Colocation]:
    """Generate pairs of a running and a waiting job for which sharing is better, worse or no different."""
    return {
        "pair-shares": _pair(4, 1, 2, 2),
        "pair-waits": _pair(1, 1, 3, 3),
        "pair-tie": _pair(1, 1, 1.5, 1.5),
        "pair-long-newcomer": _pair(1, 4, 1.2, 1.3),
        "pair-no-interference": _pair(5, 3, 1, 1),
        "pair-one-sided": _pair(10, 4, 1, 6),
    }


def _competing() -> dict[str, Colocation]:
    """Generate jobs that compete for partners."""
    table = {"x": {"x": 2.0, "y": 1.1}, "y": {"x": 1.2, "y": 2.5}}
    return {
        "wide-job-needs-the-wide-partner": _handmade(
            [_running("a", 4, 1000, "x"), _running("b", 1, 30, "x")],
            [_pending("short", 1, 10, "y"), _pending("wide", 4, 12, "y")],
            table,
        ),
        "short-partner-is-chosen-first": _handmade(
            [_running("soon", 2, 20, "x"), _running("late", 2, 900, "x")],
            [_pending("p", 2, 15, "y"), _pending("q", 2, 400, "y")],
            table,
        ),
        "models-that-suit": _handmade(
            [_running("a", 2, 100, "x"), _running("b", 2, 100, "y")],
            [_pending("p", 2, 60, "x"), _pending("q", 2, 60, "y")],
            table,
        ),
        "more-wait-than-run": _handmade(
            [_running("a", 2, 70, "x"), _running("b", 4, 50, "y")],
            [_pending(f"p{k}", k, 10 * k + 5, "xy"[k % 2]) for k in range(1, 5)],
            table,
        ),
        "more-run-than-wait": _handmade(
            [_running(f"r{k}", k, 90 / k, "xy"[k % 2]) for k in range(1, 5)],
            [_pending("p", 2, 33.3, "x"), _pending("q", 3, 7.25, "y")],
            table,
        ),
        "first-fit-costs": _handmade(
            [_running("a", 1, 10, "y"), _running("b", 1, 10, "x")],
            [_pending("p", 1, 9, "y"), _pending("q", 1, 10, "x")],
            {"x": {"x": 6.0, "y": 1.1}, "y": {"x": 1.2, "y": 6.0}},
        ),
    }


def _memory() -> dict[str, Colocation]:
    """Generate jobs that cannot all be paired, because some pairs exceed the memory of a GPU."""
    halves = Mode(name="half", slowdown=1.25, memory=24 * _GIB)
    quarters = Mode(name="quarter", slowdown=1.6, memory=14 * _GIB)
    divided = Pending(name="p", gpus=2, seconds=80, model="x", memory=44 * _GIB, modes=[halves, quarters])
    table = {"x": {"x": 1.3}}
    return {
        "half-a-batch-fits": _handmade(
            [_running("a", 2, 200, "x", memory=50 * _GIB)], [divided], table, memory=80 * _GIB
        ),
        "exactly-full": _handmade(
            [_running("a", 2, 200, "x", memory=36 * _GIB)], [divided], table, memory=80 * _GIB
        ),
        "a-byte-too-much": _handmade(
            [_running("a", 2, 200, "x", memory=56 * _GIB + 1)], [divided], table, memory=80 * _GIB
        ),
        "nothing-fits": _handmade(
            [_running("a", 2, 200, "x", memory=70 * _GIB)], [divided], table, memory=80 * _GIB
        ),
        "room-is-not-for-all": _handmade(
            [_running("a", 2, 90, "x", memory=30 * _GIB), _running("b", 4, 120, "x", memory=60 * _GIB)],
            [divided, _pending("q", 2, 60, "x", memory=45 * _GIB)],
            table,
            memory=80 * _GIB,
        ),
    }


def _drawn() -> dict[str, Colocation]:
    """Generate full clusters with few jobs."""
    return {
        f"drawn-{seed}": full_cluster(running=4, pending=3, models=3, modes=1, worst=2.0, seed=seed)
        for seed in range(1, 6)
    }


def _corner_cases() -> dict[str, Colocation]:
    running, pending = [_running("a", 2, 50, "x")], [_pending("p", 2, 20, "y")]
    return {
        "nobody-waits": _handmade(running, [], {}),
        "nobody-runs": _handmade([], pending, {}),
        "too-few-gpus": _handmade(running, [_pending("p", 3, 20, "y")], {}),
        "nothing-left-to-do": _handmade([_running("a", 1, 0, "x")], [_pending("p", 1, 0, "x")], {}),
        "magnitudes": _handmade(
            [_running("a", 1, 1e-9, "x"), _running("b", 1, 1e9, "x")],
            [_pending("p", 1, 1e9, "x"), _pending("q", 1, 1e-9, "x")],
            {"x": {"x": 1.000001}},
        ),
        "all-equal": _handmade(
            [_running(name, 1, 10, "x") for name in "abc"],
            [_pending(name, 1, 10, "x") for name in "pqr"],
            {"x": {"x": 1.2}},
        ),
    }


def _pair(remaining: float, seconds: float, running: float, new: float) -> Colocation:
    table = {"a": {"b": float(running)}, "b": {"a": float(new)}}
    return _handmade([_running("a", 1, remaining, "a")], [_pending("b", 1, seconds, "b")], table)


def _running(name: str, gpus: int, seconds: float, model: str, *, memory: int = 0) -> Running:
    return Running(name=name, gpus=gpus, seconds=float(seconds), model=model, memory=memory)


def _pending(name: str, gpus: int, seconds: float, model: str, *, memory: int = 0) -> Pending:
    return Pending(name=name, gpus=gpus, seconds=float(seconds), model=model, memory=memory)


def _handmade(
    running: list[Running], pending: list[Pending], table: dict[str, dict[str, float]], **options: Any
) -> Colocation:
    about = HANDMADE
    return Colocation(about=about, running=running, pending=pending, interference=table, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*production(), *large(), *worst()])
