"""The ``gsopt`` command, a file per command: calls of the library, with words, progress and exit codes."""

import sys
from pathlib import Path


def main() -> None:
    """Run the command; anything wrong becomes one line on standard error and an exit code.

    Methods and policies named ``module:function`` may lie in the working directory; what is
    installed goes first.
    """
    import typer
    from pydantic import ValidationError

    from gsopt.cli.app import app
    from gsopt.cli.exits import Exit
    from gsopt.errors import GsoptError, InvalidInput, MissingSolver, Unsupported
    from gsopt.files import first_error

    sys.path.append(str(Path.cwd()))
    try:
        app()
    except GsoptError as error:
        typer.echo(f"gsopt: {error}", err=True)
        usage = isinstance(error, InvalidInput | Unsupported | MissingSolver)
        sys.exit(Exit.BAD_INPUT if usage else Exit.FAILED)
    except ValidationError as error:  # data that a generator made of its arguments
        typer.echo(f"gsopt: {first_error('', error)}", err=True)
        sys.exit(Exit.BAD_INPUT)
    except OSError as error:  # standard output that cannot be written
        typer.echo(f"gsopt: {error.strerror or error}", err=True)
        sys.exit(Exit.FAILED)
