"""The ``gsopt`` command, a file per command: calls of the library, with words, progress and exit codes."""

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command; anything wrong becomes one line on standard error and an exit code.

    Methods and policies named ``module:function`` may lie in the working directory; what is installed goes
    first.
    """
    try:
        from gsopt.cli.app import run

        code = run()
        sys.stdout.flush()
    except KeyboardInterrupt:  # where no command has anything to show for it
        _end("interrupted", 130)
    except BrokenPipeError:  # nobody reads any more
        _end("", 1)
    except MemoryError:
        _end("there is not enough memory", 1)
    except Exception as error:
        from gsopt.cli.exits import describe

        described = describe(error)
        if described is None:
            raise
        _end(*described)
    _leave(code)


def _end(line: str, code: int) -> NoReturn:
    """Say why the command ends; what standard output cannot take any more is dropped."""
    if line:
        sys.stderr.write(f"gsopt: {line}\n")
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End with a code; Ctrl-C has nothing to interrupt any more, once the interpreter ends with it."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
