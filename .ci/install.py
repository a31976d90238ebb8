"""Install the project into a virtual environment; pip's own words are shown only where it fails.

Usage: python3.11 .ci/install.py FOLDER [EXTRA]
"""

import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_WIDTH = 79

#: Lines of pip's output that say why it failed.
_REASON = 15


def install(folder: Path, extra: str) -> int:
    """Make the environment where there is none, install into it with progress, and give pip's exit code."""
    if not (folder / "bin" / "pip").exists():
        say(f"Setting up {folder}")
        venv.create(folder, with_pip=True)
    what = f"{_ROOT}[{extra}]" if extra else str(_ROOT)
    line = [folder / "bin" / "python", "-m", "pip", "install", "--progress-bar", "off", "--editable", what]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=quiet) as pip:
        said = list(follow(pip.stdout or ()))
    if pip.returncode:
        say("pip could not install the project:", end="\n")
        print(*said[-_REASON:], sep="", file=sys.stderr)
    else:
        say(f"Set up {folder}", end="\n")
    return pip.returncode


def follow(lines: Iterable[str]) -> Iterable[str]:
    """Say which package pip is at, and pass its lines on."""
    found = 0
    for line in lines:
        yield line
        word, _, rest = line.strip().partition(" ")
        if word == "Collecting":
            found += 1
            say(f"Downloading package {found}: {rest.partition(' ')[0]}")
        elif line.startswith("Installing collected"):
            say(f"Installing {rest.count(',') + 1} packages; this takes a minute")


def say(text: str, end: str = "") -> None:
    """Replace the last line at a terminal; elsewhere only what is finished is worth a line."""
    if sys.stderr.isatty():
        print(f"\r{text[:_WIDTH]:<{_WIDTH}}", end=end, file=sys.stderr, flush=True)
    elif end:
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(install(Path(sys.argv[1]), "".join(sys.argv[2:])))
    except KeyboardInterrupt:
        say("interrupted; make goes on where it stopped", end="\n")
        sys.exit(130)
