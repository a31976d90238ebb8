"""Ctrl-C at random moments of `gsopt solve` with nothing compiled, sent to the process or its whole group."""

import json
import os
import pty
import random
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from instances.batching import elastic_jobs as batched_jobs
from instances.scheduling import elastic_jobs
from tests.benchmarks.measures import once
from tests.commands import COMMAND

pytestmark = pytest.mark.slow

INTERRUPTS = 50

#: Seconds from the start to an interrupt: from when Python itself has started, whose tracebacks nobody can hold
#: back, until all kernels are compiled on a quiet machine.
EARLIEST, LATEST = 0.1, 12.0

#: What the terminal shows once a value is known.
VALUE = re.compile(rb"  [a-z ()]+ \d\S*  bound")

#: A committed instance that is compiled for, beside one of scheduling and one of batching.
COMMITTED = "sharing/challenge/j20-g08"


@pytest.mark.benchmark(group="interrupts")
def test_interrupts_lose_nothing(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """No interrupt brings a traceback or a crash, and what was known when it came is printed."""
    some = random.Random(0)
    scheduling, batching = tmp_path / "scheduling.json", tmp_path / "batching.json"
    write(elastic_jobs(jobs=100, gpus=64, load=1.2, seed=1), scheduling)
    write(batched_jobs(gpus=45_000, jobs=600, menu="doublings", doublings=10, seed=1), batching)
    told = []

    def interrupt_all() -> None:
        for number in range(INTERRUPTS):
            instance = (str(scheduling), COMMITTED, str(batching))[number % 3]
            moment = some.uniform(EARLIEST, LATEST)
            told.append(_interrupted(instance, tmp_path / str(number), moment, group=number % 2 == 1))

    once(benchmark, interrupt_all)
    benchmark.extra_info["with a solution"] = sum(told)
    assert any(told)


def _interrupted(instance: str, cache: Path, moment: float, *, group: bool) -> bool:
    """Interrupt a solve, and return whether it had found something, which it must have printed then."""
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        while piece := _piece(ours):
            shown.extend(piece)

    reader = Thread(target=read)
    reader.start()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "COLUMNS": "300", "TERM": "xterm"}
    line = [*COMMAND, "solve", instance, "--json"]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment, start_new_session=True
    ) as run:
        begin = monotonic()
        while monotonic() - begin < moment and run.poll() is None:
            sleep(0.001)
        found = VALUE.search(bytes(shown)) is not None
        with suppress(ProcessLookupError):  # it has ended
            (os.killpg if group else os.kill)(run.pid, signal.SIGINT)
        output, _ = run.communicate()
    os.close(theirs)
    reader.join()
    os.close(ours)
    said = shown.decode(errors="replace")
    assert "Traceback" not in said, said
    assert "Error" not in said, said
    if found:
        assert run.returncode == Exit.SOLUTION, said
        assert json.loads(output)["solution"] is not None
    else:
        assert run.returncode in (Exit.SOLUTION, Exit.INTERRUPTED), said
    return found


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 2**16)
    except OSError:  # its last user is gone
        return b""
