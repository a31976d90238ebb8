"""Worker processes: warm, killed when late, gone when the parent is, never shared."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gsopt.backends import Highs
from gsopt.backends.process import POOL, Frame, Kind, Late, Pool, Reply, Worker
from gsopt.errors import MissingSolver
from gsopt.result import StoppedBy
from tests.gsopt.backends import functions
from tests.gsopt.backends.models import BACKENDS, ROOT, finished, knapsack, script

MODULE = "json"  # any module stands in for a solver


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Give a pool of its own, whose workers can import these tests."""
    monkeypatch.syspath_prepend(str(ROOT))
    own = Pool()
    yield own
    own.close()


def call(worker: Worker, function: Any, task: Any, limit: float | None = None) -> tuple[Reply, list[Frame]]:
    """Call a function and collect the frames before its answer."""
    frames: list[Frame] = []
    reply = worker.call(function, task, limit=limit, hear=frames.append)
    return reply, frames


def nothing() -> None:
    """Check nothing."""


def test_idle_worker_is_used_again(pool: Pool) -> None:
    """Two calls one after the other must run in the same process."""
    pids = []
    for _ in range(2):
        with pool.borrow(MODULE, nothing) as worker:
            pids.append(call(worker, functions.process_id, None)[0].answer)

    assert pids[0] == pids[1] == pool.pids[0] != os.getpid()


def test_module_has_its_own_workers(pool: Pool) -> None:
    """A worker must serve only the module it was started for."""
    with pool.borrow(MODULE, nothing):
        pass
    with pool.borrow("csv", nothing):
        pass

    assert len(pool.pids) == 2


def test_check_comes_before_a_new_worker_only(pool: Pool) -> None:
    """The check must run when a worker is started, not when one is used again."""
    checks: list[int] = []
    for _ in range(3):
        with pool.borrow(MODULE, lambda: checks.append(1)):
            pass

    assert checks == [1]


def test_worker_that_died_idle_is_replaced(pool: Pool) -> None:
    """A worker killed between two calls must not be met again."""
    with pool.borrow(MODULE, nothing) as worker:
        first = worker
    first.kill()
    with pool.borrow(MODULE, nothing) as worker:
        reply, _ = call(worker, functions.process_id, None)

    assert reply.answer == worker.pid != first.pid
    assert pool.pids == [worker.pid]


def test_deadline_covers_the_start_of_a_worker(pool: Pool) -> None:
    """Whoever cannot wait for a worker to start leaves it to the next who asks."""
    with pytest.raises(Late), pool.borrow(MODULE, nothing, deadline=0.0):
        pass
    (starting,) = pool.pids
    with pool.borrow(MODULE, nothing) as worker:
        assert worker.pid == starting


def test_prepared_worker_is_the_one_that_is_borrowed(pool: Pool) -> None:
    """A worker started beforehand serves the next call, and is not started twice."""
    pool.prepare(MODULE, nothing)
    pool.prepare(MODULE, nothing)
    (prepared,) = pool.pids
    with pool.borrow(MODULE, nothing) as worker:
        assert worker.pid == prepared


def test_late_worker_is_killed(pool: Pool) -> None:
    """A function that does not answer in time must be killed, with what was heard of it."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, frames = call(worker, functions.sleep, 60.0, limit=3)

    assert (reply.answer, reply.stopped_by) == (None, StoppedBy.TIME_LIMIT)
    assert "killed" in reply.message
    assert frames == [(Kind.LOG, "asleep"), (Kind.BOUND, 1.0)]
    assert pool.pids == []


def test_interrupt_is_obeyed(pool: Pool) -> None:
    """A hearer that returns True must stop the function, which may still answer and be used again."""
    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.obey, 1, limit=None, hear=lambda _frame: True)

    assert reply == Reply("stopped", StoppedBy.INTERRUPT)
    assert pool.pids == [worker.pid]


def test_interrupt_that_is_not_obeyed_kills(pool: Pool) -> None:
    """A function that does not obey must be killed."""
    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.sleep, 60.0, limit=None, hear=lambda _frame: True)

    assert (reply.answer, reply.stopped_by) == (None, StoppedBy.INTERRUPT)
    assert pool.pids == []


def test_keyboard_interrupt_stops(pool: Pool) -> None:
    """Ctrl-C while frames are heard must stop the function and be answered, not raised."""

    def hear(_frame: Frame) -> None:
        raise KeyboardInterrupt

    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.sleep, 60.0, limit=None, hear=hear)

    assert reply.stopped_by is StoppedBy.INTERRUPT


def test_stop_that_comes_too_late_spares_the_next_call(pool: Pool) -> None:
    """An interrupt that crosses with the answer must not stop the next function."""
    with pool.borrow(MODULE, nothing) as worker:
        for _ in range(20):
            worker.call(functions.chatter, "x", limit=None, hear=lambda _frame: True)
            assert call(worker, functions.process_id, None)[0] == Reply(worker.pid)


def test_error_of_the_function_is_one_line(pool: Pool) -> None:
    """An exception in the worker must come back as one line, its traceback as log, and spare the worker."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, frames = call(worker, functions.fail, "first line\nsecond line")
        again, _ = call(worker, functions.process_id, None)

    assert reply == Reply(None, StoppedBy.CRASH, "ValueError: first line")
    assert "Traceback" in "".join(str(content) for _, content in frames)
    assert again.answer == worker.pid


def test_death_of_the_process_is_told(pool: Pool) -> None:
    """A worker that ends by itself must be told of with its exit code, after its last words."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, frames = call(worker, functions.leave, 3)

    assert reply == Reply(None, StoppedBy.CRASH, "the solver's process ended with exit code 3")
    assert frames == [(Kind.LOG, "last words\n")]
    assert pool.pids == []


def test_what_the_solver_prints_is_log(pool: Pool) -> None:
    """Output to descriptor 1 must not disturb the frames, and must come before the answer."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, frames = call(worker, functions.chatter, "printed")

    assert reply == Reply("done")
    assert {content for _, content in frames} == {"before ", "printed"}


def test_large_tasks_pass_through_small_pipes(pool: Pool) -> None:
    """A task of many megabytes must arrive whole."""
    with pool.borrow(MODULE, nothing) as worker:
        assert call(worker, functions.size, b"x" * 20_000_000)[0].answer == 20_000_000


def test_worker_that_is_frozen_does_not_hold_up_the_sender(pool: Pool) -> None:
    """A worker that reads nothing must be given up at the limit, in the middle of a large task too."""
    with pool.borrow(MODULE, nothing) as worker:
        os.kill(worker.pid, signal.SIGSTOP)
        reply, _ = call(worker, functions.size, b"x" * 20_000_000, limit=0.3)

    assert reply.stopped_by is StoppedBy.TIME_LIMIT


def test_module_that_fails_to_import_is_a_missing_solver(pool: Pool) -> None:
    """A solver that cannot be imported must be told of in one line with the reason."""
    with (
        pytest.raises(MissingSolver, match="No module named 'no_such_solver'"),
        pool.borrow("no_such_solver", nothing),
    ):
        pass

    assert pool.pids == []


def test_exception_outside_kills_the_worker(pool: Pool) -> None:
    """A worker must not return to the pool when something was raised while it was out."""
    with pytest.raises(ZeroDivisionError), pool.borrow(MODULE, nothing):
        raise ZeroDivisionError

    assert pool.pids == []


def test_closing_ends_idle_and_busy_workers(pool: Pool) -> None:
    """Closing must end every worker; a call in another thread then counts as crashed."""
    heard = threading.Event()
    replies: list[Reply] = []

    def work() -> None:
        with pool.borrow(MODULE, nothing) as worker:
            replies.append(worker.call(functions.sleep, 60.0, limit=None, hear=lambda _frame: heard.set()))

    thread = threading.Thread(target=work)
    thread.start()
    heard.wait(60)
    with pool.borrow(MODULE, nothing):
        pass
    assert len(pool.pids) == 2
    pool.close()
    thread.join(60)

    assert pool.pids == []
    assert [reply.stopped_by for reply in replies] == [StoppedBy.CRASH]


def test_threads_have_workers_of_their_own() -> None:
    """Four threads that solve at once must all get the optimum."""
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda _: Highs().solve(knapsack()), range(16)))

    assert [outcome.objective for outcome in outcomes] == [23.0] * 16


SOLVE = """
import os, signal, sys, time
from gsopt.backends import CpSat, Highs, Scip
from gsopt.backends.process import POOL
from tests.gsopt.backends.models import knapsack, market_split, union_of_servers
"""


def test_plain_script_needs_no_main_guard(tmp_path: Path) -> None:
    """A script without a main guard must run once, leave no process behind and import no solver."""
    text = f"""{SOLVE}
print([backend.solve(knapsack()).objective for backend in (Highs(), CpSat(), Scip())])
print({{"highspy", "ortools", "pyscipopt"}} & set(sys.modules))
print(*POOL.pids)
"""
    printed = finished(script(tmp_path, text)).splitlines()

    assert printed[:2] == ["[23.0, 23.0, 23.0]", "set()"]
    assert len(printed) == 3
    assert all(gone(int(pid)) for pid in printed[2].split())


def test_modules_beside_the_script_do_not_shadow_the_worker(tmp_path: Path) -> None:
    """A file in the working directory that is named like a module must not be imported by the worker."""
    (tmp_path / "gsopt.py").write_text("raise SystemExit('the wrong gsopt')")
    text = f"""
import sys
sys.path.remove({str(tmp_path)!r})
{SOLVE}
os.chdir({str(tmp_path)!r})
print(Highs().solve(knapsack()).objective)
"""

    assert finished(script(tmp_path, text)) == "23.0\n"


@pytest.mark.parametrize("backend", ["Highs", "CpSat", "Scip"])
def test_no_orphan_survives_the_parent(tmp_path: Path, backend: str) -> None:
    """When the parent is killed in mid-solve its worker must vanish."""
    text = f"""{SOLVE}
{backend}().solve(knapsack())
print(*POOL.pids, flush=True)
{backend}().solve(market_split())
"""
    process = script(tmp_path, text)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    time.sleep(0.5)  # into the solve
    process.kill()
    process.communicate()

    assert gone(worker)


def test_no_orphan_where_a_fork_holds_the_pipes(tmp_path: Path) -> None:
    """A worker must vanish with its parent also when another process has inherited the parent's pipes."""
    text = f"""{SOLVE}
Highs().solve(knapsack())
import ctypes
if ctypes.PyDLL(None).fork() == 0:  # Python does not see this fork, so the pipes stay open
    time.sleep(60)
    os._exit(0)
print(*POOL.pids, flush=True)
Highs().solve(market_split())
"""
    process = script(tmp_path, text)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    time.sleep(0.5)
    process.kill()
    vanished = gone(worker)
    os.killpg(process.pid, signal.SIGKILL)  # the fork
    process.communicate()

    assert vanished


@pytest.mark.parametrize("backend", ["Highs", "CpSat", "Scip"])
def test_ctrl_c_leaves_the_best_incumbent(tmp_path: Path, backend: str) -> None:
    """Ctrl-C at the terminal must bring the outcome with its best incumbent at once; the next solve works."""
    text = f"""{SOLVE}
outcome = {backend}().solve(union_of_servers(120, 160, 40), on_incumbent=lambda i: print("found", flush=True))
print("ended", outcome.status, outcome.stopped_by, outcome.objective is not None, flush=True)
print({backend}().solve(knapsack()).objective)
"""
    process = script(tmp_path, text)
    assert process.stdout is not None
    assert process.stdout.readline() == "found\n"
    time.sleep(0.5)
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    while (line := process.stdout.readline()) == "found\n":
        pass
    waited = time.monotonic() - begin

    assert line == "ended feasible interrupt True\n"
    assert waited < 10  # two seconds on a machine with nothing else to do
    assert finished(process) == "23.0\n"


def test_forked_process_has_workers_of_its_own(tmp_path: Path) -> None:
    """After a fork both processes must solve, neither with the other's worker."""
    text = f"""{SOLVE}
import multiprocessing
def solve(_):
    objective = Highs().solve(knapsack()).objective
    return objective, POOL.pids
parent = solve(0)
with multiprocessing.get_context("fork").Pool(2) as processes:
    children = processes.map(solve, range(4), chunksize=1)
again = solve(0)
print({{objective for objective, _ in [parent, *children, again]}})
print(parent == again, any(set(pids) & set(parent[1]) for _, pids in children))
"""

    assert finished(script(tmp_path, text)).splitlines() == ["{23.0}", "True False"]


def test_fork_in_mid_solve_does_not_touch_the_solve(tmp_path: Path) -> None:
    """A process that is forked from a callback and exits must leave the running solve alone."""
    text = f"""{SOLVE}
def fork(incumbent):
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
outcome = Highs().solve(union_of_servers(20, 40, 8), on_incumbent=fork)
print(outcome.status, outcome.stopped_by)
"""

    assert finished(script(tmp_path, text)) == "optimal finished\n"


def test_every_backend_runs_at_once() -> None:
    """The three solvers must run side by side in one program."""
    with ThreadPoolExecutor(len(BACKENDS)) as threads:
        outcomes = list(threads.map(lambda backend: backend.solve(knapsack()), BACKENDS))

    assert [outcome.objective for outcome in outcomes] == [23.0] * 3
    assert len(POOL.pids) >= 3


def gone(pid: int, seconds: float = 30) -> bool:
    """Tell whether a process is gone, or goes within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not running(pid):
            return True
        time.sleep(0.05)
    return False


def running(pid: int) -> bool:
    """Tell whether a process runs; one that nobody waits for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
