"""Functions that the tests run in a worker."""

import os
import time
from typing import Any

from gsopt.backends.process import Kind
from gsopt.backends.worker import Link


def process_id(task: Any, link: Link) -> int:
    """Give the worker's process id."""
    del task, link
    return os.getpid()


def size(task: Any, link: Link) -> int:
    """Give the length of the task."""
    del link
    return len(task)


def sleep(task: float, link: Link) -> None:
    """Take no notice of anything for some seconds."""
    link.log("asleep")
    link.send(Kind.BOUND, 1.0)
    time.sleep(task)


def obey(task: Any, link: Link) -> str:
    """Wait for the interrupt."""
    link.send(Kind.BOUND, task)
    while not link.stopped:
        time.sleep(0.01)
    return "stopped"


def fail(task: str, link: Link) -> None:
    """Raise."""
    del link
    raise ValueError(task)


def leave(task: int, link: Link) -> None:
    """End the process with an exit code."""
    del link
    os.write(2, b"last words\n")
    os._exit(task)


def chatter(task: str, link: Link) -> str:
    """Print to descriptor 1, where frames would be if it were left alone."""
    link.log("before ")
    os.write(1, task.encode())
    return "done"
