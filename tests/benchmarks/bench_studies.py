"""Studies on own processes and on the workers of Dask: what a cell costs, and what survives kills.

``pytest tests/benchmarks/bench_studies.py -s`` prints the figures of docs/studies.md. Both benchmarks
take minutes, and `make bench-once` leaves them out.
"""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import pytest

from gsopt.studies import Results, Study, run
from tests.benchmarks.measures import once, report
from tests.commands import COMMAND
from tests.dask_clusters import dask_client
from tests.gsopt.studies.samples import committed, starts, study
from tests.processes import children, wait_until, wait_until_gone

#: Cells that take about ten milliseconds and about a second, as many as there are to measure.
CHEAP = study(
    instances=[{"workload": "poisson", "jobs": 300, "gpus": 16, "load": 0.9, "seed": list(range(200))}],
    methods=["fifo"],
    bound_evaluations=0,
)
DEAR = study(
    instances=[{"workload": "poisson", "jobs": 20000, "gpus": 64, "load": 1.1, "seed": list(range(6))}],
    methods=["las", "srtf"],
    bound_evaluations=0,
)

#: The study that is killed: two hundred cells, each of about half a second.
MANY = study(
    instances=[{"workload": "poisson", "jobs": 2000, "gpus": 64, "load": 1.1, "seed": list(range(50))}],
    methods=["fifo", "srtf", "las", "sjf"],
    bound_evaluations=0,
)
WORKER_KILLS, DRIVER_KILLS = 10, 2

#: All that is known of cells but times.
Figures = list[dict[str, Any]]


def _measure(kind: str, name: str, count: int, grid: Study, folder: Path, **options: Any) -> Figures:
    """Run a study, print its pace from the first finished cell to the last, and give its figures."""
    times: list[float] = []
    found = run(grid, folder / name, on_progress=lambda _: times.append(perf_counter()), **options)
    seconds, cells = times[-1] - times[1], len(found) - 1
    beside = 1000 * (seconds * count / cells - fmean(row.outcome.wall for row in found))
    report(f"{kind}: {name}, {count}: {cells / seconds:.1f} cells/s, {beside:.0f} ms beside each cell")
    return _figures(found)


def _figures(found: Results) -> Figures:
    return [{**row.as_dict(), "wall": 0, "runtime": 0} for row in found]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "grid"), [("cheap", CHEAP), ("dear", DEAR)])
def test_throughput(benchmark: Any, tmp_path: Path, kind: str, grid: Study) -> None:
    """One, two and four workers give the same figures, whether of Dask or not."""

    def measure() -> list[Figures]:
        outcomes = []
        for workers in (1, 2, 4):
            folder = tmp_path / str(workers)
            outcomes.append(_measure(kind, "own", workers, grid, folder, workers=workers))
            with dask_client(workers, processes=True) as client:
                outcomes.append(_measure(kind, "Dask", workers, grid, folder, scheduler=client))
        return outcomes

    first, *others = once(benchmark, measure)
    assert all(first == other for other in others)


@pytest.mark.slow
def test_kills(benchmark: Any, tmp_path: Path) -> None:
    """Ten workers and two drivers are killed at random instants: every cell once, figures as without Dask."""
    draw, folder = random.Random(7), tmp_path / "dask"
    spec = tmp_path / "study.json"
    spec.write_text(MANY.model_dump_json())

    def start(address: str) -> subprocess.Popen[str]:
        line = [*COMMAND, "study", "run", str(spec), "--out", str(folder), "--scheduler", address]
        return subprocess.Popen(line, text=True)

    def with_kills() -> list[int]:
        seen: list[int] = []
        kills = [*["worker"] * WORKER_KILLS, *["driver"] * DRIVER_KILLS]
        draw.shuffle(kills)
        at = sorted(draw.sample(range(2, 190), len(kills)))
        with dask_client(0) as client, ExitStack() as started:
            address = client.scheduler.address
            workers = [started.enter_context(_worker(address)) for _ in range(2)]
            driver = start(address)
            for number, kind in zip(at, kills, strict=True):
                wait_until(_reaches(folder, number), driver)
                victim = driver if kind == "driver" else workers.pop(draw.randrange(2))
                seen += [victim.pid, *children(victim.pid)]
                victim.kill()
                victim.wait()
                report(f"{kind} killed after {len(committed(folder))} cells")
                if kind == "driver":
                    driver = start(address)
                else:
                    workers.append(started.enter_context(_worker(address)))
            assert driver.wait() == 0
            seen += [each for worker in workers for each in [worker.pid, *children(worker.pid)]]
        return seen

    begin = perf_counter()
    seen = once(benchmark, with_kills)
    report(f"{perf_counter() - begin:.0f} s; {len(starts(folder))} starts of {len(committed(folder))} cells")
    wait_until_gone(*seen)
    begun = Counter(key for key, _ in starts(folder))
    assert len(begun) == len(committed(folder)) == 200
    killed = run(MANY, folder, workers=1)  # computes nothing
    assert len(starts(folder)) == sum(begun.values())
    assert _figures(killed) == _figures(run(MANY, tmp_path / "own", workers=2))


@contextmanager
def _worker(address: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker of one thread, which nothing starts again."""
    line = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads=1", "--no-nanny"]
    with subprocess.Popen([*line, "--no-dashboard"], stderr=subprocess.DEVNULL) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def _reaches(folder: Path, number: int) -> Callable[[], bool]:
    return lambda: len(committed(folder)) >= number
