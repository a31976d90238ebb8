"""The ``gsopt`` command and its subcommands.

The commands call the library. They add options, printed output, progress displays and exit codes.
"""

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command, and report each error as one line on standard error and an exit code.

    Only a bug in gsopt ends with a Python traceback.

    A method or policy named ``module:function`` may be in a module in the working directory. An installed
    module of the same name takes precedence.
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

        described = describe(error, sys.argv)
        if described is None:
            raise
        _end(*described)
    _leave(code)


def _end(line: str, code: int) -> NoReturn:
    """Print why the command ends, discard output that standard output no longer accepts, and exit."""
    if line:
        sys.stderr.write(f"gsopt: {line}\n")
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit with a code, ignoring Ctrl-C while the interpreter shuts down."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
