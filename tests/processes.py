"""Other processes, as the tests wait for them: by looking, with a limit that nothing but a hang reaches."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from threading import Thread

#: Seconds after which what has not happened never will, on however busy a machine.
PATIENCE = 300.0

_LOOK = 0.02  # seconds between two looks


def wait_until(happened: Callable[[], object], process: Popen[str] | None = None) -> None:
    """Wait until something has happened; fail if it never does, or if the process that should do it ends."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert process is None or process.poll() is None, "the process has ended"
        assert time.monotonic() < end, "it does not happen"
        time.sleep(_LOOK)


def children(pid: int) -> list[int]:
    """Return the living processes that a process has started, and those that they have started in turn."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = _state(status)
        except OSError:  # ended meanwhile
            continue
        if state != "Z":
            parents[int(status.parent.name)] = int(parent)
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [grandchild for child in found for grandchild in children(child)]


def wait_until_gone(*pids: int) -> None:
    """Wait until none of some processes lives; one that nobody has waited for does not."""
    wait_until(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    try:
        return _state(Path(f"/proc/{pid}/stat"))[0] != "Z"
    except OSError:
        return False


def _state(status: Path) -> list[str]:
    """Return the state and the parent that a process's status names; its name may hold anything."""
    return status.read_text().rpartition(")")[2].split()[:2]


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Act in a thread, which has ended at the end."""
    thread = Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()
