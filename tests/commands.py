"""The command `gsopt`, as the tests run it: in this process, in one of its own, or at a terminal."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple
from unittest.mock import patch

from gsopt.cli import main
from gsopt.cli.exits import Exit
from tests.processes import PATIENCE

#: The command line that starts the command.
COMMAND = [sys.executable, "-c", "from gsopt.cli import main; main()"]


class Run(NamedTuple):
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


def gsopt(*arguments: str | Path) -> Run:
    """Run the command in this process, where everything is imported and solvers are warm."""
    stdout, stderr = StringIO(), StringIO()
    line = ["gsopt", *map(str, arguments)]
    with redirect_stdout(stdout), redirect_stderr(stderr), patch.object(sys, "argv", line):
        try:
            main()
        except SystemExit as end:
            code = end.code
        else:
            code = 0
    assert isinstance(code, int)
    return Run(code, stdout.getvalue(), stderr.getvalue())


def refused(*arguments: str | Path) -> str:
    """Return the one printable line with which the command refuses bad input; nothing else is printed."""
    run = gsopt(*arguments)
    assert (run.returncode, run.stdout) == (Exit.BAD_INPUT, ""), run
    line, end = run.stderr[:-1], run.stderr[-1:]
    assert (line.startswith("gsopt: "), line.isprintable(), end) == (True, True, "\n"), run
    return line


def gsopt_process(*arguments: str | Path) -> Run:
    """Run the command as its users do, in a process of its own."""
    line = [*COMMAND, *map(str, arguments)]
    run = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return Run(run.returncode, run.stdout, run.stderr)


def interrupted_solve(*arguments: str | Path) -> tuple[str, str]:
    """Solve at a terminal, press Ctrl-C when value and bound are shown there; give what is printed, and shown.

    As at a terminal, every process there is interrupted.
    """
    line = [*COMMAND, "solve", *map(str, arguments)]
    wide = {**os.environ, "COLUMNS": "300", "TERM": "xterm"}
    with (
        _terminal(re.compile(rb" \d\S*  bound \S*\d")) as (terminal, shown, text),
        subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=terminal, text=True, env=wide, process_group=0
        ) as run,
    ):
        assert shown.wait(PATIENCE), "neither value nor bound is shown"
        os.killpg(run.pid, signal.SIGINT)
        output, _ = run.communicate(timeout=PATIENCE)
    return output, text.decode()


@contextmanager
def _terminal(awaited: re.Pattern[bytes]) -> Iterator[tuple[int, Event, bytearray]]:
    """Yield a terminal's descriptor, an event that comes once the awaited text is shown there, and all text."""
    ours, theirs = pty.openpty()
    shown, text = Event(), bytearray()

    def read() -> None:
        while piece := _read(ours):
            text.extend(piece)
            if awaited.search(text):
                shown.set()

    reader = Thread(target=read)
    reader.start()
    try:
        yield theirs, shown, text
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def _read(descriptor: int) -> bytes:
    """Read what a terminal shows; nothing once its last user is gone."""
    try:
        return os.read(descriptor, 2**16)
    except OSError:
        return b""
