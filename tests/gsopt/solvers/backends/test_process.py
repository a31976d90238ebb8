"""The worker processes of solvers, and their link to the parent."""

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import IO, Any

import numpy as np
import pytest

from gsopt.core.errors import MissingSolver
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.process import LENGTH, POOL, Frame, FrameKind, Late, Pool, Reply, Worker
from gsopt.solvers.backends.worker import ParentLink
from tests.gsopt.solvers.backends import functions
from tests.gsopt.solvers.backends.models import BACKENDS, GATED, ROOT, finished, knapsack, open_gate, script
from tests.processes import PATIENCE, wait_until_gone
from tests.unwrap import unwrap

# Worker processes: warm, killed when late, gone when the parent is, never shared


MODULE = "json"  # any module stands in for a solver


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Yield a pool of its own, whose workers can import these tests."""
    monkeypatch.syspath_prepend(str(ROOT))
    own = Pool()
    yield own
    own.close()


def call(worker: Worker, function: Any, task: Any, limit: float | None = None) -> tuple[Reply, list[Frame]]:
    """Call a function and collect the frames before its answer."""
    frames: list[Frame] = []
    reply = worker.call(function, task, limit=limit, hear=frames.append)
    return reply, frames


def call_once(pool: Pool, function: Any, task: Any, limit: float | None = None) -> tuple[Reply, list[Frame]]:
    """Borrow a worker for one call."""
    with pool.borrow(MODULE, nothing) as worker:
        return call(worker, function, task, limit)


def start(pool: Pool, module: str = MODULE) -> None:
    """Borrow a worker for no call."""
    with pool.borrow(module, nothing):
        pass


def nothing() -> None:
    """Check nothing."""


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the gate at which workers wait while they start."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    monkeypatch.setenv("GATE", str(path))
    return path


class Clock:
    """A clock that runs as ever, and can be put forward."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return monotonic() + self._ahead

    def put_forward(self, seconds: float) -> None:
        """Let seconds pass at once."""
        self._ahead += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock by which workers are late."""
    clock = Clock()
    monkeypatch.setattr("gsopt.solvers.backends.process.monotonic", clock)
    return clock


def test_workers_are_used_again(pool: Pool) -> None:
    """An idle worker must serve the next call of its module only."""
    pids = [call_once(pool, functions.process_id, None)[0].answer for _ in range(2)]
    assert pids[0] == pids[1] == pool.pids[0] != os.getpid()
    start(pool)
    start(pool, "csv")
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


def test_pipes(pool: Pool) -> None:
    """Prints must come as log before the answer, large tasks whole, and limits may be of any length."""
    reply, frames = call_once(pool, functions.chatter, "printed")
    assert reply == Reply("done")
    assert {content for _, content in frames} == {"before ", "printed"}
    assert call_once(pool, functions.size, b"x" * 20_000_000)[0].answer == 20_000_000
    with pool.borrow(MODULE, nothing) as worker:
        reply, _ = call(worker, functions.process_id, None, limit=1e9)
        assert reply.answer == worker.pid


def test_late_worker_is_killed(pool: Pool, clock: Clock) -> None:
    """A function that does not answer in time must be killed, with what was heard of it."""
    frames: list[Frame] = []

    def hear(frame: Frame) -> None:
        frames.append(frame)
        if frame[0] is FrameKind.BOUND:
            clock.put_forward(3600)

    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.sleep, 1.0, limit=3600, hear=hear)

    assert (reply.answer, reply.stopped_by) == (None, StoppedBy.TIME_LIMIT)
    assert "killed" in reply.message
    assert frames == [(FrameKind.LOG, "asleep"), (FrameKind.BOUND, 1.0)]
    assert pool.pids == []


def test_interrupt_is_obeyed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hearer that returns True must stop the function, which may still answer and be used again."""
    monkeypatch.setattr("gsopt.solvers.backends.process._STOP_LIMIT", PATIENCE)
    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.obey, 1, limit=None, hear=lambda _frame: True)
    assert reply == Reply("stopped", StoppedBy.INTERRUPT)
    assert pool.pids == [worker.pid]


def test_interrupt_that_is_not_obeyed_kills(pool: Pool) -> None:
    """A function that does not obey must be killed."""
    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.sleep, 1.0, limit=None, hear=lambda _frame: True)
    assert (reply.answer, reply.stopped_by) == (None, StoppedBy.INTERRUPT)
    assert pool.pids == []


def test_keyboard_interrupt_stops(pool: Pool) -> None:
    """Ctrl-C while frames are heard must stop the function and be answered, not raised."""

    def hear(_frame: Frame) -> None:
        raise KeyboardInterrupt

    with pool.borrow(MODULE, nothing) as worker:
        reply = worker.call(functions.sleep, 1.0, limit=None, hear=hear)

    assert reply.stopped_by is StoppedBy.INTERRUPT


def test_stop_that_comes_too_late_spares_the_next_call(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that crosses with the answer must not stop the next function."""
    monkeypatch.setattr("gsopt.solvers.backends.process._STOP_LIMIT", PATIENCE)
    with pool.borrow(MODULE, nothing) as worker:
        for _ in range(20):
            worker.call(functions.chatter, "x", limit=None, hear=lambda _frame: True)
            assert call(worker, functions.process_id, None)[0] == Reply(worker.pid)


def test_failures_are_one_line(pool: Pool) -> None:
    """An exception must come back as one line, and a death with its exit code after the last words."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, frames = call(worker, functions.fail, "first line\nsecond line")
        again, _ = call(worker, functions.process_id, None)
    assert reply == Reply(None, StoppedBy.CRASH, "ValueError: first line")
    assert "Traceback" in "".join(str(content) for _, content in frames)
    assert again.answer == worker.pid
    reply, frames = call_once(pool, functions.leave, 3)
    assert reply == Reply(None, StoppedBy.CRASH, "the solver's process ended with exit code 3")
    assert frames == [(FrameKind.LOG, "last words\n")]
    assert pool.pids == []


@pytest.mark.parametrize("code", [0, 3])
def test_a_function_cannot_end_its_process(pool: Pool, code: int) -> None:
    """`sys.exit` in the worker must come back as one line, and spare the worker."""
    with pool.borrow(MODULE, nothing) as worker:
        reply, _ = call(worker, functions.leave_politely, code)
        again, _ = call(worker, functions.process_id, None)
    assert reply == Reply(None, StoppedBy.CRASH, f"SystemExit: {code}")
    assert again.answer == worker.pid


def test_a_function_may_close_what_it_finds(pool: Pool) -> None:
    """A worker without the descriptors 0 to 2 must answer, and hear the next call and what is wrong with it."""
    with pool.borrow(MODULE, nothing) as worker:
        first, _ = call(worker, functions.close, 3)
        second, frames = call(worker, functions.fail, "no")
    assert (first, second) == (Reply("done"), Reply(None, StoppedBy.CRASH, "ValueError: no"))
    assert "Traceback" in "".join(str(content) for _, content in frames)


def test_only_the_worker_answers(pool: Pool) -> None:
    """A worker without descriptors must end, and of two processes only the worker's own answer must come."""
    reply, _ = call_once(pool, functions.close, 256)
    assert (reply.answer, reply.stopped_by) == (None, StoppedBy.CRASH)
    assert pool.pids == []
    with pool.borrow(MODULE, nothing) as worker:
        first, _ = call(worker, functions.fork_and_come_back, None)
        second, _ = call(worker, functions.process_id, None)
    assert (first, second) == (Reply("parent"), Reply(worker.pid))


def test_a_worker_outlives_the_thread_that_asked_for_it(pool: Pool) -> None:
    """A worker whose first user was a thread that has ended must serve the next."""
    thread = threading.Thread(target=start, args=(pool,))
    thread.start()
    thread.join()
    (first,) = pool.pids
    assert call_once(pool, functions.process_id, None)[0].answer == first


def test_worker_that_is_frozen_does_not_hold_up_the_sender(pool: Pool) -> None:
    """A worker that reads nothing must be given up at the limit, in the middle of a large task too."""
    with pool.borrow(MODULE, nothing) as worker:
        os.kill(worker.pid, signal.SIGSTOP)
        reply, _ = call(worker, functions.size, b"x" * 20_000_000, limit=0.3)
    assert reply.stopped_by is StoppedBy.TIME_LIMIT


def test_module_that_fails_to_import_is_a_missing_solver(pool: Pool) -> None:
    """A solver that cannot be imported must be told of in one line with the reason."""
    with pytest.raises(MissingSolver, match="No module named 'no_such_solver'"):
        start(pool, "no_such_solver")
    assert pool.pids == []


def test_worker_that_starts_too_slowly_goes_on_starting(pool: Pool, gate: Path) -> None:
    """A worker that is not ready by the deadline must be given up, and serve the next who asks."""
    for _ in range(2):
        with pytest.raises(Late), pool.borrow(GATED, nothing, deadline=monotonic()):
            pass
    (starting,) = pool.pids
    open_gate(gate)
    with pool.borrow(GATED, nothing) as worker:
        reply, _ = call(worker, functions.process_id, None)
    assert reply.answer == starting


def test_worker_that_never_starts_is_a_missing_solver(pool: Pool, gate: Path, clock: Clock) -> None:
    """A worker that is not ready when any machine would have started it must be killed."""
    del gate
    with pytest.raises(Late), pool.borrow(GATED, nothing, deadline=monotonic()):
        pass
    clock.put_forward(3600)
    with pytest.raises(MissingSolver, match="does not start: late"):
        start(pool, GATED)
    assert pool.pids == []


def test_worker_is_prepared_without_waiting(pool: Pool, gate: Path) -> None:
    """Preparing must return while the worker starts, and start one worker however often it is asked for."""
    for _ in range(3):
        pool.prepare(GATED, nothing)
    (starting,) = pool.pids
    open_gate(gate)
    with pool.borrow(GATED, nothing) as worker:
        assert worker.pid == starting


def test_time_limit_covers_the_start(gate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve whose worker does not start must end at its limit with what it was given; the next one works."""
    monkeypatch.syspath_prepend(str(ROOT))
    backend = Gated()
    try:
        outcome = backend.solve(knapsack(), start=np.zeros(5), time_limit=0.1)
        open_gate(gate)
        again = backend.solve(knapsack())
    finally:
        POOL.close()
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert (outcome.objective, outcome.bound) == (0.0, None)
    assert (again.status, again.objective) == (Status.OPTIMAL, 23.0)


class Gated(Highs):
    """HiGHS, in a worker that starts when the test lets it."""

    module = GATED


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
            replies.append(worker.call(functions.sleep, 1.0, limit=None, hear=lambda _frame: heard.set()))

    thread = threading.Thread(target=work)
    thread.start()
    heard.wait(PATIENCE)
    start(pool)
    assert len(pool.pids) == 2
    pool.close()
    thread.join(PATIENCE)

    assert pool.pids == []
    assert [reply.stopped_by for reply in replies] == [StoppedBy.CRASH]


def test_threads_have_workers_of_their_own() -> None:
    """Four threads that solve at once must all get the optimum."""
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda _: Highs().solve(knapsack()), range(16)))
    assert [outcome.objective for outcome in outcomes] == [23.0] * 16


SOLVE = """
import os, signal, sys
from gsopt.solvers.backends import CpSat, Highs, Scip
from gsopt.solvers.backends.process import POOL
from tests.gsopt.solvers.backends.models import knapsack, market_split, union_of_servers
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
    wait_until_gone(*map(int, printed[2].split()))


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
{backend}().solve(market_split(), log=True)
"""
    with script(tmp_path, text) as process:
        worker = int(read_line(process.stdout))
        read_line(process.stderr)  # the solver's log: the solve is under way
        process.kill()
    wait_until_gone(worker)


@pytest.mark.parametrize("how", ["", "holding the interpreter"])
def test_no_orphan_whatever_a_function_closes(tmp_path: Path, how: str) -> None:
    """A worker whose function has closed its descriptors and hangs must vanish with the parent."""
    text = f"""{SOLVE}
from tests.gsopt.solvers.backends import functions
with POOL.borrow("json", lambda: None) as worker:
    print(worker.pid, flush=True)
    worker.call(functions.close_and_hang, {how!r}, limit=None, hear=lambda _: print("it hangs", flush=True))
"""
    with script(tmp_path, text) as process:
        worker = int(read_line(process.stdout))
        assert read_line(process.stdout) == "it hangs\n"
        process.kill()
    wait_until_gone(worker)


#: A program that is interrupted with all that it has started, and asks its worker for something then.
INTERRUPTED = f"""{SOLVE}
from pathlib import Path
from tests.gsopt.solvers.backends import functions
from tests.gsopt.solvers.backends.models import open_gate
from tests.processes import wait_until
POOL.prepare("json", lambda: None)
wait_until(Path("begun").exists)
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append("Ctrl-C"))
print("ready", flush=True)
wait_until(lambda: heard)
open_gate(Path(os.environ["GATE"]))
with POOL.borrow("json", lambda: None) as worker:
    print(*heard, worker.call(functions.process_id, None, limit=None, hear=lambda _: None).answer == worker.pid)
"""

#: What holds the worker up before it has begun to mind signals.
GATEKEEPER = """
import os, sys
if "gsopt.solvers.backends.worker" in sys.orig_argv:
    open("begun", "x").close()
    os.close(os.open(os.environ["GATE"], os.O_RDONLY))
"""


def test_workers_do_not_hear_an_interrupt_of_the_group(
    tmp_path: Path, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at a terminal, which goes to every process there, must spare workers from their first instant."""
    del gate
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(GATEKEEPER)
    process = script(tmp_path, INTERRUPTED)
    assert read_line(process.stdout) == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert finished(process) == "Ctrl-C True\n"


def test_no_orphan_where_a_fork_holds_the_pipes(tmp_path: Path) -> None:
    """A worker must vanish with its parent also when another process has inherited the parent's pipes."""
    text = f"""{SOLVE}
Highs().solve(knapsack())
import ctypes
if ctypes.PyDLL(None).fork() == 0:  # Python does not see this fork, so the pipes stay open
    signal.pause()
print(*POOL.pids, flush=True)
Highs().solve(market_split(), log=True)
"""
    with script(tmp_path, text) as process:
        worker = int(read_line(process.stdout))
        read_line(process.stderr)
        process.kill()
        try:
            wait_until_gone(worker)
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # the fork


@pytest.mark.parametrize("backend", ["Highs", "CpSat", "Scip"])
def test_ctrl_c_leaves_the_best_incumbent(tmp_path: Path, backend: str) -> None:
    """Ctrl-C must end a solve that would take hours with its best incumbent; the next solve works."""
    text = f"""{SOLVE}
outcome = {backend}().solve(union_of_servers(120, 160, 40), on_incumbent=lambda i: os.write(1, b"found\\n"))
print("ended", outcome.status, outcome.stopped_by, outcome.objective is not None, flush=True)
print({backend}().solve(knapsack()).objective)
"""
    process = script(tmp_path, text)
    assert read_line(process.stdout) == "found\n"
    os.killpg(process.pid, signal.SIGINT)
    *found, ended, objective = finished(process).splitlines()
    assert set(found) <= {"found"}
    assert ended == "ended feasible interrupt True"
    assert objective == "23.0"


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


def read_line(pipe: IO[str] | None) -> str:
    """Wait for a line from a process."""
    return unwrap(pipe).readline()


# The worker's link: frames in order, log first, bounds not too often


class Pipe:
    """A link and what came out of it."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        self.link = ParentLink(writer)
        self._writer = writer

    def frames(self) -> list[tuple[FrameKind, Any]]:
        """Return all frames written so far."""
        os.set_blocking(self.reader, False)
        try:
            data = os.read(self.reader, 2**16)
        except BlockingIOError:
            return []
        frames = []
        while data:
            end = LENGTH + int.from_bytes(data[:LENGTH], "little")
            frames.append(pickle.loads(data[LENGTH:end]))  # noqa: S301 - written a line above
            data = data[end:]
        return frames

    def close(self) -> None:
        """Close both ends."""
        os.close(self.reader)
        os.close(self._writer)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Yield a link that writes to a pipe."""
    pipe = Pipe()
    yield pipe
    pipe.close()


def test_log_goes_before_the_next_frame(pipe: Pipe) -> None:
    """Waiting log must leave in one piece before the next frame."""
    pipe.link.log("a")
    pipe.link.log("b")
    assert pipe.frames() == []
    pipe.link.send(FrameKind.ANSWER, 1)
    assert pipe.frames() == [(FrameKind.LOG, "ab"), (FrameKind.ANSWER, 1)]


def test_tick_sends_waiting_log_once(pipe: Pipe) -> None:
    """A tick must send waiting log, and nothing where none waits."""
    pipe.link.log("a")
    pipe.link.tick()
    pipe.link.tick()
    assert pipe.frames() == [(FrameKind.LOG, "a")]


def test_bounds_that_come_too_often_are_left_out(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bound, and a second one within the tick, must not be sent."""
    for time, bound in ((100.0, 1.0), (100.1, 2.0), (101.0, 1.0), (101.1, 3.0), (101.2, 4.0)):
        monkeypatch.setattr("gsopt.solvers.backends.worker.monotonic", lambda time=time: time)
        pipe.link.bound(bound)
    assert pipe.frames() == [(FrameKind.BOUND, 1.0), (FrameKind.BOUND, 3.0)]


def test_stop_reaches_the_solver_whenever_it_comes(pipe: Pipe) -> None:
    """An interrupt must be passed to the solver, also one that came before the solver was named."""
    stops: list[str] = []
    pipe.link.stop()
    pipe.link.on_stop(lambda: stops.append("late"))
    pipe.link.stop()
    assert pipe.link.stopped
    assert stops == ["late", "late"]
