"""Entry point of ``python -m gsopt``, which is the same as the command ``gsopt``."""

from gsopt.cli import main

if __name__ == "__main__":
    main()
