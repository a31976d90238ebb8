"""Processes, as the tests look for those left behind."""

import time
from pathlib import Path


def children(pid: int) -> list[int]:
    """Give the living processes that a process has started, and those that they have started in turn."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # ended meanwhile
            continue
        if state != "Z":
            parents[int(status.parent.name)] = int(parent)
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [grandchild for child in found for grandchild in children(child)]


def gone(pids: list[int], limit: float = 20.0) -> bool:
    """Tell whether processes end within a time."""
    end = time.monotonic() + limit
    while any(_lives(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
