"""``python -m gsopt`` is the command ``gsopt``."""

from gsopt.cli import main

if __name__ == "__main__":
    main()
